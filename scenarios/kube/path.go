package kube

import (
	"maps"
	"slices"
	"strings"
)

// A path leads to a field of an object, by names with dots between them. Behind a name, [] stands for an item of a list,
// and {} for a value of a map: spec.template.spec.containers[].livenessProbe.grpc.mode.

// Has reports whether an object has a field at a path.
func Has(object map[string]any, where string) bool {
	v, is := Value(object, where)
	return is && v != nil
}

// Value is what an object has at a path, in lists and maps the first that has it.
func Value(object map[string]any, where string) (any, bool) {
	return value(object, strings.Split(where, "."))
}

func value(in any, where []string) (any, bool) {
	fields, is := in.(map[string]any)
	if !is {
		return nil, false
	}
	below, is := fields[strings.TrimRight(where[0], "[]{}")]
	if !is || len(where) == 1 {
		return below, is
	}
	switch many := below.(type) {
	case []any:
		for _, item := range many {
			if v, is := value(item, where[1:]); is {
				return v, true
			}
		}
		return nil, false
	case map[string]any:
		if strings.HasSuffix(where[0], "{}") {
			for _, key := range slices.Sorted(maps.Keys(many)) {
				if v, is := value(many[key], where[1:]); is {
					return v, true
				}
			}
			return nil, false
		}
	}
	return value(below, where[1:])
}

// Remove takes the field at a path from an object, in all lists and maps.
func Remove(object map[string]any, where string) { remove(object, strings.Split(where, ".")) }

func remove(in any, where []string) {
	fields, is := in.(map[string]any)
	if !is {
		return
	}
	name := strings.TrimRight(where[0], "[]{}")
	if len(where) == 1 {
		delete(fields, name)
		return
	}
	switch many := fields[name].(type) {
	case []any:
		for _, item := range many {
			remove(item, where[1:])
		}
	case map[string]any:
		if !strings.HasSuffix(where[0], "{}") {
			remove(many, where[1:])
			return
		}
		for _, item := range many {
			remove(item, where[1:])
		}
	}
}

// IsOfStatus reports whether a patch is of the status of an object, and of nothing else.
func IsOfStatus(patch map[string]any) bool {
	_, is := patch["status"]
	return is && len(patch) == 1
}
