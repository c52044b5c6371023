package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/story"
)

// cut makes a story shorter.
type cut struct {
	of string // what it is that is left out: a later cut of the same says it anew
	// do leaves something out, and says what; nothing if there was nothing.
	do func(*teller, *story.Story) string
}

// cuts are made one after the other until a story is short enough. What says the
// least about what went wrong goes first.
var cuts = []cut{
	objectsTo(lastOfStep, maxObjects), runs(story.Probe), objectsTo(firstAndLast, maxObjects), runs(""),
	withoutWire(others, good), logsTo(maxKnownLines), objectsTo(firstAndLast, 8), withoutDetails, objectsTo(firstAndLast, 3),
	withoutWire(others), onlyBadOrConcerned, withoutWire(good), onlyBad, objectsTo(firstAndLast, 0), logsTo(0), distinct, lanesTo(200, 60), lanesTo(200, 10), withoutPlan, withoutAttempts, lanesTo(60, 6), lanesTo(10, 4),
}

// fitting is a story within its budget.
func (t *teller) fitting(s story.Story) story.Story {
	budget := t.in.Budget
	if budget == 0 {
		budget = DefaultBudget
	}
	var order []string
	left := make(map[string]string)
	shorten := func(c cut) {
		what := c.do(t, &s)
		if what != "" && !slices.Contains(order, c.of) {
			order = append(order, c.of)
		}
		if what != "" {
			left[c.of] = what
		}
		s.Omitted = nil
		for _, of := range order {
			s.Omitted = append(s.Omitted, left[of])
		}
	}
	t.concerns = t.concerned(s.Attempts)
	shorten(objectsTo(t.objects.affordable(budget), maxObjects))
	for _, c := range cuts {
		if length(s) <= budget {
			break
		}
		shorten(c)
	}
	return s
}

func length(s story.Story) int {
	text, _ := json.Marshal(s) // texts and finite numbers can be encoded
	return len(text)
}

// HistoryPath is where the history of a cell is, below a report's directory, and
// LogsPath where its logs are.
func HistoryPath(id string) string { return path.Join(reports.RunDir(id, 1), reports.HistoryFile) }

// LogsPath is where the logs of a cell are, below a report's directory.
func LogsPath(id string) string { return path.Join(reports.RunDir(id, 1), reports.LogsDir) }

func (t *teller) inHistory(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + ": see " + HistoryPath(t.in.Cell.ID)
}

// objectsTo tells of so many objects with so much detail.
func objectsTo(d detail, most int) cut {
	return cut{"objects", func(t *teller, s *story.Story) string {
		if d < t.objects.told {
			return "" // less is told already
		}
		all, objects, versions := t.objects.tell(d, most)
		s.Objects = all
		var parts []string
		if objects > 0 {
			parts = append(parts, reports.Counted(objects, "object"))
		}
		if versions > 0 {
			parts = append(parts, reports.Counted(versions, "version")+" of objects in between")
		}
		if len(parts) == 0 {
			return ""
		}
		return t.inHistory("%s", strings.Join(parts, " and "))
	}}
}

// run is how many marks must say the same one after the other to become a span.
const run = 4

// runs makes spans of marks that say the same one after the other, in lanes of a
// kind or in all. The first and the last stay.
func runs(kind story.Kind) cut {
	return cut{"runs " + string(kind), func(t *teller, s *story.Story) string {
		keep := make([]bool, len(s.Attempts))
		for i := range keep {
			keep[i] = true
		}
		gone := 0
		for i := range s.Lanes {
			if l := &s.Lanes[i]; kind == "" || l.Kind == kind {
				gone += condense(l, keep)
			}
		}
		keepOnly(s, keep)
		switch {
		case gone == 0:
			return ""
		case kind == story.Probe:
			return t.inHistory("%s that went as the one before and the one after", reports.Counted(gone, "attempt"))
		default:
			return t.inHistory("details of %s like the one before and the one after", reports.Counted(gone, "moment"))
		}
	}}
}

// condense makes spans of the marks of a lane that say the same, and says how
// many marks are gone. Their attempts are not to be kept.
func condense(l *story.Lane, keep []bool) (gone int) {
	var marks []story.Mark
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
		l.Spans = append(l.Spans, story.Span{From: first.At, To: last.At, Label: fmt.Sprintf("%d times: %s", to-from, first.Label), Tone: first.Tone})
		from = to
	}
	l.Marks = marks
	return gone
}

// keepOnly takes attempts away. Who was like one of them has its wire now.
func keepOnly(s *story.Story, keep []bool) {
	place := make([]int, len(s.Attempts)) // from 1, of those that stay
	told := make(map[int]int)             // by who had the wire first: who has it now
	var kept []story.Attempt
	for i, a := range s.Attempts {
		if !keep[i] {
			continue
		}
		place[i] = len(kept) + 1
		from := i + 1
		if a.Like > 0 {
			from = a.Like
		}
		if now := told[from]; now > 0 {
			a.Like, a.Wire = now, nil
		} else {
			a.Like, a.Wire = 0, shifted(s.Attempts[from-1].Wire, a.At-s.Attempts[from-1].At)
			told[from] = place[i]
		}
		kept = append(kept, a)
	}
	s.Attempts = kept
	for i := range s.Lanes {
		for j := range s.Lanes[i].Marks {
			if m := &s.Lanes[i].Marks[j]; m.Attempt > 0 {
				m.Attempt = place[m.Attempt-1]
			}
		}
	}
}

// shifted are lines as they would be so much later.
func shifted(lines []story.Line, by float64) []story.Line {
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

// withoutWire leaves out what went over the wire of attempts that are all of what is
// given. They say so themselves.
func withoutWire(which ...func(*teller, story.Attempt) bool) cut {
	return cut{"wire", func(t *teller, s *story.Story) string {
		before := leftOut(*s)
		keep := make([]bool, len(s.Attempts))
		for i, a := range s.Attempts {
			keep[i] = slices.ContainsFunc(which, func(is func(*teller, story.Attempt) bool) bool { return !is(t, a) })
		}
		keepWire(s.Attempts, keep)
		all := leftOut(*s)
		if all == before {
			return ""
		}
		return t.inHistory("what went over the wire of %s", reports.Counted(all, "attempt"))
	}}
}

func leftOut(s story.Story) (count int) {
	for _, a := range s.Attempts {
		if a.LeftOut {
			count++
		}
	}
	return count
}

// keepWire takes away the wire of attempts. Who was like one of them has its wire
// now.
func keepWire(attempts []story.Attempt, keep []bool) {
	all := slices.Clone(attempts)
	told := make(map[int]int) // by who had the wire first: who has it now
	for i := range attempts {
		a := &attempts[i]
		from := cmp.Or(a.Like, i+1)
		switch first := all[from-1]; {
		case len(first.Wire) == 0:
		case !keep[i]:
			a.Wire, a.Like, a.LeftOut = nil, 0, true
		case told[from] > 0:
			a.Wire, a.Like = nil, told[from]
		default:
			a.Wire, a.Like = shifted(first.Wire, a.At-first.At), 0
			told[from] = i + 1
		}
	}
}

func good(_ *teller, a story.Attempt) bool { return a.Tone == story.Good }

// others are the attempts that no check is about that does not hold.
func others(t *teller, a story.Attempt) bool { return !t.concerns(a) }

// logsTo tells so many lines of each log.
func logsTo(limit int) cut {
	return cut{"logs", func(t *teller, s *story.Story) string {
		if len(s.Logs) == 0 {
			return ""
		}
		if limit == 0 {
			s.Logs = nil
			return "logs: see " + LogsPath(t.in.Cell.ID)
		}
		s.Logs = t.logs(limit)
		return ""
	}}
}

var withoutDetails = cut{"details", func(t *teller, s *story.Story) string {
	gone := 0
	for _, l := range s.Lanes {
		for i := range l.Spans {
			if l.Spans[i].Detail != "" && l.Spans[i].Tone != story.Bad {
				l.Spans[i].Detail = ""
				gone++
			}
		}
		for i := range l.Marks {
			if l.Marks[i].Detail != "" && l.Marks[i].Tone != story.Bad {
				l.Marks[i].Detail = ""
				gone++
			}
		}
	}
	if gone == 0 {
		return ""
	}
	return t.inHistory("details of %s of the timeline", reports.Counted(gone, "part"))
}}

// onlyBadOrConcerned keeps the attempts that did not go well, and those that a check
// is about that does not hold.
var onlyBadOrConcerned = cut{"attempts of others", func(t *teller, s *story.Story) string {
	return without(t, s, func(a story.Attempt) bool { return a.Tone == story.Bad || t.concerns(a) }, "that did not fail, and that no failing check is about")
}}

// onlyBad keeps the attempts that did not go well.
var onlyBad = cut{"attempts", func(t *teller, s *story.Story) string {
	return without(t, s, func(a story.Attempt) bool { return a.Tone == story.Bad }, "that did not fail")
}}

// distinct keeps of the attempts that failed one of each kind.
var distinct = cut{"attempts that failed", func(t *teller, s *story.Story) string {
	seen := make(map[[3]string]bool)
	return without(t, s, func(a story.Attempt) bool {
		kind := [3]string{a.Container, a.By, a.Observed}
		again := seen[kind]
		seen[kind] = true
		return !again
	}, "that failed as others did")
}}

var withoutAttempts = cut{"attempts that failed", func(t *teller, s *story.Story) string {
	return without(t, s, func(story.Attempt) bool { return false }, "that failed")
}}

func without(t *teller, s *story.Story, stays func(story.Attempt) bool, which string) string {
	keep, gone := make([]bool, len(s.Attempts)), 0
	for i, a := range s.Attempts {
		keep[i] = stays(a)
		if !keep[i] {
			gone++
		}
	}
	keepOnly(s, keep)
	if gone == 0 {
		return ""
	}
	return t.inHistory("%s %s", reports.Counted(gone, "attempt"), which)
}

// lanesTo keeps so many lanes, and of each but components so many spans and marks:
// those at its beginning and at its end. Lanes without anything bad go first, from
// the last.
func lanesTo(most, each int) cut {
	return cut{fmt.Sprintf("lanes to %d", most), func(t *teller, s *story.Story) string {
		gone := 0
		for i := len(s.Lanes) - 1; i >= 0 && len(s.Lanes) > most; i-- {
			if !isBad(s.Lanes[i]) {
				s.Lanes = slices.Delete(s.Lanes, i, i+1)
				gone++
			}
		}
		if over := len(s.Lanes) - most; over > 0 {
			s.Lanes = s.Lanes[:most]
			gone += over
		}
		moments := 0
		for i := range s.Lanes {
			l := &s.Lanes[i]
			if l.Kind == story.Component {
				continue // without them there is no telling what anything else means
			}
			moments += max(0, len(l.Spans)-each) + max(0, len(l.Marks)-each)
			l.Spans, l.Marks = ends(l.Spans, each), ends(l.Marks, each)
		}
		if gone+moments == 0 {
			return ""
		}
		return t.inHistory("%s, and %s of others", reports.Counted(gone, "lane"), reports.Counted(moments, "part"))
	}}
}

func isBad(l story.Lane) bool {
	return slices.ContainsFunc(l.Spans, func(s story.Span) bool { return s.Tone == story.Bad }) ||
		slices.ContainsFunc(l.Marks, func(m story.Mark) bool { return m.Tone == story.Bad })
}

// ends are the first and the last of a list.
func ends[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	return slices.Concat(all[:most/2], all[len(all)-most/2:])
}

var withoutPlan = cut{"plan", func(t *teller, s *story.Story) string {
	if s.Plan == "" {
		return ""
	}
	s.Plan = ""
	return "the plan: see " + path.Join(reports.RunDir(t.in.Cell.ID, 1), reports.PlanFile)
}}
