package finding

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/narrate"
)

// Case is a cell in which a check failed that no list has, with what a reader takes along
// in order to report it.
type Case struct {
	Cell  reports.Cell
	Check reports.Check
	// Headline says in words what is wrong.
	Headline string
	// Cause is what happened, in sentences, and Window what came of the check in time. If
	// unset, nothing is known but its value.
	Cause, Window string
	// Again is the command that runs the cell.
	Again string
	// Ran is what ran, a line each: with the times at which it began to, if these are known.
	Ran []string
	// Kin are the recorded deviations that the check has to do with, Holds the other cells of
	// the scenario in which it passes.
	Kin   []reports.Kin
	Holds []string
	// Twin is the check of the same cell that passes and is most like it. If unset, none is
	// like it.
	Twin reports.Check
	// Others are what the check came to in each cell of the scenario, this one included.
	Others []Seen
	// Exhibits are the evidence.
	Exhibits []Exhibit
}

// Seen is what a check came to in a cell.
type Seen struct {
	Axes    map[string]string
	Outcome reports.Outcome
}

// Exhibit is a piece of evidence.
type Exhibit struct {
	Title string
	// Text has lines; Diff says that those are of a difference.
	Text string
	Diff bool
}

// NewCase gathers what is known of a check that failed in a cell of a run, as a finding is
// about. The narration is nil if nothing was recorded.
func NewCase(run evidence.Run, f Finding, c reports.Cell, check reports.Check, n *narrate.Narration) Case {
	of := Case{
		Cell: c, Check: check, Headline: headline(seen{c, check}, f.Statement), Again: again(run, c.ID),
		Kin: run.Report.KinOf(c, check), Holds: run.Report.HoldsIn(c, check), Twin: twinOf(c, check),
	}
	if len(of.Kin) > 0 && of.Kin[0].SameCheck {
		of.Headline = fmt.Sprintf("%s, also with %s", of.Kin[0].Finding.Headline, strings.Join(valuesOf(c), ", "))
	}
	for _, other := range run.Report.Cells {
		i := slices.IndexFunc(other.Checks, func(k reports.Check) bool { return k.ID == check.ID && k.Outcome.Judged() })
		if i >= 0 && c.Scenario != "" && other.Scenario == c.Scenario {
			of.Others = append(of.Others, Seen{other.Axes, other.Checks[i].Outcome})
		}
	}
	if n == nil {
		of.Ran = courseOf(run.Facts[c.ID])
		return of
	}
	s := sight{Narration: n, about: subjectsOf(check.Expected), expression: check.Expected, until: n.Seconds}
	if i := slices.IndexFunc(n.Checks, func(k narrate.Check) bool { return k.ID == check.ID }); i >= 0 {
		of.Cause, of.Window = n.Checks[i].Cause, n.Checks[i].Summary
		s.from, s.until = n.Checks[i].From, n.Checks[i].To
	}
	of.Ran = s.ran()
	for _, e := range []Exhibit{s.difference(), s.moments(), s.attempts(), s.lines()} {
		if e.Text != "" {
			of.Exhibits = append(of.Exhibits, e)
		}
	}
	return of
}

// valuesOf are the values that make a cell, with the names of their axes.
func valuesOf(c reports.Cell) (all []string) {
	for _, axis := range slices.Sorted(maps.Keys(c.Axes)) {
		all = append(all, axis+" "+c.Axes[axis])
	}
	return all
}

// courseOf is what each component was, one after the other.
func courseOf(facts evidence.Facts) (all []string) {
	for _, c := range facts.Components {
		var was []string
		for _, s := range c.Starts {
			was = append(was, started(s))
		}
		all = append(all, c.Name+" "+strings.Join(was, ", then "))
	}
	return all
}

func started(s evidence.Start) string {
	gates := new(course)
	for gate, on := range s.Gates {
		gates.add(map[bool]string{true: "on", false: "off"}[on], gate)
	}
	if said := gates.String(); said != "" {
		return s.Version + " with " + said
	}
	return s.Version
}

// maxTwins is in how many words a check may differ from its twin.
const maxTwins = 2

// literal is a text or a number in an expression, token what an expression is made of.
var (
	literal = regexp.MustCompile(`^(?:"[^"]*"|\d.*|true|false)$`)
	token   = regexp.MustCompile(`"[^"]*"|[A-Za-z0-9_.]+|\S`)
)

// twinOf is the check of a cell that passes, and expects the same but for a text or a number
// or two.
func twinOf(c reports.Cell, check reports.Check) (twin reports.Check) {
	best := maxTwins + 1
	own := token.FindAllString(check.Expected, -1)
	for _, k := range c.Checks {
		other := token.FindAllString(k.Expected, -1)
		if k.Outcome != reports.Pass || k.Expected == check.Expected || len(other) != len(own) {
			continue
		}
		apart := 0
		for i := range own {
			switch {
			case own[i] == other[i]:
			case literal.MatchString(own[i]) && literal.MatchString(other[i]):
				apart++
			default:
				apart = best
			}
		}
		if apart < best {
			best, twin = apart, k
		}
	}
	return twin
}

// subjects are the names in an expression.
type subjects struct {
	// keys are those of what it looks at: pods["web"]. Words are all texts in it.
	keys, words []string
	// fields are those that it looks at, the last one first.
	fields []string
}

var (
	subjectKey = regexp.MustCompile(`\["([^"]+)"\]`)
	quotedText = regexp.MustCompile(`"([^"]+)"`)
	field      = regexp.MustCompile(`\.([a-zA-Z]+)(\(?)`)
)

func subjectsOf(expression string) (s subjects) {
	for _, m := range subjectKey.FindAllStringSubmatch(expression, -1) {
		s.keys = append(s.keys, strings.Split(m[1], "/")...)
	}
	for _, m := range quotedText.FindAllStringSubmatch(expression, -1) {
		s.words = append(s.words, strings.Split(m[1], "/")...)
	}
	for _, m := range field.FindAllStringSubmatch(expression, -1) {
		if m[2] == "" { // not a function
			s.fields = append(s.fields, m[1])
		}
	}
	slices.Reverse(s.fields)
	return s
}

// names reports whether a name, such as default/web/app, has a key's in it.
func (s subjects) names(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(s.keys, part) })
}

// sight is a narration, looked at for what an expression is about.
type sight struct {
	*narrate.Narration

	about       subjects
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
	case narrate.Agent, narrate.ObjectState:
		if s.about.names(l.Name) {
			return true
		}
		return strings.Contains(s.expression, "dependents") && strings.HasPrefix(l.Name, "seed/deployments/")
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
		if a.At <= s.until && s.about.names(a.Container) {
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
	return slices.ContainsFunc(s.about.words, func(word string) bool {
		isPod := slices.Contains(s.about.keys, word) && path.Base(a.Container) != word
		return !isPod && (path.Base(a.Container) == word || slices.Contains(by, word))
	})
}

// lines are those of logs that name what the expression is about, up to when the check was
// decided. Where an expression names nothing, they are those of the window.
func (s sight) lines() Exhibit {
	var lines []string
	for _, log := range s.Logs {
		for _, l := range log.Lines {
			named := slices.ContainsFunc(s.about.keys, func(key string) bool { return strings.Contains(l.Text, key) })
			switch nothing := len(s.about.keys) == 0; {
			case nothing && (l.At < s.from-1 || l.At > s.until+1): // stamps may be of whole seconds
			case !nothing && (!named || l.At > s.until):
			default:
				lines = append(lines, bounded(fmt.Sprintf("%7.3f s  %s: %s", l.At, log.Component, l.Text)))
			}
		}
	}
	return Exhibit{Title: "Log lines", Text: strings.Join(lines[max(0, len(lines)-maxLines):], "\n")}
}

// difference is what an object that the expression names shows: the part of it that the
// expression names too, or how a field changed that it looks at; if that never changed, the
// object as far as it has the field.
func (s sight) difference() Exhibit {
	for _, o := range s.Objects {
		if !s.about.names(o.Key) {
			continue
		}
		versions := slices.DeleteFunc(slices.Clone(o.Versions), func(v narrate.Version) bool { return v.At > s.until || v.YAML == "" })
		if len(versions) == 0 {
			continue
		}
		last := versions[len(versions)-1]
		if e := s.member(o.Key, last); e.Text != "" {
			return e
		}
		for _, name := range s.about.fields {
			if e := s.changed(o.Key, name, versions); e.Text != "" {
				return e
			}
		}
		return s.part(o.Key, last)
	}
	return Exhibit{}
}

// plain are fields that each object has, and that change without a meaning.
var plain = []string{"metadata", "status", "spec", "name", "type", "size"}

// maxChanges is how many changes of a field are shown.
const maxChanges = 3

// changed is the last changes of a field.
func (s sight) changed(key, field string, versions []narrate.Version) Exhibit {
	var changes []string
	for i := 1; i < len(versions) && !slices.Contains(plain, field); i++ {
		lines := diffOf(versions[i-1].YAML, versions[i].YAML)
		if slices.ContainsFunc(lines, func(line string) bool { return line[0] != ' ' && hasField(line[1:], field) }) {
			changes = append(changes, fmt.Sprintf("# %.1f s, in step %d\n%s", versions[i].At, versions[i].Step, strings.Join(around(lines, field), "\n")))
		}
	}
	changes = changes[max(0, len(changes)-maxChanges):]
	return Exhibit{Title: fmt.Sprintf("How %s changed in %s", field, key), Text: strings.Join(changes, "\n"), Diff: true}
}

// member is the last part of an object that has a name in it which the expression has beside
// the object's own: that of a container in a pod's status.
func (s sight) member(key string, v narrate.Version) Exhibit {
	lines := strings.Split(strings.TrimRight(v.YAML, "\n"), "\n")
	for _, word := range s.about.words {
		if slices.Contains(s.about.keys, word) {
			continue
		}
		for i, line := range slices.Backward(lines) {
			if strings.TrimLeft(line, " -") == "name: "+word {
				from, to := itemAround(lines, i)
				return Exhibit{Title: fmt.Sprintf("%s in %s at %.1f s", word, key, v.At), Text: strings.Join(lines[from:min(to, from+maxDiff)], "\n")}
			}
		}
	}
	return Exhibit{}
}

// itemAround is where the item of a list begins and ends that a line is in.
func itemAround(lines []string, at int) (from, to int) {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	isItem := func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "- ") }
	own := indent(lines[at])
	if isItem(lines[at]) {
		own += 2
	}
	for from = at; from > 0 && (!isItem(lines[from]) || indent(lines[from]) != own-2); {
		from--
	}
	for to = at + 1; to < len(lines) && indent(lines[to]) >= own; {
		to++
	}
	return from, to
}

func hasField(line, field string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, " -"), field+":")
}

// part is the part of an object that has one of the fields.
func (s sight) part(key string, v narrate.Version) Exhibit {
	lines := strings.Split(strings.TrimRight(v.YAML, "\n"), "\n")
	for _, name := range s.about.fields {
		at := slices.IndexFunc(lines, func(line string) bool { return hasField(line, name) })
		if at < 0 || slices.Contains(plain, name) {
			continue
		}
		return Exhibit{Title: fmt.Sprintf("%s in %s at %.1f s", name, key, v.At), Text: strings.Join(lines[max(0, at-3):min(len(lines), at+12)], "\n")}
	}
	return Exhibit{}
}

// contextLines is how many lines there are around one that differs.
const contextLines = 3

// around are the lines of a difference near those of a field.
func around(lines []string, field string) (near []string) {
	keep := make([]bool, len(lines))
	for i, line := range lines {
		if line[0] != ' ' && hasField(line[1:], field) {
			for k := max(0, i-contextLines); k <= min(len(lines)-1, i+contextLines); k++ {
				keep[k] = true
			}
		}
	}
	for i, line := range lines {
		switch {
		case keep[i] && len(near) < maxDiff:
			near = append(near, bounded(line))
		case i > 0 && keep[i-1] && len(near) < maxDiff:
			near = append(near, " …")
		}
	}
	return near
}

// diffOf is a difference of two texts, line by line: "+", "-" or a space, and the line.
func diffOf(before, after string) (lines []string) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	same := make([][]int, len(a)+1)
	for i := range same {
		same[i] = make([]int, len(b)+1)
	}
	for i, from := range slices.Backward(a) {
		for k, to := range slices.Backward(b) {
			if same[i][k] = max(same[i+1][k], same[i][k+1]); from == to {
				same[i][k] = same[i+1][k+1] + 1
			}
		}
	}
	for i, k := 0, 0; i < len(a) || k < len(b); {
		switch {
		case i < len(a) && k < len(b) && a[i] == b[k]:
			lines = append(lines, " "+a[i])
			i, k = i+1, k+1
		case k == len(b) || i < len(a) && same[i+1][k] >= same[i][k+1]:
			lines = append(lines, "-"+a[i])
			i++
		default:
			lines = append(lines, "+"+b[k])
			k++
		}
	}
	return lines
}
