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

// said is a line of a log, with what there is to choose by.
type said struct {
	narrate.Line
	component string
	narrow    bool // it names what the expression names beside the object
}

// lines are those of logs that led to what a check found: none is later than its decision.
// Those come first that say that something is wrong, and then those next to the step that
// the check waited for, or to its decision. Where an expression names nothing, they are
// those of the window.
func (s sight) lines() Exhibit {
	near := s.until
	if step, is := s.trigger(); is && s.expects.Mode.Awaits() {
		near = step.From
	}
	all := s.candidates(near)
	rank := func(l said) int {
		switch {
		case l.narrow && l.Troubled():
			return 0
		case l.narrow || len(s.about.InLogs()) == 0 && l.Troubled():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b said) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(math.Abs(a.At-near), math.Abs(b.At-near)))
	})
	all = all[:min(len(all), maxLines)]
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Compare(a.At, b.At) })
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

// candidates are the lines about what the expression is about, from a time on if the check
// waited for what came of it.
func (s sight) candidates(near float64) (all []said) {
	from := 0.0
	if near < s.until {
		from = near - maxWindow
	}
	names, beside := s.about.InLogs(), s.about.Containers()
	if s.field != "" {
		beside = append(beside, s.field)
	}
	has := func(text string, words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	}
	for _, log := range s.Logs {
		for _, l := range log.Lines {
			nothing := len(names) == 0 && l.At+l.Within >= s.from-maxWindow
			if l.At >= from && l.At <= s.until && (nothing || has(l.Text, names) || s.field != "" && strings.Contains(l.Text, s.field)) {
				all = append(all, said{l, log.Component, has(l.Text, beside)})
			}
		}
	}
	return all
}
