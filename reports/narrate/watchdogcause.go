package narrate

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// aboutDependents reports whether a check is about what the watchdog scales.
func aboutDependents(c reports.Check) bool { return strings.Contains(c.Expected, "dependents") }

// isScaling reports whether a comparison is about what the watchdog scaled, and about no
// field.
func isScaling(c Compared) bool { return c.Path == nil && strings.HasPrefix(c.What, "dependents") }

// scaling is that a Deployment got another number of replicas.
type scaling struct {
	name, to string
	at       float64
	by       bool // the watchdog, as its request shows
}

// scalings are all, in time.
func (t failedCheck) scalings() (all []scaling) {
	for _, l := range t.lanes {
		name, is := strings.CutPrefix(l.Name, dependentsOf)
		for i, s := range l.Spans {
			if is && i > 0 {
				byWatchdog := func(m Mark) bool {
					return m.Label == scaledByWatchdog && m.At > s.From-settling && m.At < s.From+settling
				}
				all = append(all, scaling{name, s.Label, s.From, slices.ContainsFunc(l.Marks, byWatchdog)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scaling) int { return cmp.Compare(a.at, b.at) })
	return all
}

func inTime(all []scaling) string {
	texts := reports.Each(all, func(s scaling) string { return fmt.Sprintf("%s to %s at %s", s.name, s.to, moment(s.at)) })
	return strings.Join(texts, ", ")
}

// runningWatchdog is the watchdog with its release, if that is known.
func (t failedCheck) runningWatchdog() string {
	return cmp.Or(t.running(watchdogName, t.to), "the watchdog")
}

// scaled is what the watchdog scaled in the window, why, and what it scaled later.
func (t failedCheck) scaled() string {
	all := slices.DeleteFunc(t.scalings(), func(s scaling) bool { return s.at < t.from-instant })
	n := len(all)
	if i := slices.IndexFunc(all, func(s scaling) bool { return s.at > t.to+instant }); i >= 0 {
		n = i
	}
	in, later := all[:n], all[n:]
	said := fmt.Sprintf("from %s to %s, %s scaled nothing", moment(t.from), moment(t.to), t.runningWatchdog())
	decided := t.to
	if n > 0 {
		said, decided = fmt.Sprintf("%s scaled %s", t.runningWatchdog(), inTime(in)), in[0].at
		if slices.ContainsFunc(in, func(s scaling) bool { return !s.by }) {
			said = "the record does not have who scaled each of " + inTime(in)
		}
	}
	if len(later) > 0 {
		said += ", and after the check had been decided " + inTime(later)
	}
	return strings.TrimSuffix(said+". "+reports.Sentence(t.decision(decided)), ". ")
}

// scaledBy is what the watchdog did last until the check looked, if the check is about it.
func (t failedCheck) scaledBy() string {
	all := slices.DeleteFunc(t.scalings(), func(s scaling) bool { return s.at > t.to+instant })
	if len(all) == 0 || !aboutDependents(t.Check) {
		return ""
	}
	last := all[slices.IndexFunc(all, func(s scaling) bool { return s.at == all[len(all)-1].at })]
	if !last.by {
		return fmt.Sprintf("; %s was scaled to %s at %s", last.name, last.to, moment(last.at))
	}
	return fmt.Sprintf("; %s scaled %s to %s at %s", t.runningWatchdog(), last.name, last.to, moment(last.at))
}

// replicas are how many replicas the dependents of the watchdog had one after the other, if
// that changed until the check was decided.
func (t failedCheck) replicas() string {
	var all []string
	for _, l := range t.lanes {
		if l.Kind != ObjectState || !strings.HasPrefix(l.Name, dependentsOf) {
			continue
		}
		var had []string
		for _, s := range l.Spans {
			if s.From <= t.to+instant {
				had = append(had, s.Label)
			}
		}
		if len(had) > 1 {
			all = append(all, path.Base(l.Name)+": "+strings.Join(had, ", then "))
		}
	}
	return strings.Join(all, "; ")
}

// decision is the last list of leases that the watchdog got before a time, and what
// followed from it.
func (t failedCheck) decision(before float64) string {
	i := slices.IndexFunc(t.lanes, func(l Lane) bool { return l.Name == toShoot+": "+expiredRow })
	if i < 0 {
		return ""
	}
	lists := reports.Only(t.lanes[i].Marks, func(m Mark) bool { return m.At <= before })
	if len(lists) == 0 {
		return ""
	}
	last, plan := lists[len(lists)-1], t.b.in.Leases
	said := fmt.Sprintf("before that, it listed the leases at %.3f s: %s of them count as expired, and the threshold is %g %%", last.At, last.Label, 100*plan.Threshold)
	if plan.Expiry > 0 {
		said += fmt.Sprintf("; older than %s is expired", plan.Expiry)
	}
	said += t.ages(last.At)
	if plan.Clocks != "" {
		said += "; the clocks of the nodes are " + plan.Clocks
	}
	return said
}

// ages are how old the oldest lease was in the last list until a time, as the watchdog read it
// and by the clock of the machine.
func (t failedCheck) ages(until float64) string {
	read, real := "", 0.0
	for _, l := range t.lanes {
		i := slices.IndexFunc(l.Series, func(s Series) bool { return s.Label == oldestLease })
		if l.Kind != Leases || i < 0 {
			continue
		}
		points := reports.Only(l.Series[i].Points, func(p [2]float64) bool { return p[0] <= until })
		switch n := len(points); {
		case n == 0:
		case l.Name == readRow:
			read = fmt.Sprintf("%.1f s", points[n-1][1])
		default:
			real = max(real, points[n-1][1])
		}
	}
	if read == "" {
		return ""
	}
	return fmt.Sprintf("; the oldest was renewed %.1f s before, and the watchdog read %s", real, read)
}

// watchdogCalls is what the watchdog asked the API server in the window.
func (t failedCheck) watchdogCalls() string {
	n, last := 0, Mark{}
	for _, l := range t.lanes {
		if l.Kind != Link || !strings.HasPrefix(l.Name, toShoot) {
			continue
		}
		for _, m := range l.Marks {
			if t.from <= m.At && m.At <= t.to {
				n, last = n+1, m
			}
		}
	}
	if n == 0 {
		return fmt.Sprintf("from %s to %s, the watchdog asked the API server nothing", moment(t.from), moment(t.to))
	}
	return fmt.Sprintf("from %s to %s, the watchdog asked the API server %s; the last was %s at %s", moment(t.from), moment(t.to), times(n), last.Label, moment(last.At))
}

// good is how a watchdog says that a decision was good: that the leases are renewed.
var good = regexp.MustCompile(`(?i)\blease probe succeeded\b`)

// lastGood is what is said of such a line before a failure.
const lastGood = "the last good decision before the failure"

// goodBefore are the places of the last good decisions before each moment at which something
// went wrong, if the log is that of a component whose decisions the checks are about.
func (s subjectIn) goodBefore(lines []logLine, failures []float64) map[int]bool {
	places := make(map[int]bool)
	for _, failed := range failures {
		last := -1
		for i, line := range lines {
			if s.all && line.At <= failed && good.MatchString(line.whole) {
				last = i
			}
		}
		places[last] = true
	}
	return places
}
