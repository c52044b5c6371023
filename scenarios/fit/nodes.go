package fit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// nodesOf finds a node of the cluster for each of a cell's, or says why there is none. A node of
// the same name comes first.
func nodesOf(cell plan.Cell, on facts.Cluster) (map[string]facts.Node, []string) {
	m := matching{wanted: cell.Topology.Nodes, cluster: on.Nodes, text: textOf(cell), taken: make(map[int]int)}
	var reasons []string
	for i, n := range m.wanted {
		if !m.place(i, make(map[int]bool)) {
			reasons = append(reasons, fmt.Sprintf("no node of the cluster is free to be %s, which wants a kubelet of %s%s: %s",
				n.Name, asked(n.Version), withGates(n), m.why(n)))
		}
	}
	if len(reasons) > 0 {
		return nil, reasons
	}
	nodes := make(map[string]facts.Node)
	for at, i := range m.taken {
		nodes[m.wanted[i].Name] = m.cluster[at]
	}
	return nodes, nil
}

func withGates(n record.Node) string {
	if len(n.Gates) == 0 {
		return ""
	}
	return " with " + n.Gates.Flag()
}

// matching is a matching of nodes.
type matching struct {
	wanted  []record.Node
	cluster []facts.Node
	text    string      // what the scenario says
	taken   map[int]int // nodes of the cell by those of the cluster
}

// place finds a node for one of the cell, and another one for those that have to give way (by
// augmenting paths).
func (m matching) place(i int, tried map[int]bool) bool {
	for _, at := range m.order(m.wanted[i].Name) {
		if tried[at] || m.wrong(m.wanted[i], m.cluster[at]) != "" {
			continue
		}
		tried[at] = true
		other, taken := m.taken[at]
		if !taken || m.place(other, tried) {
			m.taken[at] = i
			return true
		}
	}
	return false
}

// order are the places of the cluster's nodes, that of a name first.
func (m matching) order(name string) (all []int) {
	for at, n := range m.cluster {
		if n.Name == name {
			all = slices.Insert(all, 0, at)
		} else {
			all = append(all, at)
		}
	}
	return all
}

// wrong is why a node of the cluster can't be one of the cell; empty if it can. It names no node:
// it stands in a report.
func (m matching) wrong(wanted record.Node, is facts.Node) string {
	switch {
	case is.Unusable != "":
		return "is " + is.Unusable
	case is.Name != wanted.Name && mentions(m.text, is.Name):
		return "has a name that the scenario uses for something else"
	default:
		return wrongKubelet(wanted, is)
	}
}

// wrongKubelet is why a node does not have a kubelet as it is wanted; empty if it has.
func wrongKubelet(wanted record.Node, is facts.Node) string {
	if !isAsked(wanted.Version, is.Version) {
		return "runs " + is.Version
	}
	return wrongGates(wanted.Gates, is.Gates)
}

// why is what is wrong with the nodes of the cluster, and with how many of them.
func (m matching) why(wanted record.Node) string {
	if len(m.cluster) == 0 {
		return "there is none"
	}
	count := make(map[string]int)
	var order []string
	for _, n := range m.cluster {
		why := m.wrong(wanted, n)
		if why == "" {
			why = "is taken by another node of the cell"
		}
		if count[why] == 0 {
			order = append(order, why)
		}
		count[why]++
	}
	var said []string
	for _, why := range order {
		said = append(said, fmt.Sprintf("%d %s", count[why], why))
	}
	return strings.Join(said, ", ")
}

// textOf is all text in which a cell may name something.
func textOf(cell plan.Cell) string {
	var text strings.Builder
	text.WriteString(cell.Text)
	for _, step := range cell.Steps {
		for _, object := range step.Action.Facts().Creates {
			body, err := json.Marshal(object)
			if err == nil { // it was decoded from JSON
				text.WriteString("\n")
				text.Write(body)
			}
		}
	}
	return text.String()
}

// Mentions reports, of a name or an address, whether a scenario has it in something that it says.
func Mentions(cell plan.Cell) func(name string) bool {
	text := textOf(cell)
	return func(name string) bool { return mentions(text, name) }
}

// mentions reports whether a text has a name that is not a part of a longer one.
func mentions(text, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		if Bounded(text, at+i, at+i+len(name)) {
			return true
		}
		at += i + 1
	}
	return false
}

// Bounded reports whether a part of a text is a name of its own there, and not a part of a longer
// one, such as node of node-1 or of node.example.
func Bounded(text string, from, to int) bool {
	before := from == 0 || !partOfName(text[from-1]) && (text[from-1] != '.' || from < 2 || !partOfName(text[from-2]))
	after := to == len(text) || !partOfName(text[to]) && (text[to] != '.' || to+1 == len(text) || !partOfName(text[to+1]))
	return before && after
}

func partOfName(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
