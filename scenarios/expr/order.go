package expr

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/skewrig/skewrig/record/timeline"
)

// ordered shows a timeline to expressions as what it is in JSON, with the keys of
// every map in order. Without it, an expression that goes through a map would see
// its keys in Go's random order, and say something else about the same record each
// time.
type ordered struct{ types.Adapter }

// inKeyOrder is how expressions see everything.
var inKeyOrder = ordered{types.DefaultTypeAdapter}

// NativeToValue implements types.Adapter.
func (o ordered) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case nil:
		return types.NullValue
	case ref.Val:
		return v
	case map[string]any:
		return inOrder{types.NewStringInterfaceMap(o, v), reflect.ValueOf(v)}
	case *timeline.Raw:
		if v == nil {
			return types.NullValue
		}
		return o.NativeToValue(v.Value())
	case hasFields:
		return o.NativeToValue(v.Fields())
	}
	r := reflect.ValueOf(v)
	switch k := r.Kind(); {
	case (k == reflect.Map || k == reflect.Slice || k == reflect.Pointer) && r.IsNil():
		return types.NullValue
	case k == reflect.Pointer, k == reflect.Struct:
		return o.NativeToValue(fields(v))
	case k == reflect.Map:
		return inOrder{types.NewDynamicMap(o, v), r}
	case k == reflect.Slice:
		return types.NewDynamicList(o, v)
	default:
		return o.Adapter.NativeToValue(v)
	}
}

// inOrder is a map that is gone through by its keys in order. They are put in
// order only then: most maps are asked for one key.
type inOrder struct {
	traits.Mapper
	native reflect.Value
}

// Iterator implements traits.Iterable.
func (m inOrder) Iterator() traits.Iterator {
	keys := make([]string, 0, m.native.Len())
	for _, k := range m.native.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return types.NewStringList(types.DefaultTypeAdapter, keys).Iterator()
}

// field is a field of a struct that has a name in JSON.
type field struct {
	name      string
	index     []int
	omitEmpty bool
	of        reflect.Type
}

var known sync.Map // the fields of types, by type

// fieldsOf are the fields that a struct has in JSON.
func fieldsOf(t reflect.Type) (all []field) {
	if done, is := known.Load(t); is {
		return done.([]field)
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && !isWithin(t, f.Index) {
			all = append(all, field{name, f.Index, options == "omitempty", f.Type})
		}
	}
	known.Store(t, all)
	return all
}

// isWithin reports whether a promoted field is within an object of its own in JSON, such
// as the metadata of API objects.
func isWithin(t reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		if name, _, _ := strings.Cut(t.FieldByIndex(index[:i]).Tag.Get("json"), ","); name != "" {
			return true
		}
	}
	return false
}

// hasFields is what has the JSON that it was decoded from.
type hasFields interface{ Fields() map[string]any }

// fields are those of an object: of decoded JSON, or of a struct as it is in JSON.
func fields(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case hasFields:
		return v.Fields()
	}
	r := reflect.Indirect(reflect.ValueOf(v))
	if r.Kind() != reflect.Struct {
		return nil
	}
	values := make(map[string]any)
	for _, f := range fieldsOf(r.Type()) {
		if value := r.FieldByIndex(f.index); !f.omitEmpty || !value.IsZero() {
			values[f.name] = value.Interface()
		}
	}
	return values
}
