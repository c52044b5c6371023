package narrate

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record/timeline"
)

// node shows a node that has a kubelet.
func (b *builder) node(v *timeline.Version, at float64) {
	l := b.nodes.named(ObjectState, v.Key)
	if v.Gone() {
		l.ends(at)
		l.mark(at, "gone", "", Bad)
		return
	}
	ready := v.Condition("Ready")
	s := Span{Label: "not Ready", Detail: ready.Reason + ": " + ready.Message}
	switch {
	case ready.Status == "True":
		s = Span{Label: "Ready", Tone: Good}
	case ready.Status == "Unknown":
		s.Label, s.Tone = "Unknown", Bad
	case slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Label == "Ready" }) || l.open != nil && l.open.Label == "Ready":
		s.Tone = Bad
	}
	l.becomes(at, s)
}

// workloads are the objects that pods are made from.
type workloads struct {
	lanes  lanes
	owners map[types.UID]string
	known  map[types.UID]bool
}

// add shows a workload that nothing owns, and marks there what is made from it.
func (w *workloads) add(v *timeline.Version, at float64) {
	if w.owners == nil {
		w.owners, w.known = make(map[types.UID]string), make(map[types.UID]bool)
	}
	uid := v.Meta().UID
	if owner := w.ownerOf(v); owner != "" {
		l := w.lanes.named(ObjectState, owner)
		switch {
		case v.Gone():
			l.mark(at, v.Name+" "+absence(v), "", "")
		case !w.known[uid]:
			l.mark(at, "makes "+v.Name, v.Workload().Kind, Changed)
		}
		w.known[uid] = true
		return
	}
	l := w.lanes.named(ObjectState, v.Key)
	w.owners[uid] = v.Key
	if v.Gone() {
		l.ends(at)
		l.mark(at, absence(v), "", "")
		return
	}
	l.becomes(at, replicas(v))
}

func (w *workloads) ownerOf(v *timeline.Version) string {
	for _, owner := range v.Meta().OwnerReferences {
		if name := w.owners[owner.UID]; name != "" {
			return name
		}
	}
	return ""
}

// replicas is how many of a workload's pods there are to be, and how many are
// ready. One that has no replicas is there, and no more.
func replicas(v *timeline.Version) Span {
	var of struct {
		Spec struct {
			Replicas *int `json:"replicas"`
		} `json:"spec"`
		Status struct {
			Ready   int  `json:"readyReplicas"`
			Updated *int `json:"updatedReplicas"`
			// Of a DaemonSet.
			Desired     *int `json:"desiredNumberScheduled"`
			NumberReady int  `json:"numberReady"`
		} `json:"status"`
	}
	_ = json.Unmarshal(v.Text(), &of) // what is of another form stays empty
	wanted, ready := of.Spec.Replicas, of.Status.Ready
	if wanted == nil {
		wanted, ready = of.Status.Desired, of.Status.NumberReady
	}
	if wanted == nil {
		return Span{Label: "is there"}
	}
	s := Span{Label: fmt.Sprintf("%d of %d ready", ready, *wanted)}
	if updated := of.Status.Updated; updated != nil && *updated != *wanted {
		s.Label += fmt.Sprintf(", %d updated", *updated)
	}
	if ready >= *wanted && *wanted > 0 {
		s.Tone = Good
	}
	return s
}

// absence says why an object is not shown any more.
func absence(v *timeline.Version) string {
	if v.Unserved() {
		return unserved
	}
	return "gone"
}
