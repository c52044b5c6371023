package narrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// turned are nodes whose condition Ready changed at about one time.
type turned struct {
	at      float64
	n       int
	ready   []string // what it became: Unknown
	settled float64  // when the last of them changed
}

// maxTurned is how many such times are shown.
const maxTurned = 4

// nodesTurned is when nodes got a condition other than Ready until the check was decided, the
// first ones first. Where the expression names conditions, it is those.
func (t failedCheck) nodesTurned() (all []turned) {
	type change struct {
		at    float64
		ready string
	}
	var changes []change
	for _, node := range t.b.Nodes {
		for i, c := range node.Changes {
			if i > 0 && c.At <= t.to && t.namesCondition(c.Ready) {
				changes = append(changes, change{c.At, c.Ready})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ready, b.ready)) })
	for _, c := range changes {
		if n := len(all); n == 0 || c.at-all[n-1].settled >= settling {
			all = append(all, turned{at: c.at})
		}
		last := &all[len(all)-1]
		last.n, last.settled = last.n+1, c.at
		if !slices.Contains(last.ready, c.ready) {
			last.ready = append(last.ready, c.ready)
		}
	}
	return all
}

// namesCondition reports whether a check may be about nodes with a condition Ready that is not
// True: it names this one, or none.
func (t failedCheck) namesCondition(ready string) bool {
	names := t.named.Of("")
	none := !slices.Contains(names, "Unknown") && !slices.Contains(names, "False")
	return ready != "True" && (none || slices.Contains(names, ready))
}

// turnedInWords says when nodes were no longer Ready, from the first ones on.
func (t failedCheck) turnedInWords() string {
	all := t.nodesTurned()
	if len(all) == 0 {
		return ""
	}
	first := fmt.Sprintf("%d of %s became %s at %s", all[0].n, reports.Counted(len(t.b.Nodes), "node"), strings.Join(all[0].ready, " or "), moment(all[0].at))
	said := []string{first + t.afterStep(all[0].at)}
	for _, more := range all[1:min(len(all), maxTurned)] {
		said = append(said, fmt.Sprintf("%d more at %s", more.n, moment(more.at)))
	}
	if rest := all[min(len(all), maxTurned):]; len(rest) > 0 {
		n := 0
		for _, more := range rest {
			n += more.n
		}
		said = append(said, fmt.Sprintf("%d more until %s", n, moment(rest[len(rest)-1].settled)))
	}
	return strings.Join(said, "; ")
}

// seenObjects is what was seen of the objects that a check counts.
func (t failedCheck) seenObjects() (lines []Line) {
	if !strings.Contains(t.Expected, "nodes") || slices.ContainsFunc(t.named, func(n reports.Named) bool { return n.Object != "" }) {
		return t.countedInList()
	}
	for i, one := range t.nodesTurned() {
		if i == maxTurned {
			break
		}
		text := fmt.Sprintf("%s became %s", reports.Counted(one.n, "node"), strings.Join(one.ready, " or "))
		if i > 0 {
			text = fmt.Sprintf("%d more became %s", one.n, strings.Join(one.ready, " or "))
		}
		if one.settled > one.at {
			text += fmt.Sprintf(", until %.1f s", one.settled)
		}
		lines = append(lines, Line{At: one.at, Text: text})
	}
	return lines
}
