package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Format is how things are written.
type Format string

// The formats.
const (
	Table Format = "table"
	YAML  Format = "yaml"
	JSON  Format = "json"
)

// Write writes pods in a format: JSON as one object of the kind List, YAML as one
// document for each pod. Ages are those at the time now.
func Write(w io.Writer, f Format, pods []*corev1.Pod, now time.Time) error {
	switch f {
	case JSON:
		items := make([]any, len(pods))
		for i, p := range pods {
			items[i] = object(p)
		}
		return writeJSON(w, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	case YAML:
		return documents(w, pods)
	}
	if len(pods) == 0 {
		_, err := fmt.Fprintln(w, "There are no pods on this node.")
		return err
	}
	return table(w, pods, now)
}

// WriteOne writes one pod in a format.
func WriteOne(w io.Writer, f Format, pod *corev1.Pod, now time.Time) error {
	if f == JSON {
		return writeJSON(w, object(pod))
	}
	return Write(w, f, []*corev1.Pod{pod}, now)
}

func table(w io.Writer, pods []*corev1.Pod, now time.Time) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, strings.Join(header, "\t"))
	for _, p := range pods {
		fmt.Fprintln(tw, strings.Join(columns(p, now), "\t"))
	}
	return tw.Flush()
}

func documents(w io.Writer, pods []*corev1.Pod) error {
	for i, p := range pods {
		if i > 0 {
			fmt.Fprintln(w, "---")
		}
		if err := writeYAML(w, object(p)); err != nil {
			return err
		}
	}
	return nil
}

func writeYAML(w io.Writer, v any) error {
	text, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
