package action

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// PodsAPI is what an agent on a node asks the Pods API of the node's kubelet
// (KEP-4188), or that it asks no longer.
type PodsAPI struct {
	// Node is the node's name. Of end, it is that of the step that began.
	Node string `json:"node"`
	// Call is list, get, watch or poll, which lists again and again; or end, which
	// ends the watch or the poll that the step of the name in Of began, or read,
	// which has the watch of that step read on; or remove, which removes the socket;
	// or block, which has a directory in its place.
	Call PodsCall `json:"call"`
	// Pod is which pod get is to return: name, or namespace/name. What is sent is
	// the UID under which it was seen last. If unset, UID is sent as it is.
	Pod string `json:"pod,omitempty"`
	UID string `json:"uid,omitempty"`
	// Fields is the field mask that goes with the request. If unset, none does.
	Fields string `json:"fields,omitempty"`
	// Service is the full name of the gRPC service that list and get call. If unset,
	// that of the released API.
	Service string `json:"service,omitempty"`
	// Every is how often poll asks, and how long list and get wait before each request.
	// If unset, a millisecond; 15 ms if they ask once, so that requests of several steps
	// are not too many for the kubelet; and if they ask several times, they ask at once.
	Every behavior.Duration `json:"every,omitempty"`
	// Times is how often list and get ask; and how many watches are opened, each of which is ended after the first event. If
	// unset, once, and a watch that goes on.
	Times int `json:"times,omitempty"`
	// Pause is for how long watch does not read what comes after the initial pods.
	// If unset, it reads at once.
	Pause behavior.Duration `json:"pause,omitempty"`
	// Hold has watch read nothing but its first event until it is told to read.
	Hold bool `json:"hold,omitempty"`
	// Of is the name of the step whose watch or poll is to end, or to read.
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
	ReadPods  PodsCall = "read"
	// RemoveSocket takes the socket away.
	RemoveSocket PodsCall = "remove"
	// BlockSocket has something in its place that is no socket.
	BlockSocket PodsCall = "block"
)

// ofCall are the fields that belong to some calls only.
var ofCall = map[string][]PodsCall{
	"pod":     {GetPod},
	"uid":     {GetPod},
	"fields":  {ListPods, GetPod, WatchPods, PollPods},
	"service": {ListPods, GetPod},
	"every":   {ListPods, GetPod, PollPods},
	"times":   {ListPods, GetPod, WatchPods},
	"pause":   {WatchPods},
	"hold":    {WatchPods},
	"of":      {EndPods, ReadPods},
}

// podsCalls are the calls in the order in which messages list them.
var podsCalls = []PodsCall{ListPods, GetPod, WatchPods, PollPods, EndPods, ReadPods, RemoveSocket, BlockSocket}

func (p PodsAPI) Check(f spec.Field) {
	if !f.Clean("") {
		return
	}
	if f.Clean(".call") && !slices.Contains(podsCalls, p.Call) {
		f.Report(".call", "%s is not a call: calls are list, get, watch, poll, end, read, remove and block", strict.Quote(string(p.Call)))
		return
	}
	for _, field := range f.Present(slices.Sorted(maps.Keys(ofCall))...) {
		if !slices.Contains(ofCall[field], p.Call) {
			f.Report("."+field, "%s does not go with %s", field, p.Call)
		}
	}
	if p.Call == GetPod && len(f.Present("pod", "uid")) != 1 {
		f.Report("", "get returns one pod: give it pod or uid")
	}
	if slices.Contains(ofCall["of"], p.Call) && p.Of == "" {
		f.Report("", "of is missing: it is the name of the step that began the watch or poll")
	}
	if p.Times < 0 {
		f.Report(".times", "%d is not a number of times", p.Times)
	}
	f.Duration(".every", p.Every)
	f.Duration(".pause", p.Pause)
}

// agents are the nodes that watches and polls ask, by the name of the step.
type agents map[string]string

// Change implements spec.Changer: a watch or a poll goes on until it is ended.
func (p PodsAPI) Change(r *spec.Rig) {
	asking := spec.Memory[agents](r)
	if slices.Contains(ofCall["of"], p.Call) {
		if node, began := asking[p.Of]; !began {
			r.Conflict(".of", "no step before this one began a watch or a poll named %s", strict.Quote(p.Of))
		} else if node != p.Node {
			r.Conflict(".node", "step %s asks node %s", strict.Quote(p.Of), node)
		}
		return
	}
	r.Find(".node", spec.KubeletPrefix+p.Node)
	if p.Call == WatchPods || p.Call == PollPods {
		asking[r.Step().Name] = p.Node
	}
}

func (p PodsAPI) Plan(Scene) (Action, error) {
	if p.Call == PollPods {
		p.Every = cmp.Or(p.Every, behavior.Duration(time.Millisecond))
	}
	return p, nil
}

// Describe implements Action: who asks what.
func (p PodsAPI) Describe() string {
	text := "Pods API of " + p.Node + ": " + string(p.Call)
	switch p.Call {
	case GetPod:
		text += " " + cmp.Or(p.Pod, strconv.Quote(p.UID))
	case EndPods, ReadPods:
		text += " " + p.Of
	}
	if p.Service != "" {
		text += " of " + p.Service
	}
	if p.Every > 0 {
		text += " every " + p.Every.String()
	}
	if p.Times > 1 {
		text += fmt.Sprintf(", %d times", p.Times)
	}
	if p.Fields != "" {
		text += ", fields " + p.Fields
	}
	if p.Hold {
		text += ", not reading yet"
	}
	if p.Pause > 0 {
		text += ", not reading for " + p.Pause.String()
	}
	return OneLine(text)
}

func (p PodsAPI) Run(ctx context.Context, rig Rig) error { return rig.AskPods(ctx, p) }

// Facts are those of what an agent asks.
func (p PodsAPI) Facts() Facts {
	f := Facts{
		Needs: NeedsPodsAPI, Component: spec.KubeletPrefix + p.Node, Reach: ReachOwn,
		Lasts: time.Duration(p.Every)*time.Duration(max(p.Times, 1)) + time.Duration(p.Pause),
	}
	switch p.Call {
	case ListPods, GetPod:
		f.Gives = gives("podsAPI")
	case WatchPods:
		f.Gives = []Reading{{Variable: "podsAPI"}, {Variable: "watches"}}
	case PollPods:
		f.Gives = gives("polls")
	}
	return f
}
