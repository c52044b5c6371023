package narrate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

const (
	// maxText is how long a line of a log or a label may get that a program has
	// written, maxMessage a text of several lines, in bytes.
	maxText    = 320
	maxMessage = 1 << 10
)

// lanes are rows of the timeline, in the order of their first appearance. The
// zero value has none.
type lanes struct {
	all    []*lane
	byName map[string]*lane
}

// lane is a row that grows with time. What is the case is an open span.
type lane struct {
	Lane
	open *Span
}

// named is the lane of a name. It is made if there is none.
func (l *lanes) named(kind Kind, name string) *lane {
	if l.byName == nil {
		l.byName = make(map[string]*lane)
	}
	key := string(kind) + " " + name
	if l.byName[key] == nil {
		l.byName[key] = &lane{Lane: Lane{Name: name, Kind: kind}}
		l.all = append(l.all, l.byName[key])
	}
	return l.byName[key]
}

// until are the lanes, with what is still the case ended, and marks in time.
func (l *lanes) until(end float64) (all []Lane) {
	return reports.Each(l.all, func(one *lane) Lane { return one.until(end) })
}

func (l *lane) until(end float64) Lane {
	l.ends(end)
	slices.SortStableFunc(l.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	return l.Lane
}

// becomes opens a span. If it says the same as the one that is open, that one
// goes on.
func (l *lane) becomes(at float64, s Span) {
	if l.open != nil && l.open.Label == s.Label && l.open.Tone == s.Tone && l.open.Detail == s.Detail {
		return
	}
	l.ends(at)
	s.From = at
	l.open = &s
}

// ends ends the span that is open, if there is one.
func (l *lane) ends(at float64) {
	if l.open == nil {
		return
	}
	if l.open.To = at; at > l.open.From {
		l.Spans = append(l.Spans, *l.open)
	}
	l.open = nil
}

func (l *lane) mark(at float64, label, detail string, tone Tone) {
	l.Marks = append(l.Marks, Mark{At: at, Label: label, Detail: detail, Tone: tone})
}

// shortened is a text that a program has written, of a bounded length.
func shortened(text string, limit int) string {
	return reports.Truncate(strings.ToValidUTF8(text, "�"), limit)
}

// warn marks the warning of an Event object, if its object has a lane.
func (l *lanes) warn(object string, h timeline.Happening, at float64) {
	if row := l.byName[string(ObjectState)+" "+object]; row != nil {
		row.mark(at, h.Reason, h.Message, Warned)
	}
}
