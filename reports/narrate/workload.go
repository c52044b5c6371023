package narrate

import (
	"fmt"
)

// workloads are the objects that pods are made from.
type workloads struct {
	lanes  lanes
	owners map[string]string // by uid
	known  map[string]bool   // uids
}

// add shows a workload that nobody owns, and marks there what is made from it.
func (w *workloads) add(o observed) {
	if w.owners == nil {
		w.owners, w.known = make(map[string]string), make(map[string]bool)
	}
	uid := text(o.body, "metadata", "uid")
	if owner := w.ownerOf(o); owner != "" {
		l := w.lanes.named(ObjectState, owner)
		switch {
		case o.Gone():
			l.mark(o.at, o.Name+" gone", "", "")
		case !w.known[uid]:
			l.mark(o.at, "makes "+o.Name, text(o.body, "kind"), Changed)
		}
		w.known[uid] = true
		return
	}
	l := w.lanes.named(ObjectState, o.Key)
	w.owners[uid] = o.Key
	if o.Gone() {
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
func replicas(body map[string]any) Span {
	wanted, has := number(body, "spec", "replicas")
	ready, _ := number(body, "status", "readyReplicas")
	if !has { // of a DaemonSet
		wanted, has = number(body, "status", "desiredNumberScheduled")
		ready, _ = number(body, "status", "numberReady")
	}
	if !has {
		return Span{Label: "is there"}
	}
	updated, has := number(body, "status", "updatedReplicas")
	s := Span{Label: fmt.Sprintf("%d of %d ready", ready, wanted)}
	if has && updated != wanted {
		s.Label += fmt.Sprintf(", %d updated", updated)
	}
	if ready >= wanted && wanted > 0 {
		s.Tone = Good
	}
	return s
}

// news takes the warnings about workloads into account.
func (w *workloads) news(what news) {
	for _, l := range w.lanes.all {
		if what.warning && l.isOf(what) {
			l.mark(what.at, what.reason, what.message, Bad)
		}
	}
}
