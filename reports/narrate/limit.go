package narrate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// limiter makes a narration shorter, and says in it what is left out. Its marks stand
// for attempts by their place among all.
type limiter struct {
	Narration

	b        *builder
	limit    int
	all      []attempt           // those that are gone, too
	relevant func(*attempt) bool // whether a check that does not hold is about an attempt
	subjects []string            // of the texts in Omitted
}

// limited is the narration within a limit. Four passes shorten it, as far as that is
// necessary: what repeats goes first, then wire logs and attempts that no failure is
// about, and then all but so much of everything.
func (b *builder) limited(limit int) Narration {
	attempts, probes := b.attempts()
	lanes := b.lanes(probes)
	var fields []Lane
	b.checks, fields = b.caused(lanes, attempts)
	plan := readPrinted(b.in.Printed, b.in.checkIDs())
	l := &limiter{b: b, limit: limit, all: attempts, relevant: b.relevant(attempts), Narration: Narration{
		Cell: b.in.Result.ID, Began: b.began.UTC(), Seconds: b.end, Plan: b.in.Printed, PlanLines: plan.lines, Steps: b.steps, Checks: b.checks,
		Lanes: besides(lanes, fields), Logs: b.logs(maxLogLines), About: b.aboutLogs(),
		Rig: plan.rig, SetUp: plan.setUp, SimulatedNodes: b.in.simulatedNodes(),
	}}
	l.mute()
	l.objectsTo(b.objects.affordable(limit), maxObjects)
	n := l.shown()
	for _, pass := range []func(){l.condense, l.keepWires, l.keepFailures, l.bound} {
		if length(n) <= limit {
			break
		}
		pass()
		n = l.shown()
	}
	return n
}

// mute makes a warning of each attempt that failed, as long as no check is about it that
// decided the outcome: a scenario has probes fail that are to fail. Of a cell that was not
// judged, nothing is known of that.
func (l *limiter) mute() {
	if l.b.in.Result.Outcome == "" {
		return
	}
	var names reports.Names
	decided := deciding(l.b.in.Result)
	for _, c := range decided {
		names = append(names, l.b.in.Named[c.ID]...)
	}
	about := relevantTo(l.all, names)
	for i := range l.all {
		if a := &l.all[i]; a.Tone == Bad && (len(decided) == 0 || !about(a)) {
			a.Tone = Warned
		}
	}
	for _, lane := range l.Lanes {
		for i := range lane.Marks {
			if m := &lane.Marks[i]; m.Attempt > 0 {
				m.Tone = l.all[m.Attempt-1].Tone
			}
		}
	}
}

// shown is the narration with the attempts that are left. One over whose wire the same
// went as over an earlier one's is like that one.
func (l *limiter) shown() Narration {
	n := l.Narration
	first, place := make(map[string]int), make([]int, len(l.all)) // from 1, of those that stay
	byID := make(map[int]int)
	for i, a := range l.all {
		switch {
		case a.gone:
			continue
		case len(a.Wire) == 0:
		case a.bare:
			a.Wire, a.LeftOut = nil, true
		case first[a.same] > 0:
			a.Wire, a.Like = a.own, first[a.same]
		default:
			first[a.same] = len(n.Attempts) + 1
		}
		if a.owner != a.Container {
			a.Probed = a.owner
		}
		a.Follows = byID[a.follows]
		n.Attempts = append(n.Attempts, a.Attempt)
		place[i] = len(n.Attempts)
		if a.id > 0 {
			byID[a.id] = place[i]
		}
	}
	n.Lanes = slices.Clone(n.Lanes)
	for i := range n.Lanes {
		n.Lanes[i].Marks = slices.Clone(n.Lanes[i].Marks)
		for j := range n.Lanes[i].Marks {
			if m := &n.Lanes[i].Marks[j]; m.Attempt > 0 {
				m.Attempt = place[m.Attempt-1]
			}
		}
	}
	return n
}

// leave leaves attempts out, and says how many.
func (l *limiter) leave(out func(*attempt) bool) (gone int) {
	for i := range l.all {
		if a := &l.all[i]; !a.gone && out(a) {
			a.gone = true
			gone++
		}
	}
	return gone
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
	gone := make(map[bool]int)
	for i := range l.Lanes {
		lane := &l.Lanes[i]
		gone[lane.Kind == Probe] += l.condensed(lane)
	}
	l.omitRecorded("repeated attempts", gone[true], "%s identical to their neighbours", reports.Counted(gone[true], "attempt"))
	l.omitRecorded("repeated moments", gone[false], "details of %s identical to their neighbours", reports.Counted(gone[false], "moment"))
	l.objectsTo(firstAndLast, maxObjects)
}

// keepWires leaves out the wire logs of attempts that no failing check is about, most
// objects and most log lines.
func (l *limiter) keepWires() {
	bare := 0
	for i := range l.all {
		if a := &l.all[i]; !a.gone && len(a.Wire) > 0 && !l.relevant(a) {
			a.bare = true
			bare++
		}
	}
	l.omitRecorded("wire", bare, "what went over the wire of %s", reports.Counted(bare, "attempt"))
	l.objectsTo(firstAndLast, 3)
	if len(l.Logs) > 0 {
		l.Logs = l.b.logs(maxKnownLines)
	}
}

// keepFailures leaves out attempts that did not fail and that no failing check is
// about, and details of what is not bad.
func (l *limiter) keepFailures() {
	gone := l.leave(func(a *attempt) bool { return !a.Tone.wrong() && !l.relevant(a) })
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
	if *detail == "" || tone.wrong() {
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
	l.Logs, l.Plan, l.PlanLines = nil, "", nil
	l.objectsTo(firstAndLast, 0)
	succeeded, seen := l.leave(func(a *attempt) bool { return !a.Tone.wrong() }), make(map[[3]string]bool)
	alike := l.leave(func(a *attempt) bool {
		kind := [3]string{a.Container, a.By, a.Observed}
		again := seen[kind] || len(seen) >= l.limit/perAttempt
		if !again {
			seen[kind] = true
		}
		return again
	})
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

// condensed makes spans of the marks of a lane that say the same, and says how
// many marks are gone, with their attempts.
func (l *limiter) condensed(lane *Lane) (gone int) {
	var marks []Mark
	for from, to := 0, 0; from < len(lane.Marks); from = to {
		first := lane.Marks[from]
		for to < len(lane.Marks) && lane.Marks[to].Label == first.Label && lane.Marks[to].Tone == first.Tone {
			to++
		}
		if to-from < run {
			marks = append(marks, lane.Marks[from:to]...)
			continue
		}
		last := lane.Marks[to-1]
		for _, m := range lane.Marks[from+1 : to-1] {
			if m.Attempt > 0 {
				l.all[m.Attempt-1].gone = true
			}
			gone++
		}
		marks = append(marks, first, last)
		lane.Spans = append(lane.Spans, Span{From: first.At, To: last.At, Label: fmt.Sprintf("%d times: %s", to-from, first.Label), Tone: first.Tone})
	}
	lane.Marks = marks
	return gone
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
		marks := slices.DeleteFunc(slices.Clone(lane.Marks), func(m Mark) bool {
			return (m.Attempt == 0 || l.all[m.Attempt-1].gone) && !slices.Contains(ends(lane.Marks), m)
		})
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
