package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports/narrate"
)

// maxLines is how many lines of logs are shown, and maxWindow how long before a window they
// may be, in seconds: stamps may be of whole seconds.
const (
	maxLines  = 8
	maxWindow = 1
)

// logLine is a line of a log, with how much it has to say: the least comes first.
type logLine struct {
	narrate.Line
	component string
	rank      int
}

// lines are those of logs that led to what a check found: none is later than its decision.
// Those come first that say that something is wrong, and then those next to the step that
// the check waited for, or to its decision. Where an expression names nothing, they are
// those of the window.
func (s view) lines() Exhibit {
	near, from := s.until, 0.0
	if step, is := s.acted(s.looked.From); is && s.expects.Mode.Awaits() {
		if near = step.From; near < s.until {
			from = near - maxWindow
		}
	}
	var all []logLine
	for _, log := range s.Logs {
		for _, l := range log.Lines {
			if rank := s.rank(l); rank >= 0 && l.At >= from && l.At <= s.until {
				all = append(all, logLine{l, log.Component, rank})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b logLine) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(math.Abs(a.At-near), math.Abs(b.At-near)))
	})
	all = all[:min(len(all), maxLines)]
	slices.SortStableFunc(all, func(a, b logLine) int { return cmp.Compare(a.At, b.At) })
	var lines []string
	for _, l := range all {
		when := fmt.Sprintf("%7.3f s", l.At)
		if l.Within > 0 {
			when = fmt.Sprintf("%.1f to %.1f s", l.At, l.At+l.Within)
		}
		lines = append(lines, fmt.Sprintf("%s  %s: %s", when, l.component, l.Text)) // it is bounded
	}
	return Exhibit{Title: "Log lines", Text: strings.Join(lines, "\n")}
}

// rank is how much a line has to say of what the expression is about. It is negative if that is nothing.
func (s view) rank(l narrate.Line) int {
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return word != "" && strings.Contains(l.Text, word) })
	}
	names := s.about.InLogs()
	ofField := has([]string{s.looked.Field})
	narrow := ofField || has(s.about.Containers())
	switch {
	case !ofField && !has(names) && (len(names) > 0 || l.At+l.Within < s.looked.From-maxWindow):
		return -1
	case narrow && l.Troubled():
		return 0
	case narrow || len(names) == 0 && l.Troubled():
		return 1
	}
	return 2
}
