package check

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// ordered shows decoded JSON to expressions with the keys of every map in
// order. Without it, an expression that goes through a map would see its keys in
// Go's random order, and say something else about the same record each time.
type ordered struct{ types.Adapter }

// inKeyOrder is how expressions see everything.
var inKeyOrder = ordered{types.DefaultTypeAdapter}

// NativeToValue implements types.Adapter.
func (o ordered) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case map[string]any:
		return inOrder[any]{types.NewStringInterfaceMap(o, v), v}
	case map[string][]any:
		return inOrder[[]any]{types.NewDynamicMap(o, v), v}
	case []any:
		return types.NewDynamicList(o, v)
	default:
		return o.Adapter.NativeToValue(v)
	}
}

// inOrder is a map that is gone through by its keys in order. They are put in
// order only then: most maps are asked for one key.
type inOrder[V any] struct {
	traits.Mapper
	native map[string]V
}

// Iterator implements traits.Iterable.
func (m inOrder[V]) Iterator() traits.Iterator {
	return types.NewStringList(types.DefaultTypeAdapter, slices.Sorted(maps.Keys(m.native))).Iterator()
}
