package object

import (
	_ "embed"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/apitypes"
)

// Hints are what the types don't say: values by the field (core/v1.Container.image) or the
// type (k8s.io/apimachinery/pkg/api/resource.Quantity).
type Hints struct {
	// Fields are values of fields where they are needed.
	Fields map[string]any `json:"fields"`
	// Always are values of fields wherever their structure is.
	Always map[string]any `json:"always"`
	// Types are values of types.
	Types map[string]any `json:"types"`
	// Beside is what the value of a field names, by the field.
	Beside map[string]Beside `json:"beside"`
	// Stored are fields of objects whose status is written, by kind (v1 Pod).
	Stored map[string]map[string]any `json:"stored"`
}

// Beside is what a structure around a field must have.
type Beside struct {
	// In is the structure: core/v1.PodSpec.
	In string `json:"in"`
	// Add are fields of it. A list is added to the one that is there.
	Add map[string]any `json:"add"`
}

// add adds it around a place.
func (b Beside) add(at spot) {
	for _, s := range at.above {
		if s.of.String() != b.In {
			continue
		}
		for name, v := range b.Add {
			if list, is := v.([]any); is {
				there, _ := s.in[name].([]any)
				v = append(there, list...)
			}
			s.in[name] = runtime.DeepCopyJSONValue(v)
		}
	}
}

//go:embed hints.yaml
var hints []byte

// DefaultHints are those that this package has.
func DefaultHints() (h Hints, _ error) { return h, yaml.UnmarshalStrict(hints, &h) }

// Count is how many there are.
func (h Hints) Count() int {
	return len(h.Fields) + len(h.Always) + len(h.Types) + len(h.Beside) + len(h.Stored)
}

// hint looks a field up. A hint is about all versions of a group that has * in place of the version.
func hint[T any](in map[string]T, t *apitypes.Type, f apitypes.Field) (v T, is bool) {
	if v, is = in[t.String()+"."+f.Name]; !is {
		group, _, _ := strings.Cut(t.String(), "/")
		v, is = in[group+"/*."+t.Name+"."+f.Name]
	}
	return v, is
}

func (h Hints) beside(t *apitypes.Type, f apitypes.Field) (Beside, bool) { return hint(h.Beside, t, f) }

func (h Hints) of(t *apitypes.Type, f apitypes.Field) (any, bool) {
	if v, is := hint(h.Always, t, f); is {
		return runtime.DeepCopyJSONValue(v), true
	}
	v, is := hint(h.Fields, t, f)
	return runtime.DeepCopyJSONValue(v), is
}

func (h Hints) always(t *apitypes.Type, f apitypes.Field) bool {
	_, is := hint(h.Always, t, f)
	return is
}

func (h Hints) ofType(name string) (any, bool) {
	v, is := h.Types[apitypes.Ref{Name: name}.String()]
	return runtime.DeepCopyJSONValue(v), is
}
