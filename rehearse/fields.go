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
// object, and what it is called, is left out. Without an object, they are nil.
func leaves(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
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

// values are those of an object by their paths: of its manifest, as they were stored at From, before a stage, and after it, on
// both sides. Where there was no object, they are nil.
type values struct {
	manifest                          map[string]any
	stored, before, after             map[string]any
	twinStored, twinBefore, twinAfter map[string]any
}

// next is a stage, after which the sides have an object as it was read.
func (v *values) next(subject, twin map[string]any) {
	v.before, v.after = v.after, leaves(subject)
	v.twinBefore, v.twinAfter = v.twinAfter, leaves(twin)
}

// lost are the paths of the manifest that were there before the stage, and only the twin still has.
func (v *values) lost() (paths []string) {
	for path := range v.before {
		_, wanted := v.manifest[path]
		inTwin := has(v.twinBefore, path) && !has(v.twinAfter, path)
		if wanted && !has(v.after, path) && !inTwin {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// rewritten are the paths whose values change in the stage, or go, and do neither on the twin. What differed between both
// sides when it was stored is chance.
func (v *values) rewritten() (paths []string) {
	for path, before := range v.before {
		twinBefore, inTwin := v.twinBefore[path]
		if !inTwin || !reflect.DeepEqual(v.stored[path], v.twinStored[path]) || !reflect.DeepEqual(twinBefore, v.twinAfter[path]) {
			continue
		}
		after, is := v.after[path]
		_, wanted := v.manifest[path]
		if is && !reflect.DeepEqual(before, after) && !reflect.DeepEqual(after, twinBefore) || !is && !wanted {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// filled are the paths that the stage adds, and that the twin does not have.
func (v *values) filled() (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(v.after)) {
		if !has(v.before, path) && !has(v.twinAfter, path) && !has(v.manifest, path) && !has(v.twinStored, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// dropped are the paths of a manifest that From does not store. Zeros are left out: many fields are not stored then.
func (v *values) dropped() (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(v.manifest)) {
		if !has(v.stored, path) && !reflect.ValueOf(v.manifest[path]).IsZero() {
			paths = append(paths, path)
		}
	}
	return paths
}

func has(values map[string]any, path string) bool {
	_, is := values[path]
	return is
}
