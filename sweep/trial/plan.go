package trial

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// Transition is what changes in a control plane while objects are there, and is undone in the end.
type Transition struct {
	// At are the components that change, in this order: kube-apiserver, kubelet/node-a. It is undone in
	// the opposite order. If one is kube-apiserver/a or kube-apiserver/b, the control plane has both, and only
	// that one changes: clients ask a, and controllers b.
	At []string `json:"at"`
	// To is the release that they run as meanwhile, with its default gates. If unset, their release
	// stays, and gates are turned off.
	To release.Version `json:"to,omitempty"`
	// Emulates is true if they run their own release, which emulates the other one (KEP-4330).
	Emulates bool `json:"emulates,omitempty"`
}

// String says what changes: gates off at kube-apiserver, kube-apiserver/b for controllers to another release and back.
func (t Transition) String() string {
	at := strings.NewReplacer(ClientsServer, ClientsServer+" for clients", ControllersServer, ControllersServer+" for controllers").Replace(strings.Join(t.At, ", "))
	switch {
	case t.To == "":
		return "gates off at " + at
	case t.Emulates:
		return fmt.Sprintf("%s to emulate %s and back", at, t.To.MajorMinor())
	}
	return fmt.Sprintf("%s to %s and back", at, t.To)
}

// Has reports whether a component of a program changes.
func (t Transition) Has(program string) bool {
	return slices.ContainsFunc(t.At, func(component string) bool { return record.Program(component) == program })
}

// HasTwoServers reports whether two API servers share an etcd, of which one changes.
func (t Transition) HasTwoServers() bool {
	return slices.Contains(t.At, ClientsServer) || slices.Contains(t.At, ControllersServer)
}

// Servers are the names of the API servers.
func (t Transition) Servers() []string {
	if t.HasTwoServers() {
		return []string{ClientsServer, ControllersServer}
	}
	return []string{record.APIServer}
}

// Manager is the name of the controller manager.
func (t Transition) Manager() string {
	if t.HasTwoServers() {
		return manager
	}
	return record.ControllerManager
}

// Components are the names of all components beside etcd.
func (t Transition) Components() []string {
	all := append(t.Servers(), t.Manager())
	if t.HasScheduler() {
		all = append(all, record.Scheduler)
	}
	if t.HasNode() {
		all = append(all, kubelet)
	}
	return all
}

// running is the component of a program: of two API servers, the one that changes.
func (t Transition) running(program string) string {
	for _, component := range slices.Concat(t.At, t.Components()) {
		if record.Program(component) == program {
			return component
		}
	}
	return program
}

// HasScheduler reports whether there is a scheduler: otherwise, pods that name no node do not run.
func (t Transition) HasScheduler() bool { return t.Has(record.Scheduler) }

// HasNode reports whether there is a node, on which pods run.
func (t Transition) HasNode() bool { return t.Has(Kubelet) || t.HasScheduler() }

// Kubelet is the program that a node has, which is called Node.
const (
	Kubelet = "kubelet"
	Node    = "node-a"
)

// Everywhere is the place that is all components, and Emulation that in which the control plane emulates the other release.
const (
	Everywhere = "all"
	Emulation  = "emulation"
)

// The components of a control plane that has two API servers on one etcd.
const (
	ClientsServer     = record.APIServer + "/a"
	ControllersServer = record.APIServer + "/b"
	manager           = record.ControllerManager + "/a"
)

// place is a part of a cluster that can change alone.
type place struct {
	name string
	// off are the components whose gates are turned off, older those that go to an older release, and newer
	// those that go to a newer one: in an order that the version skew policy allows. If unset, none may.
	off, older, newer []string
}

const kubelet = Kubelet + "/" + Node

var places = []place{
	{record.APIServer, []string{record.APIServer}, []string{record.ControllerManager, record.APIServer}, []string{record.APIServer}},
	{record.ControllerManager, []string{record.ControllerManager}, []string{record.ControllerManager}, nil},
	{record.Scheduler, []string{record.Scheduler}, []string{record.Scheduler}, nil},
	{Kubelet, []string{kubelet}, []string{kubelet}, nil},
	{ClientsServer, []string{ClientsServer}, []string{manager, ClientsServer}, []string{ClientsServer}},
	{ControllersServer, []string{ControllersServer}, []string{manager, ControllersServer}, []string{ControllersServer}},
	{Emulation, nil, []string{record.ControllerManager, record.APIServer}, nil},
	{
		Everywhere, []string{record.APIServer, record.ControllerManager, kubelet}, []string{kubelet, record.ControllerManager, record.APIServer},
		[]string{record.APIServer, record.ControllerManager, kubelet},
	},
}

// Places are the names of what can change.
func Places() (names []string) {
	for _, p := range places {
		names = append(names, p.name)
	}
	return names
}

// Transitions are changes at places, at each if at is unset: from a release to another one, or, if to is unset, gates
// that are turned off. A change that the version skew policy does not allow is left out: control planes move by one minor
// version, and only a kubelet may be older than that.
func Transitions(at []string, from, to release.Version) (all []Transition) {
	for _, p := range places {
		t := Transition{At: p.off, To: to, Emulates: p.name == Emulation}
		switch apart := from.Minor() - to.Minor(); {
		case to == "":
		case apart == 1, p.name == Kubelet && apart > 0 && release.SkewOf(release.Effective{Version: from}, to) == release.SkewSupported:
			t.At = p.older
		case apart == -1:
			t.At = p.newer
		default:
			t.At = nil
		}
		if len(t.At) > 0 && (len(at) == 0 || slices.Contains(at, p.name)) {
			all = append(all, t)
		}
	}
	return all
}

// Plan is what one control plane goes through.
type Plan struct {
	// Number is its place in the sweep, counted from 1. If it is random, it is made from Seed.
	Number     int        `json:"number"`
	Random     bool       `json:"random,omitempty"`
	Transition Transition `json:"turn"`
	Gates      []string   `json:"gates"` // that are on before, sorted
	// Killed is the component that is killed and started again while objects are mutated. If unset,
	// none.
	Killed string `json:"killed,omitempty"`
	Items  []Item `json:"-"`
}

// String says what it goes through.
func (p Plan) String() string {
	if p.Killed == "" {
		return p.Transition.String()
	}
	return fmt.Sprintf("%s, %s killed", p.Transition, p.Killed)
}

// Small are the plans in which each object uses one field, and is mutated once: one for each transition.
func Small(transitions []Transition, gates []string, uses []Use, lacks func(Use) Lack) (plans []Plan) {
	for n, transition := range transitions {
		items := slices.DeleteFunc(Items(usable(transition, uses, lacks)), func(i Item) bool { return !transition.takes(i) })
		plans = append(plans, Plan{Number: n + 1, Transition: transition, Gates: gates, Items: items})
	}
	return plans
}

// takes reports whether an item is one for a transition. Of the pods that run on the node, there are only as many as a node has addresses for; in another release, a gate may be on that a new object needs.
func (t Transition) takes(i Item) bool {
	first := i.Mutations[0]
	if t.To != "" && i.Late() {
		return false
	}
	switch {
	case t.HasNode() && i.Kind == "Pod":
		return first == Nothing || first == Label || first == Delete
	case t.HasNode() && i.Kind == "DaemonSet":
		return first == Nothing || first == Template
	default:
		return true
	}
}

// Lack is what a release lacks of an object.
type Lack string

// The things that a release may lack.
const (
	LacksKind  Lack = "kind"
	LacksField Lack = "field"
)

// usable are the objects that say something of a transition. Where a kubelet changes, these are pods. To a release
// that does not have a kind no object of that kind goes; of a field that it does not have, objects are
// tried all the same, but not whether it is kept.
func usable(transition Transition, uses []Use, lacks func(Use) Lack) (all []Use) {
	for _, u := range uses {
		if transition.HasNode() && !transition.Has(record.APIServer) && u.Kind != "Pod" {
			continue
		}
		if transition.To != "" {
			lack := lacks(u)
			if lack == LacksKind {
				continue
			}
			u.Unknown = lack == LacksField
		}
		if transition.Has(Kubelet) && u.Kind == "Pod" {
			u.Object = onNode(u.Object)
		}
		all = append(all, u)
	}
	return all
}

// onNode is a pod that the node runs.
func onNode(pod map[string]any) map[string]any {
	pod = runtime.DeepCopyJSON(pod)
	spec, is := pod["spec"].(map[string]any)
	if is && spec["nodeName"] == nil {
		spec["nodeName"] = Node
	}
	return pod
}
