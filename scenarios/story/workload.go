package story

import (
	"fmt"

	"github.com/skewrig/skewrig/reports/story"
)

// workloads are the objects that pods are made from.
type workloads struct {
	lanes  lanes
	owners map[string]string // by uid
	known  map[string]bool   // uids
}

// saw shows a workload that nobody owns, and marks there what is made from it.
func (w *workloads) saw(o observed) {
	if w.owners == nil {
		w.owners, w.known = make(map[string]string), make(map[string]bool)
	}
	uid := text(o.body, "metadata", "uid")
	if owner := w.ownerOf(o); owner != "" {
		l := w.lanes.named(story.ObjectState, owner)
		switch {
		case o.deleted():
			l.mark(o.at, o.Name+" gone", "", "")
		case !w.known[uid]:
			l.mark(o.at, "makes "+o.Name, text(o.body, "kind"), story.Changed)
		}
		w.known[uid] = true
		return
	}
	l := w.lanes.named(story.ObjectState, o.key)
	w.owners[uid] = o.key
	if o.deleted() {
		l.ends(o.at)
		l.mark(o.at, "gone", "", "")
		return
	}
	l.becomes(o.at, replicas(o.body))
}

func (w *workloads) ownerOf(o observed) string {
	for _, owner := range list(o.body, "metadata", "ownerReferences") {
		if name := w.owners[text(owner, "uid")]; name != "" {
			return name
		}
	}
	return ""
}

// replicas is how many of a workload's pods there are to be, and how many are
// ready. One that has no replicas is there, and no more.
func replicas(body map[string]any) story.Span {
	wanted, has := number(body, "spec", "replicas")
	ready, _ := number(body, "status", "readyReplicas")
	if !has { // of a DaemonSet
		wanted, has = number(body, "status", "desiredNumberScheduled")
		ready, _ = number(body, "status", "numberReady")
	}
	if !has {
		return story.Span{Label: "is there"}
	}
	updated, told := number(body, "status", "updatedReplicas")
	s := story.Span{Label: fmt.Sprintf("%d of %d ready", ready, wanted)}
	if told && updated != wanted {
		s.Label += fmt.Sprintf(", %d updated", updated)
	}
	if ready >= wanted && wanted > 0 {
		s.Tone = story.Good
	}
	return s
}

// told takes the warnings about workloads into account.
func (w *workloads) told(what happened) {
	for _, l := range w.lanes.all {
		if what.warning && l.isOf(what) {
			l.mark(what.at, what.reason, what.message, story.Bad)
		}
	}
}
