package narrate

import (
	"slices"
)

// nodes are those that have kubelets.
type nodes struct{ lanes lanes }

func (n *nodes) add(o observed) {
	l := n.lanes.named(ObjectState, o.Key)
	if o.Gone() {
		l.ends(o.at)
		l.mark(o.at, "gone", "", Bad)
		return
	}
	status, reason, message, _ := condition(o.body, "Ready")
	s := Span{Label: "not Ready", Detail: reason + ": " + message}
	switch {
	case status == "True":
		s = Span{Label: "Ready", Tone: Good}
	case status == "Unknown":
		s.Label, s.Tone = "Unknown", Bad
	case slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Label == "Ready" }) || l.open != nil && l.open.Label == "Ready":
		s.Tone = Bad
	}
	l.becomes(o.at, s)
}

// news takes the warnings about nodes into account. Their conditions are shown
// otherwise.
func (n *nodes) news(what news) {
	if l := n.lanes.byName[string(ObjectState)+" nodes/"+what.name]; what.kind == "Node" && what.warning && l != nil {
		l.mark(what.at, what.reason, what.message, Bad)
	}
}
