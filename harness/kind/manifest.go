package kind

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
)

// Component describes a component of the control plane that is to be started.
type Component struct {
	// Release is its release, and Image a node image that has it.
	Release release.Version
	Image   string
	// Gates are all gates on its command line. If unset, it has none.
	Gates release.Gates
	// Flags are those of its command line beside those that kubeadm gives it, or instead of them, by
	// their names without hyphens.
	Flags map[string]string
}

// startAnnotation tells the manifests of a component's starts apart, so that a kubelet starts another
// pod also for one that is as it was before.
const startAnnotation = "skewrig.dev/start"

// manifest is the manifest of a component's static pod for its nth start, which is made of kubeadm's.
func (c Component) manifest(kubeadms []byte, start int) ([]byte, error) {
	pod, container, err := readManifest(kubeadms)
	if err != nil {
		return nil, err
	}
	command, _, err := unstructured.NestedStringSlice(container, "command")
	if err != nil {
		return nil, fmt.Errorf("reading kubeadm's manifest: %w", err)
	}
	image, err := imageIn(kubeadms)
	if err != nil {
		return nil, err
	}
	container["image"] = imageOf(image, c.Release)
	if err := unstructured.SetNestedStringSlice(container, c.command(command), "command"); err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedSlice(pod.Object, []any{container}, "spec", "containers"); err != nil {
		return nil, err
	}
	annotations := pod.GetAnnotations()
	if annotations == nil {
		annotations = make(map[string]string)
	}
	annotations[startAnnotation] = fmt.Sprint(start)
	pod.SetAnnotations(annotations)
	return yaml.Marshal(pod.Object)
}

// readManifest reads a manifest of kubeadm's, and its container.
func readManifest(kubeadms []byte) (pod *unstructured.Unstructured, container map[string]any, err error) {
	pod = new(unstructured.Unstructured)
	if err := yaml.Unmarshal(kubeadms, &pod.Object); err != nil {
		return nil, nil, fmt.Errorf("reading kubeadm's manifest: %w", err)
	}
	containers, _, err := unstructured.NestedSlice(pod.Object, "spec", "containers")
	if err != nil || len(containers) != 1 {
		return nil, nil, errors.Join(fmt.Errorf("kubeadm's manifest has %d containers, and is to have one", len(containers)), err)
	}
	container, is := containers[0].(map[string]any)
	if !is {
		return nil, nil, errors.New("the container of kubeadm's manifest is no object")
	}
	return pod, container, nil
}

// imageIn is the image of a manifest of kubeadm's.
func imageIn(kubeadms []byte) (string, error) {
	_, container, err := readManifest(kubeadms)
	if err != nil {
		return "", err
	}
	image, _, err := unstructured.NestedString(container, "image")
	return image, err
}

// imageOf is the name of an image of kubeadm's, of a release.
func imageOf(name string, v release.Version) string {
	if at := strings.LastIndex(name, ":"); at > strings.LastIndex(name, "/") {
		name = name[:at]
	}
	return name + ":" + string(v)
}

// command returns a command line with the component's gates and flags.
func (c Component) command(kubeadms []string) []string {
	flags := maps.Clone(c.Flags)
	if flags == nil {
		flags = make(map[string]string)
	}
	delete(flags, gatesFlag)
	if len(c.Gates) > 0 {
		flags[gatesFlag] = c.Gates.Flag()
	}
	command := slices.DeleteFunc(slices.Clone(kubeadms), func(word string) bool {
		flag, is := strings.CutPrefix(word, "--")
		name, _, _ := strings.Cut(flag, "=")
		_, own := flags[name]
		return is && (own || name == gatesFlag)
	})
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		command = append(command, "--"+name+"="+flags[name])
	}
	return command
}

// gatesFlag is the flag of a component's gates.
const gatesFlag = "feature-gates"
