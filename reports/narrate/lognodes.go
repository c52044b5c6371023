package narrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// controllerManager is the component that makes nodes Unknown.
const controllerManager = "kube-controller-manager"

// silent is what is said of its log, where nodes became Unknown and it names none of them.
const silent = controllerManager + " logs nothing of a node that becomes Unknown at the verbosity of the rig. In its place, the record has these changes of the condition Ready:"

// maxChanges is how many changes of nodes are shown.
const maxChanges = 12

// readyChange is that the condition Ready of nodes changed, of several at about one time.
type readyChange struct {
	at       float64
	from, to string
	reason   string
	nodes    []string
}

// nodeChanges are the changes of the condition Ready until a time.
func (b *builder) nodeChanges(until float64) (all []readyChange) {
	was := make(map[string]string)
	for _, v := range b.Versions {
		at, ready := b.at(v.Time), v.Condition("Ready")
		if v.Key != "nodes/"+v.Name || v.Cluster != "" || at > until || ready.Type == "" {
			continue
		}
		before, now := was[v.Name], string(ready.Status)
		was[v.Name] = now
		if before == "" || before == now {
			continue
		}
		all = joinedChange(all, readyChange{at, before, now, ready.Reason, []string{v.Name}})
	}
	return all
}

// joinedChange adds a change to the last one if it is the same, of another node.
func joinedChange(all []readyChange, c readyChange) []readyChange {
	if n := len(all); n > 0 && c.at-all[n-1].at < settling && c.from == all[n-1].from && c.to == all[n-1].to && c.reason == all[n-1].reason {
		all[n-1].nodes = append(all[n-1].nodes, c.nodes...)
		return all
	}
	return append(all, c)
}

// line says a change in words.
func (c readyChange) line() Line {
	who := "node " + c.nodes[0]
	if len(c.nodes) > 1 {
		who = fmt.Sprintf("%d nodes, %s first", len(c.nodes), c.nodes[0])
	}
	return Line{At: c.at, Text: fmt.Sprintf("%s: Ready was %s, and is %s%s", who, c.from, c.to, because(c.reason)), Tone: unless(c.to == "True")}
}

// aboutNodes reports whether a check that decided is about nodes, or about what a watchdog
// decides by them.
func (b *builder) aboutNodes() bool {
	return slices.ContainsFunc(deciding(b.in.Result), func(c reports.Check) bool {
		return strings.Contains(c.Expected, "nodes") || aboutDependents(c)
	})
}

// withNodes has the log of the controller manager say how nodes changed, if some became Unknown
// and it names none of them.
func (b *builder) withNodes(logs []Log) []Log {
	if len(b.failures) == 0 || !b.aboutNodes() || len(b.Lives(controllerManager)) == 0 {
		return logs
	}
	changes := b.nodeChanges(slices.Max(b.failures) + after)
	at := slices.IndexFunc(logs, func(l Log) bool { return l.Component == controllerManager })
	if !slices.ContainsFunc(changes, func(c readyChange) bool { return c.to == "Unknown" }) || at >= 0 && names(logs[at], changes) {
		return logs
	}
	if at < 0 {
		at = len(logs)
		logs = append(logs, Log{Component: controllerManager, Path: b.logPath(controllerManager)})
	}
	logs[at].Silent = silent
	for _, c := range changes[max(0, len(changes)-maxChanges):] {
		logs[at].Nodes = append(logs[at].Nodes, c.line())
	}
	return logs
}

// logPath is where the log of a component is; empty if that is not known.
func (b *builder) logPath(component string) string {
	for _, l := range b.logFiles {
		if l.Component == component {
			return l.Path
		}
	}
	return ""
}

// names reports whether a log names a node that became Unknown.
func names(log Log, changes []readyChange) bool {
	return slices.ContainsFunc(changes, func(c readyChange) bool {
		return c.to == "Unknown" && slices.ContainsFunc(log.Lines, func(l Line) bool { return place(wholeNames(c.nodes), l.Text) != nil })
	})
}
