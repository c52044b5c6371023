package finding

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// view is a narration, limited to what an expression is about.
type view struct {
	*narrate.Narration

	about      reports.Names
	expression string
	expects    reports.Expectation
	until      float64
	looked     narrate.Check // what the narration has of it
}

// versionLabel is the label of a span of a component that runs.
var versionLabel = regexp.MustCompile(`^(?:v\d|reference)`)

// ran is what ran until the check was decided, in the order in which it began to.
func (s view) ran() []string {
	type begun struct {
		at   float64
		line string
	}
	var all []begun
	for _, l := range s.Lanes {
		before := ""
		for _, span := range l.Spans {
			if l.Kind != narrate.Component || !versionLabel.MatchString(span.Label) || span.Label == before || span.From > s.until {
				continue
			}
			before = span.Label
			all = append(all, begun{span.From, fmt.Sprintf("%6.1f s  %s %s", span.From, l.Name, span.Label)})
		}
	}
	slices.SortStableFunc(all, func(a, b begun) int { return cmp.Compare(a.at, b.at) })
	return reports.Each(all, func(b begun) string { return b.line })
}

// How much evidence there is.
const (
	maxAttempts = 3
	maxWire     = 10
	maxItem     = 40  // lines of an object
	maxExhibit  = 300 // of a line, in runes
)

// exhibits are the evidence for a check, and for the one that passes and is most like it. The
// events come first, but if a check looks once, what it looked at.
func (s view) exhibits(twin reports.Check) []Exhibit {
	first, second := s.moments(), s.history()
	if s.expects.Mode == record.Now {
		first, second = second, first
	}
	all := []Exhibit{first, second, s.manifest(), s.attempts()}
	if twin.ID != "" {
		beside := view{Narration: s.Narration, about: s.named(twin.ID), expression: twin.Expected, until: s.until}.attempts()
		if beside.Title = "On the wire, of the check " + twin.ID + ", which passes"; beside.Text != s.attempts().Text {
			all = append(all, beside)
		}
	}
	return append(all, s.lines(), s.setUp())
}

// named is what a check names, by its id.
func (s view) named(check string) reports.Names {
	for _, c := range s.Checks {
		if c.ID == check {
			return c.Named
		}
	}
	return nil
}

// acted is the last step that did something before a time.
func (s view) acted(before float64) (last narrate.Step, is bool) {
	for _, step := range s.Steps {
		if step.From <= before && step.Acts {
			last, is = step, true
		}
	}
	return last, is
}

// attempts are a few of those of what the expression is about, of each kind the last; those
// that failed come first.
func (s view) attempts() Exhibit {
	about, _ := s.own()
	kinds := reports.Grouped(about, func(a narrate.Attempt) [3]string { return [3]string{a.Container, a.By, a.Observed} })
	slices.SortStableFunc(kinds, func(a, b []narrate.Attempt) int {
		bad := func(all []narrate.Attempt) int {
			if all[0].Tone == narrate.Bad {
				return 0
			}
			return 1
		}
		return cmp.Or(bad(a)-bad(b), len(b)-len(a))
	})
	var lines []string
	for _, of := range kinds[:min(len(kinds), maxAttempts)] {
		last := of[len(of)-1]
		lines = append(lines, reports.Truncate(fmt.Sprintf("%7.3f s  %s, %s: %s (one of %d)", last.At, last.Container, last.By, last.Observed, len(of)), maxExhibit))
		wire := s.WireOf(last)
		for _, w := range wire[:min(len(wire), maxWire)] {
			lines = append(lines, reports.Truncate("             "+strings.TrimSpace(w.What+": "+w.Text), maxExhibit))
		}
	}
	return Exhibit{Title: "On the wire", Text: strings.Join(lines, "\n")}
}

// own are the attempts of what the expression is about until the check was decided. Narrow
// says that it names one of the containers, or one that a probe is of: then it is these.
func (s view) own() (about []narrate.Attempt, narrow bool) {
	about = reports.Only(s.Attempts, func(a narrate.Attempt) bool { return a.At <= s.until && s.about.HasPodOf(a.Container) })
	if of := reports.Only(about, s.ofContainer); len(of) > 0 {
		return of, true
	}
	return about, false
}

// ofContainer reports whether an attempt is of a container that the expression names beside
// its pod.
func (s view) ofContainer(a narrate.Attempt) bool {
	by := strings.Fields(strings.NewReplacer(",", " ", ":", " ").Replace(a.By))
	return slices.ContainsFunc(s.about.Containers(), func(name string) bool { return path.Base(a.Container) == name || slices.Contains(by, name) })
}
