package spec

import (
	"maps"
	"slices"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

// PodsAPI is what an agent on a node asks the Pods API of the node's kubelet
// (KEP-4188), or that it asks no longer.
type PodsAPI struct {
	// Node is the node's name. Of end, it is that of the step that began.
	Node string `json:"node"`
	// Call is list, get, watch or poll, which lists again and again; or end, which
	// ends the watch or the poll that the step of the name in Of began.
	Call PodsCall `json:"call"`
	// Pod is which pod get is to return: name, or namespace/name. What is sent is
	// the UID under which it was seen last. If unset, UID is sent as it is.
	Pod string `json:"pod,omitempty"`
	UID string `json:"uid,omitempty"`
	// Fields is the field mask that goes with the request. If unset, none does.
	Fields string `json:"fields,omitempty"`
	// Every is how often poll asks. If unset, every millisecond.
	Every behavior.Duration `json:"every,omitempty"`
	// Times is how often list and get ask, one request right after the other; and
	// how many watches are opened, each of which is ended after the first event. If
	// unset, once, and a watch that goes on.
	Times int `json:"times,omitempty"`
	// Pause is for how long watch does not read what comes after the initial pods.
	// If unset, it reads at once.
	Pause behavior.Duration `json:"pause,omitempty"`
	// Of is the name of the step whose watch or poll is to end.
	Of string `json:"of,omitempty"`
}

// PodsCall is what an agent does.
type PodsCall string

// What an agent does.
const (
	ListPods  PodsCall = "list"
	GetPod    PodsCall = "get"
	WatchPods PodsCall = "watch"
	PollPods  PodsCall = "poll"
	EndPods   PodsCall = "end"
)

// ofCall are the fields that belong to some calls only.
var ofCall = map[string][]PodsCall{
	"pod":    {GetPod},
	"uid":    {GetPod},
	"fields": {ListPods, GetPod, WatchPods, PollPods},
	"every":  {PollPods},
	"times":  {ListPods, GetPod, WatchPods},
	"pause":  {WatchPods},
	"of":     {EndPods},
}

// podsCalls are the calls in the order in which they are told.
var podsCalls = []PodsCall{ListPods, GetPod, WatchPods, PollPods, EndPods}

func (v *validator) checkPodsAPI(at string, p PodsAPI) {
	if v.clean(at+".call") && !slices.Contains(podsCalls, p.Call) {
		v.report(at+".call", "%s is no call: list, get, watch, poll and end are", quote(string(p.Call)))
		return
	}
	for _, field := range v.present(at, slices.Sorted(maps.Keys(ofCall))) {
		if !slices.Contains(ofCall[field], p.Call) {
			v.report(at+"."+field, "%s does not go with %s", field, p.Call)
		}
	}
	if given := v.present(at, []string{"pod", "uid"}); p.Call == GetPod && len(given) != 1 {
		v.report(at, "get returns one pod: give it pod or uid")
	}
	if p.Call == EndPods && p.Of == "" {
		v.report(at, "there is nothing to end: of is the name of the step that began it")
	}
	if p.Times < 0 {
		v.report(at+".times", "%d times is none", p.Times)
	}
	for field, d := range map[string]behavior.Duration{"every": p.Every, "pause": p.Pause} {
		if v.has(at + "." + field) {
			v.checkDuration(at+"."+field, d)
		}
	}
}

// asksPods reports an agent that asks no kubelet of the rig.
func (r *Rig) asksPods(p PodsAPI) {
	if p.Call == EndPods {
		if call, began := r.agents[p.Of]; !began {
			r.conflict("podsAPI.of", "no step before this one began a watch or a poll named %s", quote(p.Of))
		} else if call != p.Node {
			r.conflict("podsAPI.node", "step %s asks node %s", quote(p.Of), call)
		}
		return
	}
	r.find("podsAPI.node", kubeletPrefix+p.Node)
}

// began remembers an agent that goes on.
func (r *Rig) began(step string, p PodsAPI) {
	if p.Call == WatchPods || p.Call == PollPods {
		r.agents[step] = p.Node
	}
}
