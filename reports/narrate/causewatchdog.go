package narrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// isScaling reports whether a comparison is about what the watchdog scaled, and about no
// field.
func isScaling(c Compared) bool { return c.Path == nil && strings.HasPrefix(c.What, "dependents") }

// scaled is what the watchdog scaled in the window, why, and what it scaled later.
func (t failedCheck) scaled() string {
	type scaling struct {
		at   float64
		text string
		by   bool // the watchdog, as its request shows
	}
	var in, later []scaling
	for _, l := range t.lanes {
		name, is := strings.CutPrefix(l.Name, "seed/deployments/")
		if !is {
			continue
		}
		for i, s := range l.Spans {
			one := scaling{s.From, fmt.Sprintf("%s to %s at %s", name, s.Label, moment(s.From)), l.isScaledByWatchdog(s.From)}
			switch {
			case i == 0 || s.From < t.from-instant:
			case s.From <= t.to+instant:
				in = append(in, one)
			default:
				later = append(later, one)
			}
		}
	}
	joined := func(all []scaling) string {
		slices.SortStableFunc(all, func(a, b scaling) int { return cmp.Compare(a.at, b.at) })
		var texts []string
		for _, s := range all {
			texts = append(texts, s.text)
		}
		return strings.Join(texts, ", ")
	}
	watchdog := cmp.Or(t.running(watchdogName, t.to), "the watchdog")
	said := fmt.Sprintf("from %s to %s, %s scaled nothing", moment(t.from), moment(t.to), watchdog)
	decided := t.to
	if len(in) > 0 {
		said, decided = fmt.Sprintf("%s scaled %s", watchdog, joined(in)), in[0].at
		if slices.ContainsFunc(in, func(s scaling) bool { return !s.by }) {
			said = fmt.Sprintf("the record does not have who scaled each of %s", joined(in))
		}
	}
	if len(later) > 0 {
		said += ", and after the check had been decided " + joined(later)
	}
	return strings.TrimSuffix(said+". "+sentence(t.decision(decided)), ". ")
}

// isScaledByWatchdog reports whether a request of the watchdog scaled the Deployment of a lane at about
// a time.
func (l Lane) isScaledByWatchdog(at float64) bool {
	return slices.ContainsFunc(l.Marks, func(m Mark) bool { return m.Label == scaledByWatchdog && m.At > at-settling && m.At < at+settling })
}

// scaledBy is what the watchdog did last until the check looked, if the check is about it.
func (t failedCheck) scaledBy() string {
	last, name, by := Span{}, "", false
	for _, l := range t.lanes {
		deployment, is := strings.CutPrefix(l.Name, "seed/deployments/")
		for i, s := range l.Spans {
			if is && i > 0 && s.From <= t.to+instant && s.From > last.From {
				last, name, by = s, deployment, l.isScaledByWatchdog(s.From)
			}
		}
	}
	if name == "" || !strings.Contains(t.Expected, "dependents") {
		return ""
	}
	if !by {
		return fmt.Sprintf("; %s was scaled to %s at %s", name, last.Label, moment(last.From))
	}
	return fmt.Sprintf("; %s scaled %s to %s at %s", cmp.Or(t.running(watchdogName, t.to), "the watchdog"), name, last.Label, moment(last.From))
}

// decision is the last list of leases that the watchdog got before a time, and what
// followed from it.
func (t failedCheck) decision(before float64) string {
	for _, l := range t.lanes {
		if l.Name != toShoot+": "+expiredRow {
			continue
		}
		last := Mark{At: -1}
		for _, m := range l.Marks {
			if m.At <= before {
				last = m
			}
		}
		if last.At < 0 {
			return ""
		}
		said := fmt.Sprintf("before that, it listed the leases at %.3f s: %s of them count as expired, and the threshold is %g %%", last.At, last.Label, 100*t.b.in.Leases.Threshold)
		if t.b.in.Leases.Expiry > 0 {
			said += fmt.Sprintf("; older than %s is expired", t.b.in.Leases.Expiry)
		}
		said += t.ages(last.At)
		if t.b.in.Leases.Clocks != "" {
			said += "; the clocks of the nodes are " + t.b.in.Leases.Clocks
		}
		return said
	}
	return ""
}

// ages are how old the oldest lease was in the last list until a time, as the watchdog read it
// and by the clock of the machine.
func (t failedCheck) ages(until float64) string {
	oldest := func(l Lane) (age float64, is bool) {
		for _, s := range l.Series {
			for _, p := range s.Points {
				if s.Label == "oldest" && p[0] <= until {
					age, is = p[1], true
				}
			}
		}
		return age, is
	}
	read, real := "", 0.0
	for _, l := range t.lanes {
		age, is := oldest(l)
		switch {
		case l.Kind != Leases || !is:
		case l.Name == readRow:
			read = fmt.Sprintf("%.1f s", age)
		default:
			real = max(real, age)
		}
	}
	if read == "" {
		return ""
	}
	return fmt.Sprintf("; the oldest was renewed %.1f s before, and the watchdog read %s", real, read)
}

// calls is what who is seen to ask asked the API server in the window.
func (t failedCheck) calls() string {
	var all []string
	for _, link := range slices.Sorted(maps.Keys(t.b.Calls)) {
		from, _, _ := strings.Cut(link, "->")
		if from == watchdogName {
			return t.watchdogCalls()
		}
		n := 0
		for _, call := range t.b.Calls[link] {
			if t.from <= call.At && call.At <= t.to {
				n++
			}
		}
		all = append(all, fmt.Sprintf("%s asked the API server %s", from, times(n)))
	}
	if len(all) == 0 {
		return t.watchdogCalls()
	}
	return fmt.Sprintf("from %s to %s, %s", moment(t.from), moment(t.to), strings.Join(all, ", and "))
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

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
