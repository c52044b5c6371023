package finding

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// fieldsOf are the fields that an expression looks at, the last one first.
func fieldsOf(expression string) (fields []string) {
	for _, m := range field.FindAllStringSubmatch(expression, -1) {
		if m[2] == "" { // not a function
			fields = append(fields, m[1])
		}
	}
	slices.Reverse(fields)
	return fields
}

var field = regexp.MustCompile(`\.([a-zA-Z]+)(\(?)`)

// sight is a narration, looked at for what an expression is about.
type sight struct {
	*narrate.Narration

	about       reports.Names
	expression  string
	from, until float64
}

// versionLabel is the label of a span of a component that runs.
var versionLabel = regexp.MustCompile(`^(?:v\d|reference)`)

// ran is what ran until the check was decided, in the order in which it began to.
func (s sight) ran() []string {
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
	var lines []string
	for _, b := range all {
		lines = append(lines, b.line)
	}
	return lines
}

// How much evidence there is.
const (
	maxMoments  = 8
	maxAttempts = 3
	maxWire     = 10
	maxLines    = 6
	maxDiff     = 40
	maxExhibit  = 300 // of a line, in runes
)

func bounded(line string) string {
	runes := []rune(line)
	if len(runes) <= maxExhibit {
		return line
	}
	return string(runes[:maxExhibit]) + "…"
}

// concerns reports whether a lane is of what the expression is about. What a watchdog does
// has no names in expressions.
func (s sight) concerns(l narrate.Lane) bool {
	switch l.Kind {
	case narrate.Agent:
		return slices.Contains(s.about.Of("watches", "podsAPI", "polls"), path.Base(l.Name))
	case narrate.ObjectState:
		return s.about.HasObject(l.Name) || strings.Contains(s.expression, "dependents") && strings.HasPrefix(l.Name, "seed/deployments/")
	case narrate.Link:
		return strings.Contains(s.expression, "dependents") || strings.Contains(s.expression, "calls")
	}
	return false
}

// moments are the last things that happened to what the expression is about, until the check
// was decided.
func (s sight) moments() Exhibit {
	type moment struct {
		at   float64
		text string
	}
	var all []moment
	add := func(at float64, lane narrate.Lane, label, detail string) {
		if at > s.until {
			return
		}
		text := lane.Name + ": " + label
		if first, _, _ := strings.Cut(detail, "\n"); first != "" {
			text += " (" + first + ")"
		}
		all = append(all, moment{at, text})
	}
	for _, l := range s.Lanes {
		if !s.concerns(l) {
			continue
		}
		for _, m := range l.Marks {
			add(m.At, l, m.Label, m.Detail)
		}
		for _, span := range l.Spans {
			if l.Kind == narrate.ObjectState {
				add(span.From, l, span.Label, span.Detail)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	var lines []string
	seen := make(map[string]bool)
	for _, m := range slices.Backward(all) {
		if seen[m.text] || len(lines) == maxMoments {
			continue
		}
		seen[m.text] = true
		lines = append(lines, bounded(fmt.Sprintf("%7.3f s  %s", m.at, m.text)))
	}
	slices.Reverse(lines)
	return Exhibit{Title: fmt.Sprintf("What happened last, until the check was decided at %.1f s", s.until), Text: strings.Join(lines, "\n")}
}

// attempts are a few of those of what the expression is about, of each kind the last; those
// that failed come first.
func (s sight) attempts() Exhibit {
	var about []narrate.Attempt
	for _, a := range s.Attempts {
		if a.At <= s.until && s.about.HasPodOf(a.Container) {
			about = append(about, a)
		}
	}
	// If the expression names one of the containers, or one that a probe is of, it is these.
	if narrow := slices.DeleteFunc(slices.Clone(about), func(a narrate.Attempt) bool { return !s.ofContainer(a) }); len(narrow) > 0 {
		about = narrow
	}
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
		lines = append(lines, bounded(fmt.Sprintf("%7.3f s  %s, %s: %s (one of %d)", last.At, last.Container, last.By, last.Observed, len(of))))
		wire := last.Wire
		if last.Like > 0 && last.Like <= len(s.Attempts) {
			wire = s.Attempts[last.Like-1].Wire
		}
		for _, w := range wire[:min(len(wire), maxWire)] {
			lines = append(lines, bounded("             "+strings.TrimSpace(w.What+": "+w.Text)))
		}
	}
	return Exhibit{Title: "On the wire", Text: strings.Join(lines, "\n")}
}

// ofContainer reports whether an attempt is of a container that the expression names beside
// its pod.
func (s sight) ofContainer(a narrate.Attempt) bool {
	by := strings.Fields(strings.NewReplacer(",", " ", ":", " ").Replace(a.By))
	return slices.ContainsFunc(s.about.Containers(), func(name string) bool { return path.Base(a.Container) == name || slices.Contains(by, name) })
}

// lines are those of logs that name what the expression is about, up to when the check was
// decided. Where an expression names nothing, they are those of the window.
func (s sight) lines() Exhibit {
	var lines []string
	names := s.about.InLogs()
	for _, log := range s.Logs {
		for _, l := range log.Lines {
			named := slices.ContainsFunc(names, func(name string) bool { return strings.Contains(l.Text, name) })
			switch nothing := len(names) == 0; {
			case nothing && (l.At < s.from-1 || l.At > s.until+1): // stamps may be of whole seconds
			case !nothing && (!named || l.At > s.until):
			default:
				lines = append(lines, bounded(fmt.Sprintf("%7.3f s  %s: %s", l.At, log.Component, l.Text)))
			}
		}
	}
	return Exhibit{Title: "Log lines", Text: strings.Join(lines[max(0, len(lines)-maxLines):], "\n")}
}
