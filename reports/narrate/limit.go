package narrate

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// limiter makes a narration shorter, and says in it what is left out.
type limiter struct {
	*Narration

	b        *builder
	limit    int
	relevant func(Attempt) bool // whether a check that does not hold is about an attempt
	subjects []string           // of the texts in Omitted
}

// limited is the narration within a limit. Four passes shorten it, as far as that is
// necessary: what repeats goes first, then wire logs and attempts that no failure is
// about, and then all but so much of everything.
func (b *builder) limited(limit int) Narration {
	attempts, probes := b.attempts()
	n := Narration{
		Cell: b.in.Result.ID, Began: b.began.UTC(), Seconds: b.end, Plan: b.in.Plan, Steps: b.steps, Checks: b.checks,
		Lanes: b.lanes(probes), Attempts: attempts, Logs: b.logs(maxLogLines),
	}
	l := &limiter{Narration: &n, b: b, limit: limit, relevant: b.relevant(attempts)}
	l.objectsTo(b.objects.affordable(limit), maxObjects)
	for _, pass := range []func(){l.condense, l.keepWires, l.keepFailures, l.bound} {
		if length(n) <= limit {
			break
		}
		pass()
	}
	return n
}

// omit says what is left out of a subject, in place of what was said of it before.
// Where nothing is, it says nothing.
func (l *limiter) omit(subject string, count int, format string, args ...any) {
	if count == 0 {
		return
	}
	text := fmt.Sprintf(format, args...)
	if i := slices.Index(l.subjects, subject); i >= 0 {
		l.Omitted[i] = text
		return
	}
	l.subjects, l.Omitted = append(l.subjects, subject), append(l.Omitted, text)
}

// omitRecorded is omit of what the history has.
func (l *limiter) omitRecorded(subject string, count int, format string, args ...any) {
	l.omit(subject, count, format+": see "+HistoryPath(l.Cell), args...)
}

// HistoryPath is where the history of a cell is, below a report's directory, and
// LogsPath where its logs are.
func HistoryPath(id string) string { return path.Join(reports.RunDir(id, 1), reports.HistoryFile) }

// LogsPath is where the logs of a cell are, below a report's directory.
func LogsPath(id string) string { return path.Join(reports.RunDir(id, 1), reports.LogsDir) }

// condense leaves out what repeats: marks that say the same one after the other
// become spans, and objects have their first and their last version.
func (l *limiter) condense() {
	keep := make([]bool, len(l.Attempts))
	for i := range keep {
		keep[i] = true
	}
	attempts, moments := 0, 0
	for i := range l.Lanes {
		if lane := &l.Lanes[i]; lane.Kind == Probe {
			attempts += condense(lane, keep)
		} else {
			moments += condense(lane, keep)
		}
	}
	l.keepOnly(keep)
	l.omitRecorded("repeated attempts", attempts, "%s identical to their neighbours", reports.Counted(attempts, "attempt"))
	l.omitRecorded("repeated moments", moments, "details of %s identical to their neighbours", reports.Counted(moments, "moment"))
	l.objectsTo(firstAndLast, maxObjects)
}

// keepWires leaves out the wire logs of attempts that no failing check is about, most
// objects and most log lines.
func (l *limiter) keepWires() {
	keep := make([]bool, len(l.Attempts))
	for i, a := range l.Attempts {
		keep[i] = l.relevant(a)
	}
	l.keepWire(keep)
	l.objectsTo(firstAndLast, 3)
	if len(l.Logs) > 0 {
		l.Logs = l.b.logs(maxKnownLines)
	}
}

// keepFailures leaves out attempts that did not fail and that no failing check is
// about, and details of what is not bad.
func (l *limiter) keepFailures() {
	keep, gone := make([]bool, len(l.Attempts)), 0
	for i, a := range l.Attempts {
		keep[i] = a.Tone == Bad || l.relevant(a)
		if !keep[i] {
			gone++
		}
	}
	l.keepOnly(keep)
	l.omitRecorded("attempts of others", gone, "%s that did not fail, and that no failing check is about", reports.Counted(gone, "attempt"))
	details := 0
	for _, lane := range l.Lanes {
		for i := range lane.Spans {
			details += without(&lane.Spans[i].Detail, lane.Spans[i].Tone)
		}
		for i := range lane.Marks {
			details += without(&lane.Marks[i].Detail, lane.Marks[i].Tone)
		}
	}
	l.omitRecorded("details", details, "details of %s of the timeline", reports.Counted(details, "part"))
}

// without takes the detail of what is not bad away, and counts it.
func without(detail *string, tone Tone) int {
	if *detail == "" || tone == Bad {
		return 0
	}
	*detail = ""
	return 1
}

// perAttempt and perLane are how many bytes of the limit an attempt and a lane may
// take in the end, and perEnd how many spans, and how many marks, of a lane stay.
const (
	perAttempt = 2000
	perLane    = 1000
	perEnd     = 4
)

// bound leaves out all that has no bound: objects, logs, numbers, the plan, attempts
// but one of each way to fail, and the middle of lanes.
func (l *limiter) bound() {
	l.omit("logs", len(l.Logs), "logs: see %s", LogsPath(l.Cell))
	l.omit("plan", len(l.Plan), "the plan: see %s", path.Join(reports.RunDir(l.Cell, 1), reports.PlanFile))
	l.Logs, l.Plan = nil, ""
	l.objectsTo(firstAndLast, 0)
	keep, seen := make([]bool, len(l.Attempts)), make(map[[3]string]bool)
	succeeded, alike := 0, 0
	for i, a := range l.Attempts {
		kind := [3]string{a.Container, a.By, a.Observed}
		switch {
		case a.Tone != Bad:
			succeeded++
		case seen[kind] || len(seen) >= l.limit/perAttempt:
			alike++
		default:
			keep[i], seen[kind] = true, true
		}
	}
	l.keepOnly(keep)
	l.omitRecorded("attempts", succeeded, "%s that did not fail", reports.Counted(succeeded, "attempt"))
	l.omitRecorded("failed attempts", alike, "%s that failed, as others did", reports.Counted(alike, "attempt"))
	l.lanesTo(max(10, l.limit/perLane))
}

// objectsTo has so many objects, with so much detail.
func (l *limiter) objectsTo(d detail, most int) {
	all, objects, versions := l.b.objects.shown(d, most)
	l.Objects = all
	var parts []string
	if objects > 0 {
		parts = append(parts, reports.Counted(objects, "object"))
	}
	if versions > 0 {
		parts = append(parts, reports.Counted(versions, "version")+" of objects in between")
	}
	l.omitRecorded("objects", len(parts), "%s", strings.Join(parts, " and "))
}

// run is how many marks must say the same one after the other to become a span.
const run = 4

// condense makes spans of the marks of a lane that say the same, and says how
// many marks are gone. Their attempts are not to be kept.
func condense(l *Lane, keep []bool) (gone int) {
	var marks []Mark
	for from := 0; from < len(l.Marks); {
		first, to := l.Marks[from], from+1
		for to < len(l.Marks) && l.Marks[to].Label == first.Label && l.Marks[to].Tone == first.Tone {
			to++
		}
		if to-from < run {
			marks = append(marks, l.Marks[from:to]...)
			from = to
			continue
		}
		last := l.Marks[to-1]
		for _, m := range l.Marks[from+1 : to-1] {
			if m.Attempt > 0 {
				keep[m.Attempt-1] = false
			}
		}
		gone += to - from - 2
		marks = append(marks, first, last)
		l.Spans = append(l.Spans, Span{From: first.At, To: last.At, Label: fmt.Sprintf("%d times: %s", to-from, first.Label), Tone: first.Tone})
		from = to
	}
	l.Marks = marks
	return gone
}

// keepOnly takes attempts away. Who was like one of them has its wire now.
func (l *limiter) keepOnly(keep []bool) {
	l.moveWire(keep)
	place := make([]int, len(l.Attempts)) // from 1, of those that stay
	var kept []Attempt
	for i, a := range l.Attempts {
		if keep[i] {
			kept = append(kept, a)
			place[i] = len(kept)
		}
	}
	for i := range kept {
		if kept[i].Like > 0 {
			kept[i].Like = place[kept[i].Like-1]
		}
	}
	l.Attempts = kept
	for i := range l.Lanes {
		for j := range l.Lanes[i].Marks {
			if m := &l.Lanes[i].Marks[j]; m.Attempt > 0 {
				m.Attempt = place[m.Attempt-1]
			}
		}
	}
}

// keepWire takes the wire of the other attempts away. They say so themselves.
func (l *limiter) keepWire(keep []bool) {
	l.moveWire(keep)
	gone := 0
	for i := range l.Attempts {
		a := &l.Attempts[i]
		if !keep[i] && len(a.Wire)+a.Like > 0 {
			a.Wire, a.Like, a.LeftOut = nil, 0, true
		}
		if a.LeftOut {
			gone++
		}
	}
	l.omitRecorded("wire", gone, "what went over the wire of %s", reports.Counted(gone, "attempt"))
}

// moveWire gives the wire of each attempt to the first of those that are kept over
// whose wire the same went.
func (l *limiter) moveWire(keep []bool) {
	before := slices.Clone(l.Attempts)
	moved := make(map[int]int) // by who had the wire first: who has it now
	for i := range l.Attempts {
		a := &l.Attempts[i]
		from := cmp.Or(a.Like, i+1)
		switch first := before[from-1]; {
		case !keep[i] || len(first.Wire) == 0:
		case moved[from] > 0:
			a.Wire, a.Like = nil, moved[from]
		default:
			a.Wire, a.Like = shifted(first.Wire, a.At-first.At), 0
			moved[from] = i + 1
		}
	}
}

// shifted are lines as they would be so much later.
func shifted(lines []Line, by float64) []Line {
	if by == 0 {
		return lines
	}
	lines = slices.Clone(lines)
	for i := range lines {
		if lines[i].At > 0 {
			lines[i].At = math.Round((lines[i].At+by)*1e4) / 1e4
		}
	}
	return lines
}

// lanesTo keeps so many lanes, those without anything bad go first, from the last. Of
// each but components it keeps the beginning, the end and what stands for attempts,
// and no numbers.
func (l *limiter) lanesTo(most int) {
	all := len(l.Lanes)
	for i := all - 1; i >= 0 && len(l.Lanes) > most; i-- {
		if !isBad(l.Lanes[i]) {
			l.Lanes = slices.Delete(l.Lanes, i, i+1)
		}
	}
	l.Lanes = l.Lanes[:min(len(l.Lanes), most)]
	lanes, parts := all-len(l.Lanes), 0
	for i := range l.Lanes {
		lane := &l.Lanes[i]
		if lane.Kind == Component {
			continue // all else is read by them
		}
		marks := slices.DeleteFunc(slices.Clone(lane.Marks), func(m Mark) bool { return m.Attempt == 0 && !slices.Contains(ends(lane.Marks), m) })
		parts += max(0, len(lane.Spans)-perEnd) + len(lane.Marks) - len(marks) + len(lane.Series)
		lane.Spans, lane.Marks, lane.Series = ends(lane.Spans), marks, nil
	}
	l.omitRecorded("lanes", lanes+parts, "%s, and %s of others", reports.Counted(lanes, "lane"), reports.Counted(parts, "part"))
}

func isBad(l Lane) bool {
	return slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Tone == Bad }) ||
		slices.ContainsFunc(l.Marks, func(m Mark) bool { return m.Tone == Bad })
}

// ends are the first and the last of a list.
func ends[T any](all []T) []T {
	if len(all) <= perEnd {
		return all
	}
	return slices.Concat(all[:perEnd/2], all[len(all)-perEnd/2:])
}
