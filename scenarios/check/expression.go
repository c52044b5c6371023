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

// program is an expression that was compiled, or why it could not be.
type program struct {
	cel.Program

	of  *cel.Type // its value
	err error
}

// programs are those of all expressions, by their text and what they see as it: cells of
// one scenario share them.
var programs sync.Map

// compile turns the text of an expression into a program. The type is that of
// its value. If an expression sees what was observed, it is of that type.
func compile(text string, it ...*cel.Type) (cel.Program, *cel.Type, error) {
	key := fmt.Sprint(text, it)
	found, is := programs.Load(key)
	if !is {
		found, _ = programs.LoadOrStore(key, compiledAnew(text, it))
	}
	p := found.(program)
	return p.Program, p.of, p.err
}

func compiledAnew(text string, it []*cel.Type) program {
	env, err := language()
	if err == nil && len(it) > 0 {
		env, err = env.Extend(cel.Variable("it", it[0]))
	}
	if err != nil {
		return program{err: err}
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return program{err: issues.Err()}
	}
	done, err := env.Program(ast)
	return program{done, ast.OutputType(), err}
}

// compileCondition compiles an expression that is true or false.
func compileCondition(text string, it ...*cel.Type) (cel.Program, error) {
	program, t, err := compile(text, it...)
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
