package object

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/harness/apitypes"
)

// segment is a step in a path as an API server has it: spec.containers[0].resources.requests[cpu].
type segment struct {
	name  string
	index int    // in a list, or -1
	key   string // in a map
}

var step = regexp.MustCompile(`^([^\[\]]*)(?:\[([^\]]*)\])?$`)

func parsePath(path string) (segments []segment) {
	for text := range strings.SplitSeq(path, ".") {
		s := segment{index: -1}
		if found := step.FindStringSubmatch(text); found != nil {
			s.name = found[1]
			if n, err := strconv.Atoi(found[2]); err == nil {
				s.index = n
			} else {
				s.key = found[2]
			}
		}
		segments = append(segments, s)
	}
	return segments
}

// spot is a place in an object: a field of a structure, or one of the values that the field has.
type spot struct {
	in    map[string]any // the structure
	name  string         // of the field in it
	of    *apitypes.Type
	field apitypes.Field
	last  segment
	above []structure // that it is in, the outermost first
}

// structure is one of an object.
type structure struct {
	of *apitypes.Type
	in map[string]any
}

// find finds a place of an object. What it is in is made if it is not there. It is false of a path that
// the types don't have.
func (m Maker) find(kind apitypes.Kind, object map[string]any, path string) (at spot, _ bool) {
	t, in := kind.Type, object
	segments := parsePath(path)
	var above []structure
	for i, s := range segments {
		f, known := m.API.Field(t, s.name)
		if !known {
			return at, i > 0 // of what has other parts than the types say, the whole is meant
		}
		at = spot{in: in, name: s.name, of: t, field: f, last: s, above: above}
		if i == len(segments)-1 {
			return at, true
		}
		if in[s.name] == nil {
			in[s.name] = m.value(t, f)
		}
		below, is := m.structureAt(at)
		if !is {
			return at, true
		}
		above = append(slices.Clip(above), structure{t, in})
		t, in = below.of, below.in
	}
	return at, false
}

// structureAt is what is at a place, if it is a structure.
func (m Maker) structureAt(at spot) (s structure, is bool) {
	t, known := m.API.Type(m.API.Resolve(at.field.Type).Name)
	if !known || len(t.Fields) == 0 {
		return s, false
	}
	in, is := descend(at.in[at.name], at.last)
	return structure{t, in}, is
}

func descend(v any, s segment) (map[string]any, bool) {
	switch v := v.(type) {
	case []any:
		if s.index < 0 || s.index >= len(v) {
			return nil, false
		}
		below, is := v[s.index].(map[string]any)
		return below, is
	case map[string]any:
		if s.key == "" {
			return v, true
		}
		below, is := v[s.key].(map[string]any)
		return below, is
	default:
		return nil, false
	}
}
