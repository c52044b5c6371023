// Package explain says why checks do not hold: it evaluates what they were judged by again, and finds what
// made it true or false. All of it is for people, and no part of a verdict.
package explain

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// maxCost is what explaining the checks of a cell may cost. What is not reached is not explained.
const maxCost = 1 << 24

// maxValue is how much of a value is shown, in bytes.
const maxValue = 400

// Checks has a narration say what the checks of its result name and, of those that do not hold, what made
// them so. A result has the expressions that it was judged by, whatever became of the scenario.
func Checks(ctx context.Context, in *narrate.Input) {
	x := explainer{ctx: ctx, budget: expr.NewBudget(maxCost)}
	in.Named = namesIn(in.Result)
	in.Parts, in.Compared = make(map[string][]narrate.Line), make(map[string][]narrate.Compared)
	var windows map[string]*timeline.Window
	for _, c := range in.Result.Checks {
		if c.Outcome != reports.Fail && !c.Outcome.Recorded() {
			continue
		}
		if windows == nil {
			windows = timeline.Of(in.Events).Windows
		}
		e, is := c.Expectation()
		window := windows[c.ID]
		if !is || window == nil || window.Closed == nil {
			continue
		}
		then := check.DecidedAt(ctx, x.budget, asserted(c.ID, e), in.Events, window)
		x.vars = expr.Vars(then)
		if found, parts := x.check(e, c.Observed); len(found)+len(parts) > 0 {
			in.Compared[c.ID], in.Parts[c.ID] = found, parts
			for i := range found {
				x.sought = append(x.sought, seek(&found[i], len(then.Events)))
			}
		}
	}
	x.since(in.Events)
}

// explainer explains the checks of one run.
type explainer struct {
	ctx    context.Context
	budget *expr.Budget
	vars   map[string]any // when the check was decided
	sought []seeking
}

// asserted is a check as its result has it. What its result does not say exactly is left out.
func asserted(id string, e reports.Expectation) action.Check {
	c := action.Check{ID: id, Mode: e.Mode}
	switch {
	case !e.Exact:
	case e.Relation == reports.Satisfies:
		c.Observe, c.Must = e.Observe, e.Wanted
	case e.Relation == reports.Equals:
		c.Observe = e.Observe
		_ = json.Unmarshal([]byte(e.Wanted), &c.Is) // it is valid
	}
	return c
}

// check explains a check: the comparisons because of which it does not hold, and the values of its parts. What
// comparisons don't explain is one comparison of the whole.
func (x *explainer) check(e reports.Expectation, observed string) (found []narrate.Compared, parts []narrate.Line) {
	wanted := e.Relation + " " + e.Wanted
	never := e.Mode == record.Never
	if never {
		wanted = neverWas + observed
	}
	if !e.WantsBool() || !e.Exact {
		return one(e, wanted, observed), nil
	}
	all, is := x.evaluate(e.Observe)
	if is && e.Mode != "" && reports.IsBool(observed) {
		parts = partsOf(all)
	}
	c := comparer{explainer: x}
	if is {
		c.condition(&all, all.Expr(), (e.Wanted == "true") != never, 0)
	}
	if _, is := expr.AsWritten(e.Observe, nil); len(c.found) > 0 || !is {
		return c.found, parts
	}
	return one(e, wanted, observed), parts
}

// evaluated is an expression with the values of all its parts.
type evaluated struct {
	expr.Source

	value  ref.Val
	values interpreter.EvalState
}

// evaluate evaluates all of an expression.
func (x *explainer) evaluate(text string) (e evaluated, is bool) {
	s, is := expr.AsWritten(text, nil)
	if !is {
		return e, false
	}
	value, details := x.budget.EvalAll(x.ctx, s, x.vars)
	if details == nil {
		return e, false
	}
	return evaluated{s, value, details.State()}, true
}

// one is a comparison of a whole expression.
func one(e reports.Expectation, wanted, value string) []narrate.Compared {
	c := narrate.Compared{What: e.Observe, Wanted: wanted, Value: value}
	if s, is := expr.AsWritten(e.Observe, nil); is && e.Exact {
		c.Path = fieldPath(s, s.Expr())
	}
	if n := len(c.Path); n > 0 && strings.HasPrefix(c.Path[n-1], "*") { // one of a list with one
		c.Path[n-1] = c.Path[n-1][1:]
		c.Wanted, c.Value = unlisted(c.Wanted), unlisted(c.Value)
	}
	return []narrate.Compared{c}
}

// unlisted is a list with one value as the value.
func unlisted(text string) string {
	op, list := "", text
	if rest, is := strings.CutPrefix(text, "== "); is {
		op, list = "== ", rest
	}
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(list), &values); err != nil || len(values) != 1 {
		return text
	}
	return op + string(values[0])
}

// namesIn are what the checks of a result name, by the check's id. A result has the
// expressions that it was judged by, whatever became of the scenario.
func namesIn(result reports.Cell) map[string]reports.Names {
	all := make(map[string]reports.Names)
	for _, c := range result.Checks {
		e, _ := c.Expectation()
		switch e.Relation {
		case reports.Satisfies:
			all[c.ID] = append(expr.Scope{}.Names(e.Observe), expr.Seeing(e.Observe).Names(e.Wanted)...)
		case reports.Equals:
			all[c.ID] = expr.Scope{}.Names(e.Observe + " == " + e.Wanted)
		default:
			all[c.ID] = expr.Scope{}.Names(e.Observe)
		}
	}
	return all
}
