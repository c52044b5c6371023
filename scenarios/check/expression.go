package check

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"google.golang.org/protobuf/types/known/structpb"
)

// language is the CEL environment of expressions.
var language = sync.OnceValues(func() (*cel.Env, error) {
	shapes, err := newShapes()
	if err != nil {
		return nil, err
	}
	return cel.NewEnv(append(shapes.variables(), cel.OptionalTypes(), cel.CustomTypeProvider(shapes),
		cel.CustomTypeAdapter(inKeyOrder), ext.Strings(), ext.Lists())...)
})

// compile turns the text of an expression into a program. The type is that of
// its value.
func compile(text string, more ...cel.EnvOption) (cel.Program, *cel.Type, error) {
	env, err := language()
	if err == nil {
		env, err = env.Extend(more...)
	}
	if err != nil {
		return nil, nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, nil, issues.Err()
	}
	program, err := env.Program(ast)
	return program, ast.OutputType(), err
}

// compileCondition compiles an expression that is true or false.
func compileCondition(text string, more ...cel.EnvOption) (cel.Program, error) {
	program, t, err := compile(text, more...)
	if err == nil && !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		err = fmt.Errorf("it is neither true nor false, it is a %s", t)
	}
	return program, err
}

// asJSON renders a value for people and for comparing: compact JSON with keys
// in order.
func asJSON(v ref.Val) string {
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return fmt.Sprint(v.Value())
	}
	text, err := json.Marshal(native.(*structpb.Value).AsInterface())
	if err != nil {
		return fmt.Sprint(v.Value())
	}
	return string(text)
}

func asBool(v ref.Val) (bool, error) {
	b, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression is neither true nor false, it is %s", asJSON(v))
	}
	return bool(b), nil
}
