package conformance

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/skewrig/skewrig/reports"
)

var watchChecks = []check{
	{
		"watch-begins-with-all-pods", "watch/initial", "ADDED for each pod of the list", whenSteady,
		func(r Record) (reports.Outcome, string) {
			complaints := append(begun(r.Watches[0]), missing(r.Before, r.Watches[0].pods())...)
			return none(complaints, counted(r.Before))
		},
	},
	{
		"watch-says-that-these-are-all", "watch/initial", "then INITIAL_SYNC_COMPLETE, without a pod", whenListed,
		func(r Record) (reports.Outcome, string) { return endOfInitial(r.Watches[0]) },
	},
	{
		"watches-at-the-same-time", "watch/many-clients", "two watches at the same time each get all pods", append(slices.Clip(whenListed), steady),
		func(r Record) (reports.Outcome, string) {
			var complaints []string
			for i, w := range r.Watches {
				if outcome, what := endOfInitial(w); outcome != reports.Pass {
					complaints = append(complaints, fmt.Sprintf("watch %d: %s", i+1, what))
				}
				for _, what := range missing(r.Before, w.pods()) {
					complaints = append(complaints, fmt.Sprintf("watch %d: %s", i+1, what))
				}
			}
			return none(complaints, counted(r.Before)+" each")
		},
	},
	{
		"watch-agrees-with-list", "watch/agrees-with-list", "the pods of a watch are those of the list, and are the same", whenSteady,
		func(r Record) (reports.Outcome, string) { return none(disagreements(r), counted(r.Before)) },
	},
}

// begun says where a watch does not begin with ADDED for each pod, once.
func begun(w Watch) (complaints []string) {
	known := make(map[string]bool)
	for _, e := range w.Events {
		if e.Pod == nil {
			continue
		}
		uid := string(e.Pod.UID)
		if (e.Type == added) == known[uid] {
			complaints = append(complaints, fmt.Sprintf("%s of pod %s, which was added before: %t", e.Type, e.Pod.name(), known[uid]))
		}
		known[uid] = e.Type != deleted
	}
	return complaints
}

// missing are the pods of a list that are not among some.
func missing(a Answer, among map[string]Pod) (complaints []string) {
	for _, p := range a.Pods {
		if _, has := among[string(p.UID)]; !has {
			complaints = append(complaints, fmt.Sprintf("nothing of pod %s", p.name()))
		}
	}
	return complaints
}

// endOfInitial says how the initial pods of a watch end.
func endOfInitial(w Watch) (reports.Outcome, string) {
	switch {
	case w.Code != ok:
		return reports.Fail, fmt.Sprintf("after %d events: %s: %s", len(w.Events), w.Code, w.Message)
	case !w.synced():
		return reports.Fail, fmt.Sprintf("%d events, and none of them is %s", len(w.Events), synced)
	case w.Events[len(w.Events)-1].Pod != nil:
		return reports.Fail, synced + " with a pod"
	}
	return reports.Pass, synced
}

// disagreements are where a watch has other pods than the list. The state of a pod
// is compared if both lists have the same one: it was not changing.
func disagreements(r Record) (complaints []string) {
	watched, before, after := r.Watches[0].pods(), r.Before.byUID(), r.After.byUID()
	for _, uid := range names(watched) {
		was, is := before[uid]
		switch {
		case !is:
			complaints = append(complaints, fmt.Sprintf("pod %s is not in the list", watched[uid].name()))
		case !equality.Semantic.DeepEqual(was.Pod, after[uid].Pod):
		case !equality.Semantic.DeepEqual(was.Pod, watched[uid].Pod):
			complaints = append(complaints, fmt.Sprintf("pod %s differs from the list", was.name()))
		}
	}
	return append(complaints, missing(r.Before, watched)...)
}
