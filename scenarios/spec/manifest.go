package spec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/strict"
)

// manifests loads the manifest files that the steps of scenarios name.
type manifests struct {
	fsys     fs.FS // nil if there is nothing to load from
	dir      string
	problems *strict.Problems
	loaded   map[string]Objects
}

var (
	errNoFiles   = errors.New("the scenario was read on its own, without the files beside it")
	errElsewhere = errors.New("this is not a path below the scenario's own directory")
)

// load returns the objects in a file beside the scenario. The error is about
// the file as a whole; problems in its text are reported where they are. An
// ordinary manifest is nobody's template: ${ has no meaning in it.
func (m *manifests) load(name string) (Objects, error) {
	file := path.Join(m.dir, name)
	if objects, done := m.loaded[file]; done {
		return objects, nil
	}
	if m.fsys == nil {
		return nil, errNoFiles
	}
	if !fs.ValidPath(name) || name == "." {
		return nil, errElsewhere
	}
	text, err := readFile(m.fsys, file)
	if err != nil {
		return nil, err
	}
	d := strict.Decoder{Source: strict.NewSource(file, m.problems)}
	objects := Objects{}
	for _, document := range d.Parse(text) {
		if strict.IsNull(document) {
			continue // nothing between two separators
		}
		object := reflect.New(reflect.TypeFor[map[string]any]()).Elem()
		if d.Decode(document, object) {
			objects = append(objects, object.Interface().(map[string]any))
			checkObject(d.Source, document)
		}
	}
	if len(d.Bad) > 0 {
		objects = nil // what is in the file isn't known
	}
	m.loaded[file] = objects
	return objects, nil
}

func readFile(fsys fs.FS, name string) (text []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// One byte more than is allowed is enough to tell that it is too long.
	return io.ReadAll(io.LimitReader(f, strict.MaxText+1))
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

// probePeriods returns the shortest probe period, in seconds, of each container
// in the manifests, by namespace/pod/container. It is zero for a container
// without probes.
func probePeriods(objects []map[string]any) map[string]int64 {
	periods := make(map[string]int64)
	for _, object := range objects {
		metadata := dig(object, "metadata")
		name, _ := metadata["name"].(string)
		namespace, _ := metadata["namespace"].(string)
		if namespace == "" {
			namespace = "default"
		}
		for _, container := range containersOf(podSpec(object)) {
			key := fmt.Sprintf("%s/%s/%s", namespace, name, container["name"])
			periods[key] = shorter(periods[key], periodOf(container))
		}
	}
	return periods
}

// podSpec returns the pod spec in an object: that of a pod, or of the pods that
// a controller makes.
func podSpec(object map[string]any) map[string]any {
	switch object["kind"] {
	case "Pod":
		return dig(object, "spec")
	case "CronJob":
		return dig(object, "spec", "jobTemplate", "spec", "template", "spec")
	default:
		return dig(object, "spec", "template", "spec")
	}
}

func dig(object map[string]any, names ...string) map[string]any {
	for _, name := range names {
		object, _ = object[name].(map[string]any)
	}
	return object
}

func containersOf(podSpec map[string]any) []map[string]any {
	var containers []map[string]any
	for _, kind := range []string{"initContainers", "containers"} {
		list, _ := podSpec[kind].([]any)
		for _, item := range list {
			if container, ok := item.(map[string]any); ok {
				containers = append(containers, container)
			}
		}
	}
	return containers
}

// periodOf returns the shortest period of a container's probes. A period that
// the API server would refuse doesn't count.
func periodOf(container map[string]any) int64 {
	var shortest int64
	for _, kind := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		probe, ok := container[kind].(map[string]any)
		if !ok {
			continue
		}
		period, set := probe["periodSeconds"]
		if !set || period == int64(0) {
			period = int64(defaultPeriodSeconds)
		}
		seconds, _ := period.(int64)
		shortest = shorter(shortest, seconds)
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
