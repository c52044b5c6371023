package expr

import (
	regex "regexp/syntax"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// prices charge for calls whose cost, or whose value, depends on how large their arguments
// are, before they are made.
var prices = map[string]func(*meter, []ref.Val){
	operators.Add:           priceOfAdd,
	operators.Equals:        priceOfEqual,
	operators.NotEquals:     priceOfEqual,
	operators.In:            func(m *meter, args []ref.Val) { m.elements(args[1]) },
	operators.Less:          priceOfTexts,
	operators.LessEquals:    priceOfTexts,
	operators.Greater:       priceOfTexts,
	operators.GreaterEquals: priceOfTexts,
	"startsWith":            priceOfTexts,
	"endsWith":              priceOfTexts,
	"contains":              priceOfTexts,
	"size":                  priceOfTexts,
	"string":                priceOfTexts,
	"bytes":                 priceOfTexts,
	"int":                   priceOfTexts,
	"double":                priceOfTexts,
	"timestamp":             priceOfTexts,
	"duration":              priceOfTexts,
	"trim":                  priceOfTexts,
	"lowerAscii":            priceOfTexts,
	"upperAscii":            priceOfTexts,
	"charAt":                priceOfTexts,
	"substring":             priceOfTexts,
	"strings.quote":         priceOfTexts,
	"reverse":               priceOfWhole,
	"format":                priceOfWhole,
	"flatten":               priceOfWhole,
	"slice":                 priceOfWhole,
	"split":                 func(m *meter, args []ref.Val) { m.charge(length(args[0])) },
	"indexOf":               priceOfSearch,
	"lastIndexOf":           priceOfSearch,
	"replace":               priceOfReplace,
	"join":                  priceOfJoin,
	"matches":               priceOfMatch,
	"lists.range":           priceOfRange,
	"sort":                  priceOfPairs,
	"distinct":              priceOfPairs,
	"@sortByAssociatedKeys": priceOfPairs,
}

// length is how long a text is; 0 for anything else.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	default:
		return 0
	}
}

// elements charges for going through a list.
func (m *meter) elements(v ref.Val) {
	if list, is := v.(traits.Lister); is {
		m.whole(list)
	}
}

func priceOfTexts(m *meter, args []ref.Val) {
	for _, a := range args {
		m.text(length(a))
	}
}

func priceOfWhole(m *meter, args []ref.Val) {
	for _, a := range args {
		m.whole(a)
	}
}

func priceOfEqual(m *meter, args []ref.Val) {
	priceOfTexts(m, args)
	for _, a := range args {
		switch a.(type) {
		case traits.Mapper, traits.Lister:
			m.whole(a)
		}
	}
}

// priceOfAdd is that of the sum of texts and lists. A list to which a macro adds what it
// makes grows in place.
func priceOfAdd(m *meter, args []ref.Val) {
	priceOfTexts(m, args)
	for i, a := range args {
		list, is := a.(traits.Lister)
		if _, grows := a.(traits.MutableLister); is && (i > 0 || !grows) {
			m.charge(int(list.Size().(types.Int)))
		}
	}
}

func priceOfSearch(m *meter, args []ref.Val) {
	m.charge(length(args[0]) / bytesPerCost * max(1, length(args[1])))
}

func priceOfReplace(m *meter, args []ref.Val) {
	text, _ := args[0].(types.String)
	old, _ := args[1].(types.String)
	by, _ := args[2].(types.String)
	m.text(len(text))
	m.text(len(text) + strings.Count(string(text), string(old))*len(by))
}

func priceOfJoin(m *meter, args []ref.Val) {
	m.elements(args[0])
	if list, is := args[0].(traits.Lister); is && len(args) > 1 {
		m.text(int(list.Size().(types.Int)) * length(args[1]))
	}
}

func priceOfRange(m *meter, args []ref.Val) {
	if n, is := args[0].(types.Int); is && n > 0 {
		m.charge(int(n))
	}
}

// priceOfPairs is that of comparing the elements of lists with each other.
func priceOfPairs(m *meter, args []ref.Val) {
	for _, a := range args {
		if list, is := a.(traits.Lister); is {
			m.whole(list)
			n := int(list.Size().(types.Int))
			m.charge(n * n / bytesPerCost)
		}
	}
}

// priceOfMatch is that of compiling a regular expression, and of going through a text with it.
func priceOfMatch(m *meter, args []ref.Val) {
	pattern, _ := args[1].(types.String)
	m.text(len(pattern))
	size := len(pattern)
	if strings.Contains(string(pattern), "{") {
		if parsed, err := regex.Parse(string(pattern), regex.Perl); err == nil {
			size = sizeOf(parsed)
		}
	}
	m.charge(size)
	m.charge((1 + length(args[0])) * (1 + size/bytesPerCost) / bytesPerCost * 4)
}

// sizeOf is how large a regular expression is with its repetitions written out.
func sizeOf(r *regex.Regexp) int {
	size := 1 + len(r.Rune)
	for _, sub := range r.Sub {
		size += sizeOf(sub)
	}
	if r.Op == regex.OpRepeat {
		size *= max(1, r.Min, r.Max)
	}
	return min(size, maxOnce)
}

// loop is the condition on which a macro goes on to the next item.
type loop struct {
	interpreter.InterpretableV2

	cost int
}

// Exec implements interpreter.InterpretableV2.
func (l loop) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if m := meterOf(frame); m != nil {
		m.charge(l.cost)
	}
	return l.InterpretableV2.Exec(frame)
}

// priced is a call that has a price.
type priced struct {
	interpreter.InterpretableCall

	price func(*meter, []ref.Val)
	args  []interpreter.InterpretableV2
	call  func([]ref.Val) ref.Val
}

// Exec implements interpreter.InterpretableV2.
func (p *priced) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	values := make([]ref.Val, len(p.args))
	for i, a := range p.args {
		if values[i] = a.Exec(frame); types.IsUnknownOrError(values[i]) {
			return values[i]
		}
	}
	if m := meterOf(frame); m != nil {
		p.price(m, values)
	}
	return types.LabelErrNode(p.ID(), p.call(values))
}

// calls are the implementations of functions, by the ids of their overloads and their names.
var calls = sync.OnceValues(func() (map[string]*functions.Overload, error) {
	env, err := language()
	if err != nil {
		return nil, err
	}
	all := make(map[string]*functions.Overload)
	for _, f := range env.Functions() {
		overloads, err := f.Bindings()
		if err != nil {
			return nil, err
		}
		for _, o := range overloads {
			all[o.Operator] = o
		}
	}
	return all, nil
})

// calling is the implementation of a call; nil if it is not known.
func calling(call interpreter.InterpretableCall, known map[string]*functions.Overload) func([]ref.Val) ref.Val {
	switch call.Function() {
	case operators.Equals:
		return func(args []ref.Val) ref.Val { return types.Equal(args[0], args[1]) }
	case operators.NotEquals:
		return func(args []ref.Val) ref.Val { return types.Bool(types.Equal(args[0], args[1]) != types.True) }
	}
	o := known[call.OverloadID()]
	if o == nil {
		o = known[call.Function()]
	}
	if o == nil {
		return nil
	}
	id, function := call.ID(), call.Function()
	return func(args []ref.Val) ref.Val {
		switch {
		case o.OperandTrait != 0 && !args[0].Type().HasTrait(o.OperandTrait):
		case len(args) == 1 && o.Unary != nil:
			return o.Unary(args[0])
		case len(args) == 2 && o.Binary != nil:
			return o.Binary(args[0], args[1])
		case o.Function != nil:
			return o.Function(args...)
		}
		return types.NewErrWithNodeID(id, "no such overload: %s", function)
	}
}

// metered plans a program whose evaluations are charged for.
func metered(env *cel.Env, checked *cel.Ast, options ...cel.ProgramOption) (*Program, error) {
	known, err := calls()
	if err != nil {
		return nil, err
	}
	tree := checked.NativeRep()
	costs := loopCosts(tree.Expr())
	decorate := func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		if cost := costs[i.ID()]; cost > 0 {
			return loop{i, cost}, nil
		}
		call, is := i.(interpreter.InterpretableCall)
		if !is || prices[call.Function()] == nil {
			return i, nil
		}
		if does := calling(call, known); does != nil {
			return &priced{call, prices[call.Function()], call.Args(), does}, nil
		}
		return i, nil
	}
	done, err := env.Program(checked, append([]cel.ProgramOption{cel.CustomDecoratorV2(decorate)}, options...)...)
	if err != nil {
		return nil, err
	}
	return &Program{Program: done, of: checked.OutputType(), size: 1 + nodesIn(tree.Expr())/nodesPerCost}, nil
}

// loopCosts are what one item of each loop costs, by the id of the loop's condition.
func loopCosts(e ast.Expr) map[int64]int {
	costs := make(map[int64]int)
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			body := nodesIn(e.AsComprehension().LoopStep()) + nodesIn(e.AsComprehension().LoopCondition())
			costs[e.AsComprehension().LoopCondition().ID()] = 1 + body/nodesPerCost
		}
	}))
	return costs
}

func nodesIn(e ast.Expr) (n int) {
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(ast.Expr) { n++ }))
	return n
}
