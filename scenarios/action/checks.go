package action

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// WrittenChecks are checks that are watched at the same time.
type WrittenChecks []WrittenCheck

// WrittenCheck is one thing that must hold, as it is written.
type WrittenCheck struct {
	ID string `json:"id"`
	// Requirement is the id of the ledger's statement that the check proves. If
	// unset, it proves none: a check of a user's own.
	Requirement string `json:"requirement,omitempty"`
	// Observe is a CEL expression over the record.
	Observe string `json:"observe"`
	// Is is the value that it must have. Exactly one of Is and Must is set.
	Is *any `json:"is,omitempty"`
	// Must is a CEL expression in which "it" is what was observed.
	Must string `json:"must,omitempty"`
	// Eventually, Always, Never, AtMost and AtLeast say when. At most one of them is
	// set. If all are unset, it must be so when the check begins.
	Eventually behavior.Duration `json:"eventually,omitempty"`
	Always     *spec.Span        `json:"always,omitempty"`
	// Never is for how long it must not be so.
	Never *spec.Span `json:"never,omitempty"`

	// AtMost bounds by how much a number grows. Is and Must are left out.
	AtMost *WrittenAtMost `json:"atMost,omitempty"`
	// AtLeast wants a number to grow from when the check begins. Is and Must are left
	// out.
	AtLeast *WrittenAtLeast `json:"atLeast,omitempty"`
	// When is a condition on the axes and on the releases that are in force. If
	// it doesn't hold, the check is left out. If unset, it is for all.
	When string `json:"when,omitempty"`
}

// WrittenAtMost bounds by how much a number that is observed grows within a time.
type WrittenAtMost struct {
	Times int `json:"times"`
	// For and Of are the time, as in Span.
	For string `json:"for"`
	Of  string `json:"of,omitempty"`
}

// WrittenAtLeast is by how much a number that is observed has to grow within a time.
type WrittenAtLeast struct {
	Times  int               `json:"times"`
	Within behavior.Duration `json:"within"`
}

// Span is the time.
func (a WrittenAtMost) Span() spec.Span { return spec.Span{For: a.For, Of: a.Of} }

// span is how long a check is watched, with the part that says so. The part
// is empty if nothing gives it a span.
func (c WrittenCheck) span() (field string, span spec.Span) {
	switch {
	case c.Always != nil:
		return ".always", *c.Always
	case c.Never != nil:
		return ".never", *c.Never
	case c.AtMost != nil:
		return ".atMost", c.AtMost.Span()
	default:
		return "", spec.Span{}
	}
}

// checkID is what the id of a check is made of.
var checkID = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$`)

func (w WrittenChecks) Check(f spec.Field) {
	f.Refuse("", len(w) == 0, "there are no checks")
	for i, c := range w {
		c.check(f.In(index(i)))
	}
}

func (c WrittenCheck) check(f spec.Field) {
	f.Refuse(".id", !checkID.MatchString(c.ID) || len(c.ID) > spec.MaxName,
		"%s can't be the id of a check: use letters, digits, - _ and .", strict.Quote(c.ID))
	for _, text := range []struct{ field, value string }{
		{".requirement", c.Requirement}, {".observe", c.Observe}, {".must", c.Must},
	} {
		f.Refuse(text.field, strings.TrimSpace(text.value) == "", "%s is empty", text.field[1:])
	}
	c.checkOneOf(f)
	f.Duration(".eventually", c.Eventually)
	if c.AtLeast != nil {
		f.Refuse(".atLeast.times", c.AtLeast.Times < 1, "%d would be no growth", c.AtLeast.Times)
		f.Duration(".atLeast.within", c.AtLeast.Within)
	}
	part, span := c.span()
	if part == "" || !f.Clean(part) {
		return
	}
	if c.AtMost != nil && c.AtMost.Times < 0 {
		f.Report(part+".times", "%d is negative", c.AtMost.Times)
	}
	f.In(part).Span(span)
}

func (c WrittenCheck) checkOneOf(f spec.Field) {
	wanted, times := f.Present("is", "must"), f.Present("eventually", "always", "never", "atMost", "atLeast")
	grows := slices.IndexFunc(times, func(name string) bool { return name == "atMost" || name == "atLeast" })
	switch {
	case len(wanted) == 0 && grows < 0:
		f.Report("", "the check has no condition: give it is, must, atMost or atLeast")
	case len(wanted) == 1 && grows >= 0:
		f.Report("."+wanted[0], "%s is a condition, and this check has %s too", times[grows], wanted[0])
	case len(wanted) == 2:
		f.Report(".must", "a check has is or must, and this one has both")
	}
	if len(times) > 1 {
		f.Report("."+times[1], "a check has one of eventually, always, never, atMost and atLeast, and this one has %s", strings.Join(times, " and "))
	}
}

// checkIDs are those that a cell has already.
type checkIDs map[string]bool

// Change implements spec.Changer: checks change nothing. It reports conditions
// that can't be evaluated, and checks with the same id of which both apply.
func (w WrittenChecks) Change(r *spec.Rig) {
	seen := spec.Memory[checkIDs](r)
	for i, c := range w {
		applies, err := r.Applies(c.When)
		if err != nil {
			r.Conflict(index(i)+".when", "%v", err)
		}
		if !applies || c.ID == "" {
			continue
		}
		if seen[c.ID] {
			r.Conflict(index(i)+".id", "the scenario has a check %s already", strict.Quote(c.ID))
		}
		seen[c.ID] = true
	}
}

// Plan implements Planner. It leaves out the checks that are not for the rig.
func (w WrittenChecks) Plan(s Scene) (Action, error) {
	var checks Checks
	var problems []error
	for i, c := range w {
		applies, err := s.Rig.Applies(c.When)
		if err != nil {
			problems = append(problems, fmt.Errorf("check %s: %w", c.ID, err))
		}
		if !applies {
			continue
		}
		check := Check{ID: c.ID, Requirement: c.Requirement, Observe: c.Observe, Must: c.Must, Line: s.Line(index(i))}
		if c.Is != nil {
			check.Is = *c.Is
		}
		if err := check.setMode(c, s.Scenario); err != nil {
			problems = append(problems, fmt.Errorf("check %s: %w", c.ID, err))
		}
		checks.Checks = append(checks.Checks, check)
	}
	return checks, errors.Join(problems...)
}

// setMode sets when a check must hold, and for how long it is watched.
func (c *Check) setMode(written WrittenCheck, s *spec.Scenario) error {
	part, span := written.span()
	switch {
	case written.Eventually != 0:
		c.Mode, c.Span = record.Eventually, written.Eventually
		return nil
	case written.AtLeast != nil:
		c.Mode, c.Span, c.Times = record.AtLeast, written.AtLeast.Within, written.AtLeast.Times
		return nil
	case part == "":
		c.Mode = record.Now
		return nil
	case written.Always != nil:
		c.Mode = record.Always
	case written.Never != nil:
		c.Mode = record.Never
	default:
		c.Mode, c.Times = record.AtMost, written.AtMost.Times
	}
	length, err := s.Length(span)
	c.Span = behavior.Duration(length)
	return err
}

// Checks watches checks, all at the same time.
type Checks struct {
	Checks []Check `json:"-"` // the step has them
}

// Describe implements Action: it names the checks.
func (c Checks) Describe() string {
	ids := make([]string, len(c.Checks))
	for i, check := range c.Checks {
		ids[i] = check.ID
	}
	return OneLine("check " + strings.Join(ids, ", "))
}

func (c Checks) Run(ctx context.Context, rig Rig) error { return rig.Watch(ctx, c) }

// Check is one thing that must hold. It has no description before it is stored.
type Check record.Check

// Describe says in one line what must hold, and when.
func (c Check) Describe() string {
	if c.Mode == record.AtMost {
		return OneLine(fmt.Sprintf("for %s: %s grows by %d at most", c.Span, c.Observe, c.Times))
	}
	if c.Mode == record.AtLeast {
		return OneLine(fmt.Sprintf("within %s: %s grows by %d at least", c.Span, c.Observe, c.Times))
	}
	when := "at once"
	if length := map[record.Mode]string{record.Eventually: "within ", record.Always: "always for ", record.Never: "never for "}[c.Mode]; length != "" {
		when = length + c.Span.String()
	}
	if c.Must != "" {
		return OneLine(fmt.Sprintf("%s: %s satisfies %s", when, c.Observe, c.Must))
	}
	return OneLine(fmt.Sprintf("%s: %s == %s", when, c.Observe, Encode(c.Is)))
}

// Facts are those of checks that are watched. Those that wait for something are taken to see it soon.
func (c Checks) Facts() Facts {
	f := Facts{Needs: NeedsNothing, Reach: ReachOwn, Checks: c.Checks, Bounded: true, Estimate: eventEstimate}
	for _, check := range c.Checks {
		if !check.Mode.Awaits() {
			f.Estimate = max(f.Estimate, time.Duration(check.Span))
		}
	}
	return f
}
