package story

import (
	"slices"

	"github.com/skewrig/skewrig/reports/story"
)

// nodes are those that have kubelets.
type nodes struct{ lanes lanes }

func (n *nodes) saw(o observed) {
	l := n.lanes.named(story.ObjectState, o.key)
	if o.deleted() {
		l.ends(o.at)
		l.mark(o.at, "gone", "", story.Bad)
		return
	}
	status, reason, message, _ := condition(o.body, "Ready")
	s := story.Span{Label: "not Ready", Detail: reason + ": " + message}
	switch {
	case status == "True":
		s = story.Span{Label: "Ready", Tone: story.Good}
	case status == "Unknown":
		s.Label, s.Tone = "Unknown", story.Bad
	case slices.ContainsFunc(l.Spans, func(s story.Span) bool { return s.Label == "Ready" }) || l.open != nil && l.open.Label == "Ready":
		s.Tone = story.Bad
	}
	l.becomes(o.at, s)
}

// told takes the warnings about nodes into account. Their conditions are shown
// otherwise.
func (n *nodes) told(what happened) {
	if l := n.lanes.byName[string(story.ObjectState)+" nodes/"+what.name]; what.kind == "Node" && what.warning && l != nil {
		l.mark(what.at, what.reason, what.message, story.Bad)
	}
}
