package narrate

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// members are the objects that an expression counts by how their names begin.
type members struct {
	what    string // "ReplicaSets of Deployment web"
	owner   string // the key of what they are made from; empty if that is not one object
	numbers []numbered
}

// numbered is how many there were from a time on.
type numbered struct {
	at float64
	n  int
}

// countedMembers are the objects that a check counts by how their names begin. They have no numbers
// if it counts none so, or if none was ever seen.
func (t failedCheck) countedMembers() members {
	for _, n := range t.named {
		if n.Object != "" || !strings.Contains(t.Expected, fmt.Sprintf("startsWith(%q)", n.Text)) {
			continue
		}
		switch n.Variable {
		case "history":
			return t.b.membersOf(n.Text, true)
		case "objects":
			return t.b.membersOf(n.Text, false)
		case "pods":
			return t.b.membersOf(reports.PodKey(n.Text), false)
		}
	}
	return members{}
}

// membersOf are the objects whose keys begin so: all that ever were, or those that are there.
func (b *builder) membersOf(beginning string, ever bool) (m members) {
	there, owners := make(map[string]bool), make(map[string]bool)
	kind, count := "", 0
	for _, v := range b.Versions {
		if v.Cluster != "" || v.Static() || !strings.HasPrefix(v.Key, beginning) || v.Gone() && ever || there[v.Key] == !v.Gone() {
			continue
		}
		there[v.Key] = !v.Gone()
		kind = cmp.Or(kind, kindOf(v))
		if v.Gone() {
			count--
		} else {
			owners[b.topOwner(v.Key)] = true
			count++
		}
		m.numbers = append(m.numbers, numbered{b.at(v.Time), count})
	}
	if len(m.numbers) == 0 {
		return members{}
	}
	if len(owners) == 1 {
		for owner := range owners {
			m.owner = owner
		}
	}
	m.what = kind + "s whose names begin with " + path.Base(beginning)
	if states := b.States(m.owner); len(states) > 0 {
		m.what = fmt.Sprintf("%ss of %s %s", kind, kindOf(states[0]), strings.TrimPrefix(states[0].Namespace+"/"+states[0].Name, "default/"))
	}
	return m
}

// topOwner is the key of what an object was made from, and that in turn; empty if that is not
// known.
func (b *builder) topOwner(key string) (top string) {
	for {
		owners := b.ownersOf(key)
		if len(owners) != 1 || owners[0] == top {
			return top
		}
		top, key = owners[0], owners[0]
	}
}

// kindOf is what an object is.
func kindOf(v *timeline.Version) string {
	return cmp.Or(v.Workload().Kind, strings.TrimSuffix(v.Resource, "s"))
}

// isCount reports whether a comparison is of how many members there are that a check counts by
// how their names begin.
func (t failedCheck) isCount(c Compared) bool {
	return len(t.members.numbers) > 0 && counted.MatchString(c.What)
}

// number is how many there were at a time.
func (m members) number(at float64) (n int) {
	for _, one := range m.numbers {
		if one.at <= at {
			n = one.n
		}
	}
	return n
}

// last is how many there were in the end, and since when.
func (m members) last() numbered { return m.numbers[len(m.numbers)-1] }

// wentOn is how many there were in the end, if that changed after a check was decided.
func (t failedCheck) wentOn() string {
	m := t.members
	if len(m.numbers) == 0 || m.last().at <= t.to || m.last().n == m.number(t.to) {
		return ""
	}
	return fmt.Sprintf("; by %s, there were %d", moment(m.last().at), m.last().n)
}

// countedInList are the first number and the last one of many that a check counts, and the one that
// it was decided by.
func (t failedCheck) countedInList() (lines []Line) {
	m := t.members
	if len(m.numbers) == 0 {
		return nil
	}
	add := func(of numbered, note string) {
		lines = append(lines, Line{At: of.at, Text: fmt.Sprintf("%s: %d%s", m.what, of.n, note)})
	}
	in := reports.Only(m.numbers, func(one numbered) bool { return t.from < one.at && one.at <= t.to })
	if len(in) > 0 {
		add(in[0], "")
	}
	if len(in) > 1 {
		add(in[len(in)-1], "")
	}
	if last := m.last(); last.at > t.to {
		add(last, ", after the check was decided")
	}
	return lines
}
