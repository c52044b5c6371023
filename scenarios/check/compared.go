package check

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
)

// Compared is a comparison because of which a check does not hold, as it was when that was
// decided. It is for people, and no part of the verdict.
type Compared struct {
	// What is the expression that was compared. Path is the field that it reads, if it
	// is no more than that: pods, web, status, phase. An element of a list is "[0]", or
	// "[name=app]" if it is chosen by its name.
	What string
	Path []string
	// Wanted is what it was to be: `== "HTTP2"`, `satisfies it > 2`. Value is what it was.
	// Of a field that was to be there, or not, see Set and Unset.
	Wanted, Value string
	// Since is when it got that value, as far as the history says.
	Since time.Time
	// Against is the expression of the wanted value, if that changes as the record does: of
	// another field. If unset, the check itself has the value.
	Against string
}

// What is wanted of a field that was to be there whatever it is, or not to be there; the
// latter is also the value of one that is not.
const (
	Set   = "any value"
	Unset = "not set"
)

// Never is how that begins which no state of an object was to have.
const Never = "never "

// maxCompared is how many comparisons of a check are shown.
const maxCompared = 4

// ComparedIn returns the comparisons because of which the checks of a result do not hold,
// by the check's id.
func ComparedIn(ctx context.Context, result reports.Cell, events []record.Event) map[string][]Compared {
	all, b := make(map[string][]Compared), newBudget(maxExplained)
	var windows map[string]*timeline.Window
	var sought []seeking
	for _, c := range result.Checks {
		if c.Outcome != reports.Fail && !c.Outcome.Recorded() {
			continue
		}
		if windows == nil {
			windows = timeline.Of(events).Windows
		}
		in := windows[c.ID]
		if in == nil || in.Closed == nil {
			continue
		}
		e, is := c.Expectation()
		if !is {
			continue
		}
		t := decided(ctx, b, c.ID, e, events, in)
		if found := comparedIn(ctx, b, e, c.Observed, vars(t)); len(found) > 0 {
			all[c.ID] = found
			for i := range found {
				sought = append(sought, seek(&found[i], len(t.Events)))
			}
		}
	}
	since(ctx, b, slices.DeleteFunc(sought, func(s seeking) bool { return s.program == nil }), events)
	return all
}

// decided is how it was when a check was decided.
func decided(ctx context.Context, b *budget, id string, e reports.Expectation, events []record.Event, in *timeline.Window) *timeline.Timeline {
	c := action.Check{ID: id, Mode: e.Mode}
	switch e.Relation {
	case reports.Satisfies:
		c.Observe, c.Must = e.Observe, e.Wanted
	case reports.Equals:
		c.Observe = e.Observe
		_ = json.Unmarshal([]byte(e.Wanted), &c.Is) // it is valid
	}
	compiled, err := compileCheck(c)
	if err != nil || !e.Exact || c.Observe == "" || c.Mode == "" || c.Mode == record.Now {
		return timeline.Of(events[:in.To.Place])
	}
	return decidedAt(ctx, b, compiled, events, in)
}

// comparedIn are the comparisons in what a check expects. What they don't explain is one comparison of the whole.
func comparedIn(ctx context.Context, b *budget, e reports.Expectation, observed string, vars map[string]any) []Compared {
	wanted := e.Relation + " " + e.Wanted
	never := e.Mode == record.Never
	if never {
		wanted = Never + observed
	}
	if e.WantsBool() && e.Exact {
		c := comparer{ctx: ctx, budget: b, vars: vars}
		if c.look(e.Observe, (e.Wanted == "true") != never, 0); len(c.found) > 0 || asWritten(e.Observe) == nil {
			return c.found
		}
	}
	return one(e, wanted, observed)
}

// one is a comparison of a whole expression.
func one(e reports.Expectation, wanted, value string) []Compared {
	c := Compared{What: e.Observe, Wanted: wanted, Value: value}
	if checked := asWritten(e.Observe); checked != nil && e.Exact {
		x := explained{ast: checked.NativeRep()}
		c.Path = x.path(x.ast.Expr())
	}
	if n := len(c.Path); n > 0 && strings.HasPrefix(c.Path[n-1], "*") { // one of a list with one
		c.Path[n-1] = c.Path[n-1][1:]
		c.Wanted, c.Value = unlisted(c.Wanted), unlisted(c.Value)
	}
	return []Compared{c}
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
