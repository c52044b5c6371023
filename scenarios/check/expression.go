package check

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"google.golang.org/protobuf/types/known/structpb"
)

// language is the CEL environment of expressions.
var language = sync.OnceValues(func() (*cel.Env, error) {
	shapes, err := newShapes()
	if err != nil {
		return nil, err
	}
	return cel.NewEnv(append(shapes.variables(), cel.CustomTypeProvider(shapes),
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

// vars are the variables of a state. Connections and events of a pod or
// container that has none are empty lists: that nothing was seen is an
// observation too. For a name that was never seen, there is nothing.
func (s *state) vars() map[string]any {
	return map[string]any{
		"containers":  s.containers,
		"connections": s.lists(s.connections),
		"pods":        s.pods,
		"objects":     s.objects,
		"events":      s.lists(s.events),
		"requests":    s.requests,
		"history":     s.history,
		"metrics":     s.metrics,
		"logs":        s.logs,
		"nodes":       s.landscape.shownNodes,
		"dependents":  s.landscape.shownDependents,
		"leases":      s.landscape.leases,
		"since":       s.landscape.since,
		"calls":       s.landscape.calls,
		"podsAPI":     s.agents.answers,
		"watches":     s.agents.watches,
		"polls":       s.agents.polls,
		"components":  s.components,
	}
}

// lists is a map in which every known name has a list, which is empty if there
// is none.
type lists struct {
	traits.Mapper
	known map[string]bool
}

func (s *state) lists(m map[string][]any) lists {
	return lists{Mapper: inKeyOrder.NativeToValue(m).(traits.Mapper), known: s.known}
}

// Find implements traits.Mapper.
func (l lists) Find(key ref.Val) (ref.Val, bool) {
	if v, found := l.Mapper.Find(key); found {
		return v, true
	}
	name, _ := key.Value().(string)
	if !l.known[name] {
		return nil, false
	}
	return types.DefaultTypeAdapter.NativeToValue([]any{}), true
}

// Get implements traits.Indexer.
func (l lists) Get(key ref.Val) ref.Val {
	if v, found := l.Find(key); found {
		return v
	}
	return types.NewErr("no such key: %v", key.Value())
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
