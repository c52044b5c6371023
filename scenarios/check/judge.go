package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// observedLimit bounds how much of an observation goes into a report, in
// bytes. The history has all of it.
const observedLimit = 600

// Verdict is what the history of a cell amounts to.
type Verdict struct {
	// Outcome is set only where the cell as a whole could not be judged; it is
	// empty where the checks decide.
	Outcome reports.Outcome
	Reason  string
	Checks  []reports.Check
}

// Judge evaluates every check of a cell on its history. It needs nothing else:
// the same program and history always give the same verdict. If the context ends before
// that, checks are unknown, and the cell is.
func Judge(ctx context.Context, p *Program, events []record.Event) Verdict {
	var v Verdict
	v.Outcome, v.Reason = brokenOff(events)
	late, whole := lateness(events), timeline.Of(events)
	watched := watchAll(ctx, p, events, whole.Windows)
	for _, step := range p.cell.Steps {
		for _, c := range step.Checks() {
			result := p.judgeCheck(p.checks[c.ID], watched[c.ID])
			if why := distrusted(late, c, result.Outcome, p.cell, whole); why != "" {
				result.Outcome, result.Reason = reports.Unknown, why
			}
			if why := p.checks[c.ID].lost(watched[c.ID], result.Outcome, whole); why != "" {
				result.Outcome, result.Reason = reports.Unknown, why
			}
			v.Checks = append(v.Checks, result)
		}
	}
	if why := stuck(events); why != "" && v.Reason == why {
		v.keepWhatFailed()
	}
	if v.Outcome == "" && ctx.Err() != nil {
		v.Outcome, v.Reason = reports.Unknown, "interrupted while it was judged: judge it again"
	}
	return v
}

// keepWhatFailed lets the checks decide on a cell that could not go on, if one of them
// had failed before: that may be why it could not.
func (v *Verdict) keepWhatFailed() {
	if !slices.ContainsFunc(v.Checks, func(c reports.Check) bool { return c.Outcome == reports.Fail }) {
		return
	}
	for i, c := range v.Checks {
		if c.Outcome == reports.Unknown {
			v.Checks[i].Reason = v.Reason
		}
	}
	v.Outcome, v.Reason = "", ""
}

// StoppedWatching is why a check is unknown that was to come true within a time:
// the run looked for something else then, found it, and looked no longer.
const StoppedWatching = "when the check ran, its condition became true early, and the run did not watch long enough for today's condition; run the cell again"

// assertion is what a check asserts, as data.
func assertion(c action.Check) reports.Assertion {
	a := reports.Assertion{Mode: c.Mode, Seconds: time.Duration(c.Span).Seconds(), Observe: c.Observe, Must: c.Must, Times: c.Times}
	if c.Must == "" && !a.Mode.Grows() {
		a.Is = action.Encode(c.Is)
	}
	return a
}

func (p *Program) judgeCheck(c *compiled, w *watchedCheck) reports.Check {
	result := reports.Check{ID: c.ID, Requirement: c.Requirement, Asserts: assertion(c.Check), Expected: c.Describe()}
	if w == nil {
		result.Outcome, result.Reason = reports.Unknown, "the cell ended before the check was decided"
		return result
	}
	watched, span := w.in.Closed.Watched, time.Duration(c.Span).Seconds()
	result.Observed = expr.ShowText(w.last.text, observedLimit)
	switch {
	case w.stopped != nil:
		result.Outcome, result.Reason = reports.Unknown, w.stopped.Error()
		if expr.IsTooCostly(w.stopped) {
			result.Reason = fmt.Sprintf("%s: %s", expr.PlaceOf(p.cell, c.Line, "observe"), result.Reason)
		}
	case !w.last.met && c.Mode.Awaits() && watched < span:
		result.Outcome, result.Reason = reports.Unknown, StoppedWatching
	case !w.last.met:
		result.Outcome = reports.Fail
	case !c.Mode.Awaits() && watched < span:
		result.Outcome, result.Reason = reports.Unknown, fmt.Sprintf("watched for less than %s", c.Span)
	default:
		result.Outcome = reports.Pass
		if w.noEffect != "" {
			result.Outcome, result.Reason = reports.Unknown, w.noEffect
		}
	}
	return result
}

// noticed is for how long a component has to be away, or a link faulty, for others to
// notice.
const noticed = time.Second

// beforeTheFault returns why a check that was met as soon as it was opened shows no
// effect of a fault: it had begun just before, and the check was met before that, too.
func (w *watch) beforeTheFault(ctx context.Context, t *timeline.Timeline, in *timeline.Window, events []record.Event) string {
	if !w.atOnce || w.Mode != record.Eventually && w.Mode != record.Now {
		return ""
	}
	for _, f := range faults(t) {
		lasted := in.To.Time.Sub(f.began.Time)
		if lasted >= noticed {
			continue
		}
		step := t.StepAt(f.began.Place)
		if step != nil && w.begin(ctx, w.budget, expr.Vars(timeline.Of(events[:step.From.Place]))).last.met {
			return fmt.Sprintf("it held from the start, when %s for %.2f s: what was so before the fault is no effect of it; wait for an effect first, or watch for a time with always or atLeast", f.what, lasted.Seconds())
		}
	}
	return ""
}

// fault is what is wrong with the rig, and since when.
type fault struct {
	what  string
	began timeline.Moment
}

// faults are those that last: components that were stopped, and links that are cut,
// slow or answer themselves.
func faults(t *timeline.Timeline) (all []fault) {
	for _, name := range t.Components() {
		lives := t.Lives(name)
		if last := lives[len(lives)-1]; last.Stopped != nil && last.Stopped.Asked {
			all = append(all, fault{name + " had been away", last.Until})
		}
	}
	for _, f := range t.Faults {
		if f.Effect == nil {
			all = append(all, fault{"the fault of the link " + f.Link + " had lasted", f.From})
		}
	}
	return all
}

// watchedCheck is a check that was watched again.
type watchedCheck struct {
	*watch
	in *timeline.Window
	// until is when it was decided, or closed.
	until time.Time
	// noEffect is why what was seen is no effect of a fault, if it is none.
	noEffect string
}

// watchAll watches all checks again whose windows were closed. It returns them by their
// ids.
func watchAll(ctx context.Context, p *Program, events []record.Event, windows map[string]*timeline.Window) map[string]*watchedCheck {
	all := make(map[string]*watchedCheck)
	var checks []*compiled
	for _, step := range p.cell.Steps { // in order: they share a budget
		for _, c := range step.Checks() {
			if in := windows[c.ID]; in != nil && in.Closed != nil {
				checks = append(checks, p.checks[c.ID])
			}
		}
	}
	watchAgain(ctx, expr.NewBudget(p.limit), checks, events, windows, func(w *watch, t *timeline.Timeline) {
		again := &watchedCheck{watch: w, in: windows[w.ID], until: windows[w.ID].To.Time}
		if w.decided() {
			again.until = t.Events[len(t.Events)-1].At
		}
		w.last.text += p.failed(w, t)
		if w.last.met {
			again.noEffect = w.beforeTheFault(ctx, t, again.in, events)
		}
		all[w.ID] = again
	})
	return all
}

// failed says where an expression of a check failed at last, and on what. That a key is missing
// says enough.
func (p *Program) failed(w *watch, t *timeline.Timeline) string {
	if w.last.err == nil || w.stopped != nil || strings.HasPrefix(w.last.err.Error(), "no such key") {
		return ""
	}
	now := expr.Vars(t)
	of := expr.Observe(p.cell, w.Check)
	var it *cel.Type
	if w.last.it != nil {
		of, it = expr.Must(p.cell, w.Check), expr.TypeOf(w.Observe)
		now["it"] = w.last.it
	}
	at, found := expr.FailedIn(of.Text, it, now)
	if !found {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", of.Place(at.Offset), at)
}

// watchAgain looks at each check when it is opened and after each event until it is
// decided or closed. Then it calls over with what the check has seen last, and with the
// timeline as it was. All checks look at one timeline, which grows.
func watchAgain(ctx context.Context, b *expr.Budget, checks []*compiled, events []record.Event, windows map[string]*timeline.Window, over func(*watch, *timeline.Timeline)) {
	opens := make(map[int][]*compiled)
	for _, c := range checks {
		place := windows[c.ID].From.Place
		opens[place] = append(opens[place], c)
	}
	t, open := timeline.New(), []*watch{}
	end := func(is func(*watch) bool) {
		open = slices.DeleteFunc(open, func(w *watch) bool {
			if is(w) {
				over(w, t)
				return true
			}
			return false
		})
	}
	for place, e := range events {
		end(func(w *watch) bool { return windows[w.ID].To.Place == place })
		if len(opens) == 0 && len(open) == 0 {
			return
		}
		t.Add(e)
		if len(open) > 0 && expr.IsVisible(e) {
			now := expr.Vars(t)
			for _, w := range open {
				w.look(ctx, now)
			}
		}
		for _, c := range opens[place] {
			open = append(open, c.begin(ctx, b, expr.Vars(t)))
		}
		delete(opens, place)
		end((*watch).decided)
	}
	end(func(*watch) bool { return true })
}

// DecidedAt returns the timeline as it was when a check was decided, or when it was closed if that is
// not known.
func DecidedAt(ctx context.Context, b *expr.Budget, c action.Check, events []record.Event, in *timeline.Window) (then *timeline.Timeline) {
	done, err := compileCheck(c)
	if err != nil || c.Observe == "" || c.Mode == "" {
		return timeline.Of(events[:in.To.Place])
	}
	watchAgain(ctx, b, []*compiled{done}, events, map[string]*timeline.Window{c.ID: in}, func(_ *watch, t *timeline.Timeline) { then = t })
	return then
}

// brokenOff returns why a cell as a whole can't be judged, if it can't: it did
// not run to its end, a fake server could not serve its port, or a link could not pass on a connection.
func brokenOff(events []record.Event) (reports.Outcome, string) {
	for _, failed := range record.All[record.ListenFailed](events) {
		return reports.HarnessError, "a fake server could not serve its port: " + failed.Error
	}
	for e, failed := range record.All[record.LinkFailed](events) {
		return reports.HarnessError, "the link " + e.Subject + " could not pass on a connection: " + failed.Error
	}
	ended, complete := end(events)
	if ended.Interrupted {
		return reports.Unknown, "broken off: " + ended.Error
	}
	if ended.Rig {
		return reports.HarnessError, ended.Error
	}
	if why := stuck(events); why != "" {
		return reports.Unknown, why
	}
	if !complete {
		return reports.HarnessError, "the run was broken off " + lastStep(events)
	}
	if ended.Error != "" {
		return reports.HarnessError, ended.Error
	}
	return withoutEffect(events)
}

// stuck returns what the scenario takes for granted that did not come true, if there is
// such a thing.
func stuck(events []record.Event) string {
	for _, done := range record.All[record.StepDone](events) {
		if done.Unmet {
			return fmt.Sprintf("step %d: %s", done.Number, done.Error)
		}
	}
	return ""
}

// withoutEffect returns that a fault did nothing, if there was such a one: what
// was seen meanwhile is not what the scenario is about.
func withoutEffect(events []record.Event) (reports.Outcome, string) {
	for e, fault := range record.All[record.FaultEnded](events) {
		if !fault.Effect.Any() {
			return reports.Unknown, fmt.Sprintf("the fault of the link %s (%s) had no effect: nothing was sent while it lasted", e.Subject, fault.Fault)
		}
	}
	return "", ""
}

// end is how a cell ended. Complete is false for a history that does not say.
func end(events []record.Event) (ended record.CellEnded, complete bool) {
	for _, ended := range record.All[record.CellEnded](events) {
		return ended, true
	}
	return record.CellEnded{}, false
}

// Interrupted reports whether a cell ended because the whole run was interrupted.
func Interrupted(events []record.Event) bool {
	ended, _ := end(events)
	return ended.Interrupted
}

// lastStep says where a history that has no end stops.
func lastStep(events []record.Event) string {
	where := "before its first step"
	for _, s := range record.All[record.StepStarted](events) {
		where = fmt.Sprintf("in or after step %d (%s)", s.Number, s.Action)
	}
	return where
}

// Grace is a context that ends a second after another one: what was seen until an
// interruption is judged.
func Grace(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
	})
	return late, func() {
		stop()
		cancel(nil)
	}
}

// grace is how long the judgement of a cell may take after an interruption.
const grace = time.Second
