package rehearse

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// leaves are the values of an object by their paths: spec.template.spec.containers[name=web].image. What a server says of an
// object, and what it is called, is left out.
func leaves(object map[string]any) map[string]any {
	all := make(map[string]any)
	for name, value := range object {
		switch name {
		case "apiVersion", "kind", "status":
		case "metadata":
			metadata, _ := value.(map[string]any)
			for _, part := range []string{"labels", "annotations", "finalizers"} {
				addLeaves(all, "metadata."+part, metadata[part])
			}
		default:
			addLeaves(all, name, value)
		}
	}
	return all
}

func addLeaves(all map[string]any, path string, value any) {
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for name, below := range v {
			if strings.ContainsAny(name, ".[]") {
				name = "[" + name + "]"
			}
			addLeaves(all, path+"."+name, below)
		}
	case []any:
		for i, below := range v {
			addLeaves(all, fmt.Sprintf("%s[%s]", path, elementName(i, below)), below)
		}
	default:
		all[path] = value
	}
}

// elementName identifies an element of a list: by its name or key, if it has one, or by its place.
func elementName(at int, element any) string {
	m, _ := element.(map[string]any)
	for _, by := range []string{"name", "key", "mountPath", "containerPort", "port", "type"} {
		if v, has := m[by]; has {
			return fmt.Sprintf("%s=%v", by, v)
		}
	}
	return fmt.Sprint(at)
}

var elements = regexp.MustCompile(`\[[a-zA-Z]+=[^\]]*\]|\[[0-9]+\]`)

// field is a path without the names of elements: spec.template.spec.containers[].image.
func field(path string) string { return elements.ReplaceAllString(path, "[]") }

// course is one object in a stage and the one before, on both sides, by the paths of its values.
type course struct {
	manifest, stored               map[string]any // stored is how the subject had it at From
	before, after                  map[string]any
	twinStored, twinBefore, twinAt map[string]any
}

// lost are the paths of the manifest that were there before the stage, and only the twin still has.
func (c course) lost() (paths []string) {
	for path := range c.before {
		_, wanted := c.manifest[path]
		inTwin := has(c.twinBefore, path) && !has(c.twinAt, path)
		if wanted && !has(c.after, path) && !inTwin {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// rewritten are the paths whose values change in the stage, or go, and do neither on the twin. What differed between both
// sides when it was stored is chance.
func (c course) rewritten() (paths []string) {
	for path, before := range c.before {
		twinBefore, inTwin := c.twinBefore[path]
		if !inTwin || !reflect.DeepEqual(c.stored[path], c.twinStored[path]) || !reflect.DeepEqual(twinBefore, c.twinAt[path]) {
			continue
		}
		after, is := c.after[path]
		_, wanted := c.manifest[path]
		if is && !reflect.DeepEqual(before, after) && !reflect.DeepEqual(after, twinBefore) || !is && !wanted {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// filled are the paths that the stage adds, and that the twin does not have.
func (c course) filled() (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(c.after)) {
		if !has(c.before, path) && !has(c.twinAt, path) && !has(c.manifest, path) && !has(c.twinStored, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// dropped are the paths of a manifest that From does not store. Zeros are left out: many fields are not stored then.
func (c course) dropped() (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(c.manifest)) {
		if !has(c.stored, path) && !reflect.ValueOf(c.manifest[path]).IsZero() {
			paths = append(paths, path)
		}
	}
	return paths
}

func has(values map[string]any, path string) bool {
	_, is := values[path]
	return is
}
