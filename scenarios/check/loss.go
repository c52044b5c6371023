package check

import (
	"slices"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// lost returns why a verdict does not count where events that the check needs may be missing from the record
// (record.ObservationLost). It is empty if it counts: nothing was lost that the check needs until it was decided, or
// what decided it was seen, and nothing that was missed can change that.
//
//   - now: unknown, whatever the verdict.
//   - eventually and atLeast: a check that failed is unknown, since what it waited for may have been missed. One that
//     passed counts, unless it passed by absence or a count, or at once by what was known before the loss.
//   - always, never and atMost: a check that passed is unknown, since the violation may have been missed. One that failed
//     counts, unless it failed by absence or a count.
//
// A loss that was over before the check began matters to what adds up from the beginning of the cell: all but the state of
// objects, leases and the answers to steps, which is up to date then. To atLeast and atMost, which count from when
// the check begins, it does not matter.
func (c *compiled) lost(w *watchedCheck, outcome reports.Outcome, t *timeline.Timeline) string {
	if w == nil || len(t.Losses) == 0 || outcome != reports.Pass && outcome != reports.Fail {
		return ""
	}
	needs, adds := c.needs()
	opened, from := w.in.From.Time, time.Time{}
	if !adds || c.Mode.Grows() {
		from = opened
	}
	losses := t.Lost(needs, from, w.until)
	if len(losses) == 0 {
		return ""
	}
	inLoss := slices.ContainsFunc(losses, func(l *timeline.Loss) bool { return l.Covers(opened) })
	stale := inLoss && (c.Mode.Grows() || !w.until.After(opened)) // what the check begins with may be out of date
	final := c.Mode != record.Now && (outcome == reports.Pass) == c.Mode.Awaits()
	if final && !w.last.absent && !stale && c.isProof(outcome) {
		return ""
	}
	return t.DescribeLoss(losses[0]) + "; the check needs them"
}

// needs are the events that decide a check, and whether some of them add up from the beginning of the cell.
func (c *compiled) needs() (needs []timeline.Need, adds bool) {
	read := func(text string) {
		e, is := expr.Parse(text)
		if !is {
			return
		}
		for name, keys := range expr.KeysOf(e) {
			of, _ := expr.VariableOf(name)
			adds = adds || of.Adds
			for _, key := range keys {
				needs = append(needs, of.Needs(key)...)
			}
		}
	}
	read(c.Observe)
	read(c.Must)
	return needs, adds
}
