// Package lint refuses what is wrong with cells before anything runs: checks that can't fail, names of what no cell
// can have, and fields that no object has. It says what a rig has to observe for the checks of a cell.
package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Refuse reports the checks of cells that can't show what they are for, whatever a run
// sees, and the cells without a check: each with its place, the reason, and what to do
// about it.
func Refuse(cells []plan.Cell) error {
	refused := unjudged(cells)
	for _, cell := range cells {
		for i, step := range cell.Steps {
			for _, c := range step.Checks() {
				refused = append(refused, judged{c, cell, i}.weak())
			}
		}
	}
	return strict.Join(refused...)
}

// unjudged reports the cells without a check, and the scenarios of which all cells are
// without. Such a cell would pass by what always holds alone.
func unjudged(cells []plan.Cell) (refused []error) {
	const add = "nothing that it is about is judged: add a step of checks, or accepted or rejected to a step"
	has := make(map[string]bool) // by scenario
	for _, cell := range cells {
		has[cell.Scenario] = has[cell.Scenario] || isJudged(cell)
	}
	reported := make(map[string]bool)
	for _, cell := range cells {
		switch at := expr.PlaceOf(cell, 1, "steps"); {
		case isJudged(cell) || reported[cell.Scenario]:
		case has[cell.Scenario]:
			refused = append(refused, strict.Problemf(at, "cell %s has no check: %s, or leave the cell out by where", cell.ID, add))
		default:
			reported[cell.Scenario] = true
			refused = append(refused, strict.Problemf(at, "the scenario has no check: %s", add))
		}
	}
	return refused
}

// isJudged reports whether a cell has a check, or a moment at which all that is at rest is judged.
func isJudged(cell plan.Cell) bool {
	return slices.ContainsFunc(cell.Steps, func(s plan.Step) bool { return len(s.Checks()) > 0 || s.Action.Facts().Rests })
}

// judged is a check in its place.
type judged struct {
	action.Check
	cell plan.Cell
	step int // its index in the cell
}

// weak returns why the check shows nothing. It is nil for one that may.
func (c judged) weak() error {
	for _, rule := range []struct {
		field string
		why   func() string
	}{
		{"requirement", c.ofAnotherLedger}, {"observe", c.ofTheRig}, {"observe", c.sinceNothing}, {"observe", c.sinceTheBeginning}, {"observe", c.lastOfAll},
	} {
		if why := rule.why(); why != "" {
			return strict.Problemf(expr.PlaceOf(c.cell, c.Line, rule.field), "check %s: %s", c.ID, why)
		}
	}
	return nil
}

// ofAnotherLedger refuses a requirement of another ledger than the scenario's. What the
// oracles require may be asked anywhere, and one's own scenarios have no ledger.
func (c judged) ofAnotherLedger() string {
	of, _, _ := strings.Cut(c.Requirement, "/")
	if of = strings.ToLower(of); of == c.cell.Area || !hasLedger(of) || !hasLedger(c.cell.Area) {
		return ""
	}
	return fmt.Sprintf("%s is a requirement of another ledger than the scenario's, %s: move the check to a scenario of %s", c.Requirement, c.cell.Area, of)
}

// hasLedger reports whether the scenarios of an area have a ledger of their own.
func hasLedger(area string) bool {
	return strings.HasPrefix(area, "kep-") || area == "dwd" || area == "regressions"
}

// ofTheRig refuses what is known from the scenario itself: with which release and
// gates the rig started a component, and which it did not start. That one runs, and how
// one ended, is seen.
func (c judged) ofTheRig() string {
	only, read, ended := true, "", false
	look := func(s expr.Scope, e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			only = only && (e.AsIdent() == "components" || !expr.IsVariable(e.AsIdent()))
		}
		switch field := s.OfComponent(e); field {
		case "gates", "version":
			read = field
		case "exits", "running":
			ended = true
		}
	}
	if e, is := expr.Parse(c.Observe); is {
		expr.Scope{}.Walk(e, look)
	}
	if e, is := expr.Parse(c.Must); is {
		expr.Seeing(c.Observe).Walk(e, look)
	}
	switch {
	case read != "":
		return "it reads the " + read + " with which the rig started the component: read what the component says, by a scrape or in an object's status, or what it does"
	case only && !ended && expr.Reads(c.Check, "components") && c.Is != true:
		return "it reads which components the rig started: look at what they do"
	default:
		return ""
	}
}

// sinceNothing refuses a length of time from the beginning of a step that does not
// follow a change: what is measured may have been before.
func (c judged) sinceNothing() string {
	if c.step > 0 && c.cell.Steps[c.step-1].Action.Facts().Changes {
		return ""
	}
	found := false
	expr.Visit(c.Check, func(e ast.Expr) {
		isSince := func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "since" }
		if e.Kind() == ast.CallKind {
			name, args := e.AsCall().FunctionName(), e.AsCall().Args()
			found = found || name == operators.Subtract && isSince(args[1]) || name == operators.Add && slices.ContainsFunc(args, isSince)
		}
	})
	if !found {
		return ""
	}
	return "it measures a time from since, which is when this step began, and what it measures may have been before: put the check into the step right after the one that changes the rig"
}

// sinceTheBeginning refuses a lower bound on what was seen since the cell began if the
// rig was changed in the meantime.
func (c judged) sinceTheBeginning() string {
	changed := c.changed()
	observe, is := expr.Parse(c.Observe)
	if changed < 0 || !is || c.Mode.Grows() {
		return ""
	}
	counts := c.counting(changed)
	want := c.Mode != record.Never
	bounded := counts.be(observe, c.Is, want)
	if must, is := expr.Parse(c.Must); is {
		bounded = counts.with("it", value{observe, counts}).bounded(must, want)
	}
	if !bounded {
		return ""
	}
	by := c.cell.Steps[changed]
	return fmt.Sprintf("it counts what was seen since the cell began, and what was there before step %d (%s) may be enough: observe the number and ask for atLeast, which counts from when the check begins, or filter by at > since",
		by.Number, by.Action.Describe())
}

// changed is the index of the last step before the check that changes the rig, or -1.
func (c judged) changed() int {
	for i := c.step - 1; i >= 0; i-- {
		if c.cell.Steps[i].Action.Facts().Changes {
			return i
		}
	}
	return -1
}

// counting is for what was there before a step of the cell.
func (c judged) counting(changed int) counting {
	return counting{fresh: func(variable, key string) bool {
		return isFresh(c.cell.Steps[changed+1:], variable, key) && !isFresh(c.cell.Steps[:changed+1], variable, key)
	}}
}

// isFresh reports whether what a variable has of a key is of one of the steps, or of a
// pod that one of them makes.
func isFresh(steps []plan.Step, variable, key string) bool {
	pod := key
	if variable == "connections" || variable == "containers" {
		pod = key[:max(0, strings.LastIndex(key, "/"))]
	}
	pod = pod[strings.LastIndex(pod, "/")+1:]
	named := func(object map[string]any, suffix string) bool {
		metadata, _ := object["metadata"].(map[string]any)
		name, is := metadata["name"].(string)
		return is && name+suffix == pod
	}
	return slices.ContainsFunc(steps, func(s plan.Step) bool {
		facts := s.Action.Facts()
		return named(facts.Static.Pod, "-"+facts.Static.Node) ||
			slices.ContainsFunc(facts.Creates, func(o map[string]any) bool { return named(o, "") }) ||
			slices.ContainsFunc(facts.Gives, func(r action.Reading) bool { return r.Variable == variable && cmp.Or(r.Name, s.Name) == key })
	})
}
