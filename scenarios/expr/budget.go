package expr

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

const (
	// MaxCost bounds what all evaluations of the checks of a cell cost together, and those
	// of its waits. One item of a loop costs 1, and more if the loop does a lot with it; so
	// do 64 bytes that a function goes through. maxCost takes some ten seconds. The costs of
	// the checks of the catalog on the records in this repository are below a thousandth of it.
	MaxCost = 1 << 26
	// maxOnce bounds what one evaluation costs, and so what it takes of memory: some 100 MB.
	maxOnce = 1 << 20

	bytesPerCost, nodesPerCost = 64, 8
)

// Budget bounds what evaluations cost together. Costs are counted, and no time is measured,
// so that the same history always gives the same verdict.
type Budget struct {
	limit, used int
	most        string         // which expression cost most
	by          map[string]int // costs by what has the expression
}

// NewBudget returns a budget of so much.
func NewBudget(limit int) *Budget { return &Budget{limit: limit, by: make(map[string]int)} }

// tooCostly is the error of an evaluation that was not finished.
type tooCostly struct{ message string }

func (e tooCostly) Error() string { return e.message }

const reduce = "compare fewer items, such as those that a filter leaves, or wait for less"

// tooCostly says which limit an evaluation has reached.
func (b *Budget) tooCostly() error {
	if b.used < b.limit {
		return tooCostly{fmt.Sprintf("too costly: one evaluation would cost more than %d, where an item of a loop, and 64 bytes of a text, cost 1: %s", maxOnce, reduce)}
	}
	return tooCostly{fmt.Sprintf("too costly: the evaluations of this cell cost more than %d together, where an item of a loop, and 64 bytes of a text, cost 1; %s costs most: %s", b.limit, b.most, reduce)}
}

// Eval evaluates an expression of a check or a wait.
func (b *Budget) Eval(ctx context.Context, of string, p *Program, now map[string]any) (ref.Val, error) {
	m := &meter{ctx: ctx, limit: min(maxOnce, b.limit-b.used)}
	value, _, err := p.eval(m, now)
	b.used += m.used
	b.by[of] += m.used
	if b.by[of] > b.by[b.most] {
		b.most = of
	}
	if cancelled, is := errors.AsType[interpreter.EvalCancelledError](err); is {
		if cancelled.Cause == interpreter.ContextCancelled {
			return nil, interrupted{context.Cause(ctx)}
		}
		return nil, b.tooCostly()
	}
	return value, err
}

// interrupted is the error of an evaluation whose context ended.
type interrupted struct{ cause error }

func (e interrupted) Error() string { return "interrupted while it was judged" }

func (e interrupted) Unwrap() error { return e.cause }

// IsUnfinished reports whether an evaluation ended before its value was known.
func IsUnfinished(err error) bool {
	return errors.As(err, new(tooCostly)) || errors.As(err, new(interrupted))
}

// meter counts what one evaluation costs, and ends it.
type meter struct {
	ctx         context.Context
	limit, used int
}

// meterName is how an evaluation finds its meter. No expression can name it.
const meterName = "#meter"

func meterOf(frame *interpreter.ExecutionFrame) *meter {
	found, _ := frame.ResolveName(meterName)
	m, _ := found.(*meter)
	return m
}

// look ends the evaluation if its context has ended.
func (m *meter) look() {
	if m.ctx.Err() != nil {
		panic(interpreter.EvalCancelledError{Cause: interpreter.ContextCancelled, Message: "interrupted"}) //nolint:forbidigo // the interpreter returns it as the error of the evaluation
	}
}

// charge adds a cost, and ends the evaluation with the panic that CEL expects for it.
func (m *meter) charge(cost int) {
	const often = 10
	before := m.used >> often
	if m.used += min(cost, m.limit+1); m.used > m.limit {
		m.used = m.limit
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "too costly"}) //nolint:forbidigo // the interpreter returns it as the error of the evaluation
	}
	if m.used>>often != before {
		m.look()
	}
}

// text charges for going through so many bytes.
func (m *meter) text(bytes int) { m.charge(bytes / bytesPerCost) }

// whole charges for going through all of a value.
func (m *meter) whole(v ref.Val) {
	m.charge(1)
	switch v := v.(type) {
	case types.String:
		m.text(len(v))
	case types.Bytes:
		m.text(len(v))
	case *types.Optional:
		if v.HasValue() {
			m.whole(v.GetValue())
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			m.whole(key)
			if value, found := v.Find(key); found {
				m.whole(value)
			}
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			m.whole(it.Next())
		}
	}
}

// eval evaluates a program, and goes through its value.
func (p *Program) eval(m *meter, now map[string]any) (value ref.Val, details *cel.EvalDetails, err error) {
	defer func() {
		if r := recover(); r != nil { // as in Eval of CEL
			cancelled, is := r.(interpreter.EvalCancelledError)
			if !is {
				panic(r) //nolint:forbidigo // it is not ours to hide
			}
			value, err = nil, cancelled
		}
	}()
	if now == nil {
		now = make(map[string]any)
	}
	now[meterName] = m
	defer delete(now, meterName)
	m.look()
	m.charge(p.size)
	if value, details, err = p.Eval(now); err == nil {
		m.whole(value)
	}
	return value, details, err
}

// IsTooCostly reports whether an expression can't be evaluated because of a limit.
func IsTooCostly(err error) bool { return errors.As(err, new(tooCostly)) }
