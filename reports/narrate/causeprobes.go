package narrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// failedProbes is what most of the attempts that failed have in common; empty if none did.
// Where a redirect led is separate, as are events without a connection.
func (t failedCheck) failedProbes() string {
	all := t.within()
	isBad := func(a attempt) bool { return a.Tone == Bad }
	direct, hops, alone := reports.Only(all, func(a attempt) bool { return a.hop == "" && !a.alone }), reports.Only(all, func(a attempt) bool { return a.hop != "" }), reports.Only(all, func(a attempt) bool { return a.alone })
	said := commonest(reports.Only(direct, isBad), len(direct), "failed"+t.tally.inWords(t.to))
	if bad := reports.Only(hops, isBad); len(bad) > 0 {
		then := commonest(bad, len(hops), "failed")
		said = strings.TrimPrefix(said+". Of what redirects led to, "+then, ". Of what redirects led to, ")
	}
	switch {
	case len(reports.Only(alone, isBad)) == 0:
	case said == "":
		return commonest(reports.Only(alone, isBad), len(alone), "failed")
	default:
		said += fmt.Sprintf(". Of %s, there is an event and no connection in the record", reports.Counted(len(alone), "other failure"))
	}
	if event := lastEvent(all); event != "" && said != "" {
		said += ". The kubelet said last: " + event
	}
	return said
}

// Tally is how many attempts failed that a check is about: until it was decided, and by the end.
// Where a redirect led, and events without a connection, are not counted. The zero value has none.
type Tally struct {
	// First is when the first one failed of those after the last that succeeded.
	First float64
	// Failed and All are those until the check was decided, in its window if any was there.
	Failed, All int
	// FailedByEnd and AllByEnd are these and all that came later.
	FailedByEnd, AllByEnd int
}

// tallied is the tally of what a check is about.
func (t failedCheck) tallied() (of Tally) {
	counted := func(all []attempt) (direct, failed []attempt) {
		direct = reports.Only(all, func(a attempt) bool { return a.hop == "" && !a.alone })
		return direct, reports.Only(direct, func(a attempt) bool { return a.Tone == Bad })
	}
	in, failed := counted(t.within())
	later, failedLater := counted(t.later)
	of.Failed, of.All = len(failed), len(in)
	of.FailedByEnd, of.AllByEnd = of.Failed+len(failedLater), of.All+len(later)
	for _, a := range t.attempts {
		switch {
		case a.Tone == Good:
			of.First = 0
		case a.Tone == Bad && of.First == 0:
			of.First = a.At
		}
	}
	return of
}

// inWords is until when so many had failed, and how many had by the end if there were more.
func (n Tally) inWords(until float64) string {
	if n.FailedByEnd == n.Failed {
		return ""
	}
	return fmt.Sprintf(" by %s, %d of %d by the end", moment(until), n.FailedByEnd, n.AllByEnd)
}

// lastEvent is the last event of a kubelet about attempts.
func lastEvent(all []attempt) string {
	for _, a := range slices.Backward(all) {
		for _, l := range slices.Backward(a.Wire) {
			if strings.HasPrefix(l.What, kubeletEvent) && l.Tone == Bad {
				return shortened(strings.Join(strings.Fields(l.Text), " "), maxText) // some messages end with a line break
			}
		}
	}
	return ""
}

// probes is what most attempts have in common: of those that failed, if any did.
func (t failedCheck) probes() string {
	return cmp.Or(t.failedProbes(), commonest(t.within(), len(t.within()), "got an answer"))
}

// within are the attempts in the window, or all until its end if none is.
func (t failedCheck) within() []attempt {
	in := reports.Only(t.attempts, func(a attempt) bool { return a.At >= t.from })
	if len(in) == 0 {
		return slices.Clone(t.attempts)
	}
	return in
}

// commonest is what came of most of some attempts, which are as many of all as their number
// says.
func commonest(attempts []attempt, all int, fate string) string {
	if len(attempts) == 0 {
		return ""
	}
	groups := reports.Grouped(attempts, func(a attempt) [3]string { return [3]string{a.Container, a.By, a.Observed} })
	most := slices.MaxFunc(groups, func(a, b []attempt) int { return len(a) - len(b) })
	return fmt.Sprintf("%d of %s of %s %s; most often (%d), %s: %s", len(attempts), reports.Counted(all, "attempt"), most[0].Container, fate, len(most), most[0].By, most[0].Observed)
}
