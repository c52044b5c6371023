package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Run is one of several runs of a cell. A run is what a cell is that ran once:
// its outcome and its reason follow from its checks in the same way.
type Run struct {
	// Number tells the runs of a cell apart. It counts from 1; a number may be
	// missing, of a run that was broken off.
	Number  int     `json:"number"`
	Outcome Outcome `json:"outcome"`
	// Reason says in a few words why the outcome is not Pass.
	Reason string `json:"reason,omitempty"`
	// Checks are in the scenario's order.
	Checks []Check `json:"checks"`
	// Dir is where the run left its files, as a path with slashes from the
	// report's directory. Assemble sets it: see RunDir.
	Dir string `json:"dir"`
	// Started and DurationSeconds are volatile, and as those of a cell.
	Started         time.Time `json:"started,omitzero"`
	DurationSeconds float64   `json:"durationSeconds"`
}

// Difference is where the runs of a cell that were as expected (good) first differ
// from those that were not (bad): the first step at which one kind always showed
// what the other kind never did.
type Difference struct {
	// Step is the number of the step; 0 is before the first one.
	Step int `json:"step"`
	// Action is what the step does, in the plan's words.
	Action string `json:"action,omitempty"`
	// Bad is what only bad runs showed, and Good what only good ones did. At least
	// one of them is set.
	Bad  string `json:"bad,omitempty"`
	Good string `json:"good,omitempty"`
}

// String says it in a sentence.
func (d Difference) String() string {
	where := "before the first step"
	if d.Step > 0 {
		where = fmt.Sprintf("at step %d (%s)", d.Step, d.Action)
	}
	var kinds []string
	if d.Bad != "" {
		kinds = append(kinds, "only in bad runs, "+d.Bad)
	}
	if d.Good != "" {
		kinds = append(kinds, "only in good runs, "+d.Good)
	}
	return "good and bad runs first differ " + where + ": " + strings.Join(kinds, "; ")
}

// Numbered returns a cell that ran once as the run of that number.
func (c Cell) Numbered(number int) Cell {
	c = c.Settled().explained()
	c.Runs = []Run{{
		Number: number, Outcome: c.Outcome, Reason: c.Reason, Checks: slices.Clone(c.Checks),
		Dir: RunDir(c.ID, number), Started: c.Started, DurationSeconds: c.DurationSeconds,
	}}
	return c
}

// EachRun returns the runs of a cell, also of one that ran once.
func (c Cell) EachRun() []Run {
	if len(c.Runs) == 0 {
		return c.Numbered(1).Runs
	}
	return c.Runs
}

// WorstRun is the first of a cell's runs with the worst outcome.
func (c Cell) WorstRun() Run {
	return slices.MaxFunc(c.EachRun(), func(a, b Run) int { return a.Outcome.Compare(b.Outcome) })
}

// JoinEach joins the runs of each cell (see Join), and sorts the cells by their ids.
func JoinEach(runs []Cell) []Cell {
	cells := Each(Grouped(runs, func(c Cell) string { return c.ID }), func(of []Cell) Cell { return Join(of...) })
	slices.SortFunc(cells, func(a, b Cell) int { return cmp.Compare(a.ID, b.ID) })
	return cells
}

// Join returns one cell for several runs of it, of which each has another number
// (see Numbered). It follows from its Runs:
//
//   - Each check is judged over all runs: see Repeated.
//   - A cell that was not as expected in some of its judged runs, and as expected
//     in others, is Flaky; otherwise the most severe run decides. It is never
//     milder than its checks.
//   - A run that is Unfinished counts only if no other is there.
//
// A cell that ran once, as number 1, is returned as it is. There must be a run at
// least.
func Join(runs ...Cell) Cell {
	if finished := Only(runs, func(c Cell) bool { return !c.Unfinished }); len(finished) > 0 {
		runs = finished
	} else {
		runs = runs[:1]
	}
	joined := runs[0].clone()
	for _, c := range runs[1:] {
		joined.Requirements = append(joined.Requirements, c.Requirements...)
		joined.Observed = append(joined.Observed, c.Observed...)
		joined.StandIns = append(joined.StandIns, c.StandIns...)
		if len(joined.Leases) == 0 {
			joined.Leases = c.clone().Leases
		}
		joined.Runs = append(joined.Runs, c.clone().Runs...)
	}
	joined.Observed, joined.StandIns = dedupe(joined.Observed), dedupe(joined.StandIns)
	slices.SortStableFunc(joined.Runs, func(a, b Run) int { return cmp.Compare(a.Number, b.Number) })
	if len(joined.Runs) == 1 && joined.Runs[0].Number == 1 {
		joined.Runs = nil
	}
	return joined.Settled()
}

// joined returns a cell that has Runs with everything that follows from them.
func (c Cell) joined() Cell {
	c = c.clone()
	for i, r := range c.Runs {
		settled := Cell{Outcome: r.Outcome, Reason: r.Reason, Checks: r.Checks}.Settled().explained()
		c.Runs[i] = Run{
			Number: r.Number, Outcome: settled.Outcome, Reason: settled.Reason,
			Checks: append([]Check{}, settled.Checks...), Dir: RunDir(c.ID, r.Number),
		}
		c.Runs[i].Started, c.Runs[i].DurationSeconds = toMilliseconds(r.Started, r.DurationSeconds)
	}
	c.Checks = joinedChecks(c.Runs)
	c.Rate = rate(c.Runs)
	c.Outcome, c.Reason = joinedOutcome(c.Runs)
	if worst := c.worstCheck(); len(c.Checks) > 0 && worst.Compare(c.Outcome) > 0 {
		c.Outcome, c.Reason = worst, "" // the checks explain it
	}
	c.Started, c.DurationSeconds = time.Time{}, 0
	for _, r := range c.Runs {
		if c.Started.IsZero() || !r.Started.IsZero() && r.Started.Before(c.Started) {
			c.Started = r.Started
		}
		c.DurationSeconds += r.DurationSeconds / float64(len(c.Runs))
	}
	return c.explained()
}

// joinedOutcome is what runs as wholes say of their cell, and why.
func joinedOutcome(runs []Run) (Outcome, string) {
	outcomes := ofRuns(runs)
	judged, bad := countIf(outcomes, Outcome.Judged), countIf(outcomes, Outcome.Nonconforming)
	if 0 < bad && bad < judged {
		first := runs[slices.IndexFunc(runs, func(r Run) bool { return r.Outcome.Nonconforming() })]
		return Flaky, because(fmt.Sprintf("not as expected in %d of %d runs", bad, judged), first.Reason)
	}
	worst := Worst(outcomes...)
	first := runs[slices.Index(outcomes, worst)]
	return worst, inSome(count(outcomes, worst), len(runs), first.Reason)
}

// joinedChecks are the checks of all runs, each judged over those that have it.
// What it expected and observed is what the run saw that decided.
func joinedChecks(runs []Run) []Check {
	var all []Check
	for _, r := range runs {
		all = append(all, r.Checks...)
	}
	joined := []Check{}
	for _, of := range Grouped(all, func(c Check) string { return c.ID }) {
		joined = append(joined, joinedCheck(of))
	}
	return joined
}

func joinedCheck(runs []Check) Check {
	outcomes := ofChecks(runs)
	outcome, disagree := Repeated(outcomes...)
	if outcome != Flaky {
		check := runs[slices.Index(outcomes, outcome)]
		check.Reason = inSome(count(outcomes, outcome), len(runs), check.Reason)
		return check
	}
	check := runs[slices.IndexFunc(runs, func(c Check) bool { return c.Outcome.failed() })]
	check.Outcome, check.Reason = Flaky, because(disagree, check.Reason)
	return check
}

// inSome adds to a reason in how many runs it held, unless in all of them.
func inSome(k, n int, reason string) string {
	if k == n {
		return reason
	}
	return because(fmt.Sprintf("in %d of %d runs", k, n), reason)
}

func ofRuns(runs []Run) (outcomes []Outcome) {
	return Each(runs, func(r Run) Outcome { return r.Outcome })
}

func ofChecks(checks []Check) (outcomes []Outcome) {
	return Each(checks, func(c Check) Outcome { return c.Outcome })
}

func count(outcomes []Outcome, wanted Outcome) int {
	return countIf(outcomes, func(o Outcome) bool { return o == wanted })
}

func countIf(outcomes []Outcome, wanted func(Outcome) bool) (n int) {
	for _, o := range outcomes {
		if wanted(o) {
			n++
		}
	}
	return n
}
