// Package check judges: it evaluates the expressions of a plan over the history
// of a cell. It does no I/O, so that a saved run can be judged again, and a
// judgement can be tested without running anything.
package check

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/skewrig/skewrig/harness/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Program is a cell's expressions, compiled.
type Program struct {
	cell   plan.Cell
	checks map[string]*compiled // by check id
	waits  map[int]cel.Program  // by step number
}

// compiled is one check, ready to be evaluated.
type compiled struct {
	plan.Check
	observe cel.Program
	must    cel.Program // nil if Is says what is wanted
}

// Compile compiles the expressions of a cell. All mistakes are reported, each
// with the file and line of its check or step.
func Compile(cell plan.Cell) (*Program, error) {
	p := &Program{cell: cell, checks: make(map[string]*compiled), waits: make(map[int]cel.Program)}
	var mistakes []error
	for _, step := range cell.Steps {
		switch action := step.Action.(type) {
		case plan.Wait:
			until, err := compileCondition(action.Until)
			if err != nil {
				mistakes = append(mistakes, fmt.Errorf("%s:%d: wait until: %w", cell.File, step.Line, err))
			}
			p.waits[step.Number] = until
		case plan.Checks:
			for _, c := range action.Checks {
				done, err := compileCheck(c)
				if err != nil {
					mistakes = append(mistakes, fmt.Errorf("%s:%d: check %s: %w", cell.File, c.Line, c.ID, err))
				}
				p.checks[c.ID] = done
			}
		}
	}
	return p, errors.Join(mistakes...)
}

func compileCheck(c plan.Check) (*compiled, error) {
	done := &compiled{Check: c}
	var mistakes []error
	observe, it, err := compile(c.Observe)
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("observe: %w", err))
		it = cel.DynType // so that must is looked at too
	}
	done.observe = observe
	if c.Must != "" {
		if done.must, err = compileCondition(c.Must, cel.Variable("it", it)); err != nil {
			mistakes = append(mistakes, fmt.Errorf("must: %w", err))
		}
	}
	return done, errors.Join(mistakes...)
}

// seen is one evaluation of a check.
type seen struct {
	met  bool
	text string // what was observed
}

// look evaluates a check on a state. An expression that can't be evaluated is
// not met: what it asks for is not there.
func (c *compiled) look(vars map[string]any) seen {
	value, _, err := c.observe.Eval(vars)
	if err != nil {
		return seen{text: err.Error()}
	}
	text := asJSON(value)
	if c.must == nil {
		want := types.DefaultTypeAdapter.NativeToValue(c.Is)
		return seen{met: want.Equal(value) == types.True, text: text}
	}
	vars["it"] = value
	verdict, _, err := c.must.Eval(vars)
	delete(vars, "it")
	if err == nil {
		var met bool
		if met, err = asBool(verdict); err == nil {
			return seen{met: met, text: text}
		}
	}
	return seen{text: fmt.Sprintf("%s (%v)", text, err)}
}

// Tracker follows a history while it grows and tells which checks are decided.
// The engine uses it to know how long to watch; the verdict is made by Judge.
type Tracker struct {
	state *state
	next  int // index of the next event
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker() *Tracker { return &Tracker{state: newState()} }

// advance takes in the events that are new, and calls look after each one that
// makes a difference.
func (t *Tracker) advance(events []record.Event, look func()) {
	for ; t.next < len(events); t.next++ {
		if t.state.apply(events[t.next]) && look != nil {
			look()
		}
	}
}

// Until reports whether the condition of a wait step holds after the events,
// and, if it can't be evaluated, why.
func (t *Tracker) Until(p *Program, step int, events []record.Event) (bool, error) {
	t.advance(events, nil)
	value, _, err := p.waits[step].Eval(t.state.vars())
	if err != nil {
		return false, err
	}
	return asBool(value)
}

// Watching is the checks of one step, being watched.
type Watching struct {
	tracker *Tracker
	open    []*open
}

type open struct {
	check   *compiled
	decided bool
}

// Watch begins to watch the checks of a step after the given events.
func (t *Tracker) Watch(p *Program, checks plan.Checks, events []record.Event) *Watching {
	t.advance(events, nil)
	w := &Watching{tracker: t}
	for _, c := range checks.Checks {
		w.open = append(w.open, &open{check: p.checks[c.ID]})
	}
	w.look()
	return w
}

// Advance takes in new events.
func (w *Watching) Advance(events []record.Event) { w.tracker.advance(events, w.look) }

// Decided reports whether nothing that happens later can change the verdict of
// a check: its moment came, or it was broken.
func (w *Watching) Decided(id string) bool {
	for _, o := range w.open {
		if o.check.ID == id {
			return o.decided
		}
	}
	return true
}

func (w *Watching) look() {
	vars := w.tracker.state.vars()
	for _, o := range w.open {
		if !o.decided {
			met := o.check.look(vars).met
			o.decided = o.check.Mode == plan.Now || met == (o.check.Mode == plan.Eventually)
		}
	}
}
