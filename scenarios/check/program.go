// Package check judges: it evaluates the expressions of a plan over the history
// of a cell. It does no I/O, so that a saved run can be judged again, and a
// judgement can be tested without running anything.
package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Program is a cell's expressions, compiled.
type Program struct {
	cell   plan.Cell
	checks map[string]*compiled  // by check id
	waits  map[int]*expr.Program // by step number
	limit  int                   // what judging the cell may cost
}

// compiled is one check, ready to be evaluated.
type compiled struct {
	action.Check
	observe *expr.Program
	must    *expr.Program // nil if Is says what is wanted
}

// Compile compiles the expressions of a cell. All mistakes are reported, each
// with its place.
func Compile(cell plan.Cell) (*Program, error) {
	p := &Program{cell: cell, checks: make(map[string]*compiled), waits: make(map[int]*expr.Program), limit: expr.MaxCost}
	for _, step := range cell.Steps {
		if until := expr.Until(cell, step).Text; until != "" {
			p.waits[step.Number], _ = expr.CompileCondition(until)
		}
		for _, c := range step.Checks() {
			p.checks[c.ID], _ = compileCheck(c)
		}
	}
	return p, mistakesIn(cell)
}

// mistakesIn are those of the expressions of a cell.
func mistakesIn(cell plan.Cell) error {
	var all []error
	expr.Each(cell, func(_ int, e expr.Written, it string) {
		all = append(all, e.Mistakes(it)...)
	})
	for _, step := range cell.Steps {
		for _, c := range step.Checks() {
			if why := unequal(c); why != "" {
				all = append(all, strict.Problemf(expr.PlaceOf(cell, c.Line, "observe"), "check %s: %s", c.ID, why))
			}
		}
	}
	return errors.Join(all...)
}

// unequal says why what a check observes is never equal to what it is to be, if their
// types say so.
func unequal(c action.Check) string {
	number := []cel.Kind{cel.IntKind, cel.UintKind, cel.DoubleKind}
	is := map[string][]cel.Kind{
		"bool": {cel.BoolKind}, "string": {cel.StringKind}, "int": number, "int64": number, "float64": number,
		"[]interface {}": {cel.ListKind}, "map[string]interface {}": {cel.MapKind},
	}
	kinds := is[fmt.Sprintf("%T", c.Is)]
	t := expr.TypeOf(c.Observe)
	judged := slices.Contains(append(number, cel.BoolKind, cel.StringKind, cel.ListKind, cel.MapKind), t.Kind())
	if c.Must != "" || c.Mode.Grows() || kinds == nil || !judged || slices.Contains(kinds, t.Kind()) {
		return ""
	}
	return fmt.Sprintf("it observes %s, which is never %s", expr.KindOf(t), expr.JSON(types.DefaultTypeAdapter.NativeToValue(c.Is)))
}

func compileCheck(c action.Check) (*compiled, error) {
	done := &compiled{Check: c}
	var observe, must error
	done.observe, _, observe = expr.Compile(c.Observe)
	if c.Must != "" {
		done.must, must = expr.CompileCondition(c.Must, expr.TypeOf(c.Observe))
	}
	return done, errors.Join(observe, must)
}

// watch is a check while it is being watched.
type watch struct {
	*compiled
	budget  *expr.Budget
	base    ref.Val // what was observed at the beginning
	atOnce  bool    // the check was met when it was opened
	last    seen
	stopped error // why it was not evaluated to the end
}

// seen is one evaluation of a check.
type seen struct {
	met    bool
	text   string  // what was observed
	err    error   // why it could not be evaluated
	it     ref.Val // what must saw then; nil if observe could not be
	absent bool    // it could not be evaluated: what it asks for is not there
}

// begin looks at a check for the first time.
func (c *compiled) begin(ctx context.Context, b *expr.Budget, now map[string]any) *watch {
	w := &watch{compiled: c, budget: b}
	if value, err := w.eval(ctx, c.observe, now); err == nil {
		w.base = value
	}
	w.look(ctx, now)
	w.atOnce = w.last.met
	return w
}

func (w *watch) eval(ctx context.Context, p *expr.Program, now map[string]any) (ref.Val, error) {
	if w.stopped != nil {
		return nil, w.stopped
	}
	value, err := w.budget.Eval(ctx, "check "+w.ID, p, now)
	if expr.IsUnfinished(err) {
		w.stopped = err
	}
	return value, err
}

// look evaluates the check on a state.
func (w *watch) look(ctx context.Context, now map[string]any) {
	switch {
	case w.Mode.Grows():
		w.last = w.growth(ctx, now)
	case w.Mode == record.Never:
		// That it can't be evaluated does not mean that it is not so.
		s, err := w.evaluate(ctx, now)
		w.last = seen{met: err == nil && !s.met, text: s.text, err: err, it: s.it, absent: err != nil}
	default:
		w.last, _ = w.evaluate(ctx, now)
	}
}

// decided reports whether nothing that happens later can change the verdict:
// the moment came, or what had to hold was broken, or the check costs too much.
func (w *watch) decided() bool {
	return w.stopped != nil || w.Mode == record.Now || w.last.met == w.Mode.Awaits()
}

// evaluate reports whether what is observed is what is wanted. An expression
// that can't be evaluated is not met: what it asks for is not there.
func (w *watch) evaluate(ctx context.Context, now map[string]any) (seen, error) {
	value, err := w.eval(ctx, w.observe, now)
	if err != nil {
		return seen{text: err.Error(), err: err, absent: true}, err
	}
	text := expr.JSON(value)
	if w.must == nil {
		want := types.DefaultTypeAdapter.NativeToValue(w.Is)
		return seen{met: want.Equal(value) == types.True, text: text}, nil
	}
	now["it"] = value
	verdict, err := w.eval(ctx, w.must, now)
	delete(now, "it")
	var met bool
	if err == nil {
		met, err = expr.Bool(verdict)
	}
	if err != nil {
		return seen{text: fmt.Sprintf("%s (%v)", text, err), err: err, it: value, absent: true}, err
	}
	return seen{met: met, text: text}, nil
}

// growth reports whether a number has grown by no more than it may, or by as much as it
// has to.
func (w *watch) growth(ctx context.Context, now map[string]any) seen {
	value, err := w.eval(ctx, w.observe, now)
	if err != nil {
		return seen{text: err.Error(), err: err, absent: true}
	}
	from, isNumber := w.base.(types.Int)
	isNumber = isNumber || w.base == nil && w.Mode == record.AtLeast // what was not there counts from nothing
	to, stillIs := value.(types.Int)
	if !isNumber || !stillIs {
		return seen{text: expr.JSON(value) + ", which is not an integer, or was not one before", absent: true}
	}
	grown := int(to - from)
	met := grown <= w.Times
	if w.Mode == record.AtLeast {
		met = grown >= w.Times
	}
	return seen{met: met, text: fmt.Sprintf("%d more, from %d to %d", grown, from, to)}
}

// Tracker follows a history while it grows and tells which checks are decided.
// The engine uses it to know how long to watch; the verdict is made by Judge.
type Tracker struct {
	timeline      *timeline.Timeline
	waits, checks *expr.Budget
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker() *Tracker {
	return &Tracker{timeline: timeline.New(), waits: expr.NewBudget(expr.MaxCost), checks: expr.NewBudget(expr.MaxCost)}
}

// advance takes in the events that are new, and calls look after each one that
// makes a difference.
func (t *Tracker) advance(events []record.Event, look func()) {
	for _, e := range events[len(t.timeline.Events):] {
		t.timeline.Add(e)
		if expr.IsVisible(e) && look != nil {
			look()
		}
	}
}

// Until reports whether the condition of a wait step holds after the events,
// and, if it can't be evaluated, why. It will never hold if that is a limit.
func (t *Tracker) Until(ctx context.Context, p *Program, step int, events []record.Event) (bool, error) {
	t.advance(events, nil)
	value, err := t.waits.Eval(ctx, fmt.Sprintf("the wait of step %d", step), p.waits[step], expr.Vars(t.timeline))
	if err != nil {
		return false, err
	}
	return expr.Bool(value)
}

// Explain says of the condition of a wait step that can't be evaluated after the events that
// Until saw where, and on what value.
func (t *Tracker) Explain(p *Program, step int, err error) error {
	i := slices.IndexFunc(p.cell.Steps, func(s plan.Step) bool { return s.Number == step })
	if err == nil || i < 0 {
		return err
	}
	return expr.Until(p.cell, p.cell.Steps[i]).Failed(err, nil, expr.Vars(t.timeline))
}

// Watching is the checks of one step, being watched.
type Watching struct {
	tracker *Tracker
	watches []*watch
}

// Watch begins to watch the checks of a step after the given events.
func (t *Tracker) Watch(ctx context.Context, p *Program, checks action.Checks, events []record.Event) *Watching {
	t.advance(events, nil)
	w := &Watching{tracker: t}
	now := expr.Vars(t.timeline)
	for _, c := range checks.Checks {
		w.watches = append(w.watches, p.checks[c.ID].begin(ctx, t.checks, now))
	}
	return w
}

// Advance takes in new events.
func (w *Watching) Advance(ctx context.Context, events []record.Event) {
	w.tracker.advance(events, func() {
		now := expr.Vars(w.tracker.timeline)
		for _, watch := range w.watches {
			if !watch.decided() {
				watch.look(ctx, now)
			}
		}
	})
}

func (w *Watching) of(id string) *watch {
	return w.watches[slices.IndexFunc(w.watches, func(w *watch) bool { return w.ID == id })]
}

// Decided reports whether nothing that happens later can change the verdict of
// a check.
func (w *Watching) Decided(id string) bool { return w.of(id).decided() }

// Met reports whether a check holds, as far as it was watched. It is for the
// engine to know; the verdict is made by Judge.
func (w *Watching) Met(id string) bool { return w.of(id).last.met }
