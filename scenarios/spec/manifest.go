package spec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// manifests loads the manifest files that the steps of scenarios name.
type manifests struct {
	fsys     fs.FS
	dir      string
	problems *strict.Problems
	loaded   map[string]Objects
	uses     map[string]finder // by file
	sizes    map[string]int    // by file, in bytes
}

func newManifests(fsys fs.FS, dir string, problems *strict.Problems) *manifests {
	return &manifests{fsys: fsys, dir: dir, problems: problems, loaded: make(map[string]Objects), uses: make(map[string]finder), sizes: make(map[string]int)}
}

var errElsewhere = errors.New("this is not a path below the scenario's own directory")

// load returns the objects in a file beside the scenario. The error is about
// the file as a whole; problems in its text are reported where they are. An
// ordinary manifest is no template: ${ has no meaning in it.
func (m *manifests) load(name string) (Objects, error) {
	file := path.Join(m.dir, name)
	if objects, done := m.loaded[file]; done {
		return objects, nil
	}
	if !fs.ValidPath(name) || name == "." {
		return nil, errElsewhere
	}
	text, err := fs.ReadFile(m.fsys, file)
	if err != nil {
		return nil, err
	}
	m.sizes[file] = len(text)
	d := strict.Decoder{Source: strict.NewSource(file, m.problems)}
	objects := Objects{}
	uses := finder{file: file, resolve: func(text string) string { return text }}
	for _, document := range d.Parse(text) {
		if strict.IsNull(document) {
			continue // nothing between two separators
		}
		object := reflect.New(reflect.TypeFor[map[string]any]()).Elem()
		if d.Decode(document, object) {
			objects = append(objects, object.Interface().(map[string]any))
			uses.object(document)
			checkObject(d.Source, document)
		}
	}
	if len(d.Bad) > 0 {
		objects = nil // what is in the file isn't known
	}
	m.loaded[file], m.uses[file] = objects, uses
	return objects, nil
}

// checkObject reports an API object that no API server could be asked to
// create. Everything else about it is for the API server to judge.
func checkObject(s *strict.Source, n *yaml.Node) {
	for _, field := range []string{"apiVersion", "kind"} {
		value, found := strict.Find(n, field)
		switch {
		case !found:
			s.Note(n, "the object has no %s", field)
		case value.Kind == yaml.ScalarNode && value.Value == "":
			s.Note(value, "%s is empty", field)
		case value.Kind != yaml.ScalarNode || value.Tag != "!!str":
			s.Note(value, "%s must be text, not %s", field, strict.KindOf(value))
		}
	}
	name, named := strict.Find(n, "metadata.name")
	_, generated := strict.Find(n, "metadata.generateName")
	if !named && !generated {
		s.Note(name, "the object has no metadata.name")
	}
}

// defaultPeriodSeconds is the period of a probe that sets none (the API's
// default for core/v1 Probe).
const defaultPeriodSeconds = 10

// Container is a container of a manifest, as much as is needed of it.
type Container struct {
	Name                                        string
	StartupProbe, LivenessProbe, ReadinessProbe *struct{ PeriodSeconds int64 }
}

// Containers are those of the pod that an object is, or makes others of. It may be a part
// of an object, such as a patch.
func Containers(object map[string]any) []Container {
	text, err := json.Marshal(kube.PodSpec(object))
	var pod struct{ InitContainers, Containers []Container }
	if err == nil {
		_ = json.Unmarshal(text, &pod) // what is of another form, the API server refuses
	}
	return slices.Concat(pod.InitContainers, pod.Containers)
}

// probePeriods returns the shortest probe period, in seconds, of each container
// in the manifests, by namespace/pod/container. It is zero for a container
// without probes.
func probePeriods(objects []map[string]any) map[string]int64 {
	periods := make(map[string]int64)
	for _, object := range objects {
		o := unstructured.Unstructured{Object: object}
		for _, c := range Containers(object) {
			key := fmt.Sprintf("%s/%s/%s", cmp.Or(o.GetNamespace(), "default"), o.GetName(), c.Name)
			periods[key] = shorter(periods[key], c.period())
		}
	}
	return periods
}

// period returns the shortest period of a container's probes. A period that
// the API server would refuse doesn't count.
func (c Container) period() (shortest int64) {
	for _, probe := range []*struct{ PeriodSeconds int64 }{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe != nil {
			shortest = shorter(shortest, cmp.Or(probe.PeriodSeconds, defaultPeriodSeconds))
		}
	}
	return shortest
}

// shorter returns the shorter of two periods, of which those that aren't
// positive don't count.
func shorter(a, b int64) int64 {
	switch {
	case a <= 0:
		return max(b, 0)
	case b <= 0:
		return a
	default:
		return min(a, b)
	}
}
