package expr

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/skewrig/skewrig/record/timeline"
)

// shapes tells the compiler of expressions which fields there are, so that a
// misspelt one is an error before anything runs. Without it, an expression over
// the items of a list would hold as long as the list is empty. The values
// themselves are decoded JSON, in which a field that was left out is not there.
type shapes struct {
	types.Provider
	fields map[string]map[string]*types.Type // by the name of the object's type
}

func newShapes() (*shapes, error) {
	registry, err := types.NewRegistry()
	return &shapes{Provider: registry, fields: make(map[string]map[string]*types.Type)}, err
}

// variables declares what expressions see.
func (s *shapes) variables() []cel.EnvOption {
	all := []cel.EnvOption{cel.Variable("since", cel.DoubleType)}
	for _, v := range variables {
		all = append(all, cel.Variable(v.Name, cel.MapType(cel.StringType, s.of(v.of))))
	}
	return all
}

// of returns the type of what a Go type is encoded to as JSON.
func (s *shapes) of(t reflect.Type) *types.Type {
	switch {
	case t == reflect.TypeFor[*timeline.Raw]():
		return types.DynType
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t.Implements(reflect.TypeFor[json.Marshaler]()), t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return types.StringType // times and durations, which are written as text
	}
	switch t.Kind() {
	case reflect.Bool:
		return types.BoolType
	case reflect.String:
		return types.StringType
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return types.IntType
	case reflect.Float32, reflect.Float64:
		return types.DoubleType
	case reflect.Slice:
		return types.NewListType(s.of(t.Elem()))
	case reflect.Map:
		return types.NewMapType(s.of(t.Key()), s.of(t.Elem()))
	case reflect.Struct:
		return s.object(t)
	default:
		return types.DynType
	}
}

func (s *shapes) object(t reflect.Type) *types.Type {
	name := t.String() // such as server.Connection
	if s.fields[name] == nil {
		fields := make(map[string]*types.Type)
		s.fields[name] = fields
		for _, f := range fieldsOf(t) {
			fields[f.name] = s.of(f.of)
		}
	}
	return types.NewObjectType(name)
}

// FindStructType implements types.Provider.
func (s *shapes) FindStructType(name string) (*types.Type, bool) {
	if s.fields[name] == nil {
		return s.Provider.FindStructType(name)
	}
	return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
}

// FindStructFieldType implements types.Provider.
func (s *shapes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if s.fields[name] == nil {
		return s.Provider.FindStructFieldType(name, field)
	}
	t, ok := s.fields[name][field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type: t,
		IsSet: func(target any) bool {
			_, set := fields(target)[field]
			return set
		},
		GetFrom: func(target any) (any, error) {
			value, set := fields(target)[field]
			if !set {
				return nil, fmt.Errorf("no such key: %s", field)
			}
			return value, nil
		},
	}, true
}
