package finding

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// history is that of the field that the check is about: which server wrote or showed each value. Without one, it is
// the last state of the container that the expression names.
func (s view) history() Exhibit {
	left := map[narrate.Tone]string{narrate.Bad: " (lost here)", narrate.Changed: " (changed here)"}
	var lines []string
	for _, l := range s.looked.History {
		lines = append(lines, reports.Truncate(fmt.Sprintf("%7.3f s  %s: %s", l.At, l.Text, l.What), maxExhibit)+left[l.Tone])
	}
	if len(lines) > 0 {
		return Exhibit{Title: "History of the field", Text: strings.Join(lines, "\n")}
	}
	for _, o := range s.Objects {
		versions := reports.Only(o.Versions, func(v narrate.Version) bool { return v.At <= s.until && v.YAML != "" })
		if n := len(versions); s.about.HasObject(o.Key) && n > 0 {
			return s.item(versions[n-1].YAML, slices.Backward, fmt.Sprintf("in %s at %.1f s", o.Key, versions[n-1].At))
		}
	}
	return Exhibit{}
}

// manifest is the part of an object's spec that has a name in it which the expression has
// beside the object's own: a container with its probes.
func (s view) manifest() Exhibit {
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
func (s view) item(yaml string, order func([]string) iter.Seq2[int, string], where string) Exhibit {
	lines := strings.Split(strings.TrimRight(yaml, "\n"), "\n")
	for _, word := range s.about.Containers() {
		for i, line := range order(lines) {
			if strings.TrimLeft(line, " -") == "name: "+word {
				from, to := itemAround(lines, i)
				return Exhibit{word + " " + where, strings.Join(lines[from:min(to, from+maxItem)], "\n")}
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

// maxSetUp is how many lines of the plan are shown, and maxSetting how long one may be, in runes.
const (
	maxSetUp   = 60
	maxSetting = 1200
)

// setUp is what the plan says of the rig, and of what its servers answer.
func (s view) setUp() Exhibit {
	lines := slices.Clone(s.SetUp)
	for i, line := range lines {
		lines[i] = reports.Truncate(line, maxSetting)
	}
	return Exhibit{Title: "The rig, and what its servers answer", Text: strings.Join(lines[:min(len(lines), maxSetUp)], "\n")}
}
