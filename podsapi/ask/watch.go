package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Watch writes events as they come: a line each, or a document each.
type Watch struct {
	w      io.Writer
	format Format
	begun  bool
}

// NewWatch returns what writes events in a format.
func NewWatch(w io.Writer, f Format) *Watch { return &Watch{w: w, format: f} }

// widths are those of the columns of events, whose later lines are not known when
// the first is written. The last column is as wide as it is.
var widths = []int{8, 12, 32, 5, 18, 8, 5, 6, 0}

// Event writes an event. The pod is nil if it came without one.
func (s *Watch) Event(kind string, pod *corev1.Pod, now time.Time) error {
	switch s.format {
	case JSON:
		text, err := json.Marshal(event(kind, pod))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.w, "%s\n", text)
		return err
	case YAML:
		if s.begun {
			fmt.Fprintln(s.w, "---")
		}
		s.begun = true
		return writeYAML(s.w, event(kind, pod))
	}
	if !s.begun {
		s.begun = true
		fmt.Fprintln(s.w, line(append([]string{"TYPE"}, header...)))
	}
	words := []string{kind}
	if pod != nil {
		words = append(words, columns(pod, now)...)
	}
	_, err := fmt.Fprintln(s.w, line(words))
	return err
}

func event(kind string, pod *corev1.Pod) map[string]any {
	e := map[string]any{"type": kind}
	if pod != nil {
		e["object"] = object(pod)
	}
	return e
}

func line(words []string) string {
	var b strings.Builder
	for i, word := range words {
		fmt.Fprintf(&b, "%-*s   ", widths[i], word)
	}
	return strings.TrimRight(b.String(), " ")
}
