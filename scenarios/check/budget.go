package check

import (
	"context"
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

const (
	// maxItems is how many items the loops of a check may go through, in all of its
	// evaluations. It takes a minute or two.
	maxItems = 1 << 27
	// fewItems is how many an evaluation may go through that has not shown that it needs
	// more.
	fewItems = 64
)

// budget bounds what the evaluations of a check cost, all together. They are counted, and
// not timed, so that the same history always gives the same verdict.
type budget struct {
	left  int  // items
	each  int  // items that one evaluation may go through
	spent bool // an evaluation needed more than was left
}

// tooMuch is why a check is unknown that has spent its budget.
const tooMuch = "it takes too long to judge: its loops go through too many items again after each event; " +
	"compare fewer, such as those that a filter leaves"

// cancelled ends an evaluation when it first looks whether to go on.
var cancelled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// eval evaluates a program. One that goes through more items than it may begins anew with
// twice as many: no evaluation counts for more than twice what it needs.
func (b *budget) eval(p cel.Program, now map[string]any) (ref.Val, error) {
	for {
		if b.spent = b.spent || b.each > b.left; b.spent {
			return nil, errors.New(tooMuch)
		}
		b.left -= b.each
		value, err := evalWithin(b.each, p, now)
		if !errors.Is(err, interpreter.InterruptError{}) {
			return value, err
		}
		b.each *= 2
	}
}

// evalWithin evaluates a program that looks whether to go on after a number of items.
func evalWithin(items int, p cel.Program, now map[string]any) (ref.Val, error) {
	frame, err := interpreter.NewExecutionFrame(now)
	if err != nil {
		return nil, err
	}
	defer frame.Close()
	if err := frame.SetContext(cancelled, uint(items)); err != nil {
		return nil, err
	}
	value, _, err := p.Eval(frame)
	return value, err
}
