package narrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

const (
	// instant is how short a window may be to be a moment, in seconds.
	instant = 0.05
	// lengthened is how much longer than planned a window must be to say so, in
	// seconds. What must happen in time has the time that the machine needs for it:
	// that of a machine which is busy with other things does not count.
	lengthened = 0.1
)

// windows are the checks in the order in which they were opened, with what came of
// the window of each, and of those that do not hold what their values were made of.
// One that was not closed is watched as long as the history.
func (b *builder) windows() (all []Check) {
	ids := slices.SortedFunc(maps.Keys(b.Windows), func(x, y string) int { return cmp.Compare(b.Windows[x].From.Place, b.Windows[y].From.Place) })
	for _, id := range ids {
		w := b.Windows[id]
		c := Check{ID: id, Step: w.Step, From: b.at(w.From.Time), To: b.end, Named: b.in.Named[id]}
		if w.Closed != nil {
			c.To = b.at(w.To.Time)
		}
		for _, result := range b.in.Result.Checks {
			if result.ID == id {
				c.Summary, c.Parts = summary(result, c), parts(result, b.in.Compared[id], b.in.Parts[id])
			}
		}
		all = append(all, c)
	}
	return all
}

// parts are the parts of an expression, those first that broke its check. What was too long
// to show says nothing beside them.
func parts(result reports.Check, compared []Compared, others []Line) (all []Line) {
	e, _ := result.Expectation()
	for _, c := range compared {
		if reports.IsBool(result.Observed) && c.What != e.Observe {
			all = append(all, Line{What: c.What, Text: c.value() + ", expected: " + c.wanted()})
		}
	}
	for _, l := range others {
		shown := slices.ContainsFunc(all, func(before Line) bool { return before.What == l.What })
		if !shown && (len(all) == 0 || !strings.HasSuffix(l.Text, "…")) {
			all = append(all, l)
		}
	}
	return all
}

// summary is what came of a check's window, and when its value was another one than
// was expected, if that is true or false.
func summary(result reports.Check, watched Check) string {
	took := max(0, watched.To-watched.From)
	words := windowed(result, took)
	e, _ := result.Expectation()
	if met, judged := isMet(result.Outcome); judged && !met && reports.IsBool(result.Observed) && e.WantsBool() {
		wanted := map[string]string{"true": "false", "false": "true"}[result.Observed]
		value := fmt.Sprintf("expected %s, observed %s at %.1f s", wanted, result.Observed, watched.To)
		return strings.TrimSuffix(value+"; "+words, "; ")
	}
	return words
}

// isMet reports whether what was expected was observed, as far as that was judged.
// A flaky check was, in other runs.
func isMet(o reports.Outcome) (met, judged bool) {
	switch o {
	case reports.Pass, reports.UnexpectedPass:
		return true, true
	case reports.Fail, reports.ExpectedFail, reports.Ambiguous:
		return false, true
	default:
		return false, false
	}
}

// windowed is what came of a window that took so many seconds: one ends early when
// nothing that happens later can matter. Of a check that was evaluated once there
// is nothing to say.
func windowed(result reports.Check, took float64) string {
	e, _ := result.Expectation()
	if e.Span == 0 {
		return ""
	}
	awaits := e.Mode.Awaits()
	met, judged := isMet(result.Outcome)
	long := fmt.Sprintf("%g s", e.Span.Seconds())
	over := awaits && took >= e.Span.Seconds()+lengthened
	if over && judged && !met {
		return fmt.Sprintf("did not come true in %.1f s; the scenario asks for %s, and a busy machine gets longer", took, long)
	}
	if over {
		long += ", which is longer on a busy machine"
	}
	early := fmt.Sprintf("after %.1f s; the window was %s", took, long)
	if took < instant {
		early = "at once; the window was " + long
	}
	switch {
	case !judged:
		return fmt.Sprintf("watched for %.1f s; the window was %s", took, long)
	case awaits && met:
		return "came true " + early
	case awaits:
		return "did not come true in " + long
	case met:
		return "held for all of " + long
	default:
		return "no longer held " + early
	}
}
