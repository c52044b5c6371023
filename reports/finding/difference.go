package finding

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// loss is the history of a field that was lost or changed: which server wrote or showed each value.
func (s sight) loss() Exhibit {
	left := map[narrate.Tone]string{narrate.Bad: " (lost here)", narrate.Changed: " (changed here)"}
	if !slices.ContainsFunc(s.history, func(l narrate.Line) bool { return left[l.Tone] != "" }) {
		return Exhibit{}
	}
	var lines []string
	for _, l := range s.history {
		lines = append(lines, reports.Truncate(fmt.Sprintf("%7.3f s  %s: %s", l.At, l.Text, l.What), maxExhibit)+left[l.Tone])
	}
	return Exhibit{Title: "History of the field", Text: strings.Join(lines, "\n")}
}

// difference is what an object that the expression names shows: the part of it that the
// expression names too, or how a field changed that it looks at; if that never changed, the
// object as far as it has the field.
func (s sight) difference() Exhibit {
	for _, o := range s.Objects {
		if !s.about.HasObject(o.Key) {
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
		for _, name := range fieldsOf(s.expression) {
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
	return s.item(v.YAML, slices.Backward, fmt.Sprintf("in %s at %.1f s", key, v.At))
}

// manifest is the part of an object's spec that has a name in it which the expression has
// beside the object's own: a container with its probes.
func (s sight) manifest() Exhibit {
	for _, o := range s.Objects {
		if !s.about.HasObject(o.Key) || len(o.Versions) == 0 {
			continue
		}
		spec, _, _ := strings.Cut(o.Versions[0].YAML, "\nstatus:")
		if e := s.item(spec, slices.All, "in the manifest of "+o.Key); e.Text != "" {
			return e
		}
	}
	return Exhibit{}
}

// item is the item of a list that has the name of a container which the expression names: the
// first one in an order of lines. Where says in what it is.
func (s sight) item(yaml string, order func([]string) iter.Seq2[int, string], where string) Exhibit {
	lines := strings.Split(strings.TrimRight(yaml, "\n"), "\n")
	for _, word := range s.about.Containers() {
		for i, line := range order(lines) {
			if strings.TrimLeft(line, " -") == "name: "+word {
				from, to := itemAround(lines, i)
				return Exhibit{Title: word + " " + where, Text: strings.Join(lines[from:min(to, from+maxDiff)], "\n")}
			}
		}
	}
	return Exhibit{}
}

// maxSetUp is how many lines of the plan are shown, and maxSetting how long one may be, in runes.
const (
	maxSetUp   = 60
	maxSetting = 1200
)

// setUp is what the plan says of the rig, and of what its servers answer.
func (s sight) setUp() Exhibit {
	lines := slices.Clone(s.SetUp)
	for i, line := range lines {
		lines[i] = reports.Truncate(line, maxSetting)
	}
	return Exhibit{Title: "The rig, and what its servers answer", Text: strings.Join(lines[:min(len(lines), maxSetUp)], "\n")}
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
	for _, name := range fieldsOf(s.expression) {
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
			near = append(near, reports.Truncate(line, maxExhibit))
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
