package action

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Cut cuts the link between a component and the API server.
type Cut struct {
	// From is who connects: kubelet/<node>, kube-controller-manager,
	// kube-scheduler, dependency-watchdog or lease-nodes, of which those of a zone
	// are lease-nodes/<zone>. The link of dependency-watchdog to the seed is
	// dependency-watchdog->seed/kube-apiserver, and that of a kubelet to its
	// container runtime, which can be slow, kubelet/<node>->runtime.
	From string `json:"from"`
	// How is drop, which loses what is sent, or reset, which ends connections. If
	// unset, drop.
	How record.Cut `json:"how,omitempty"`
	// Direction is forward, towards the API server, or backward. If unset, both.
	Direction record.Direction `json:"direction,omitempty"`
	// AfterBytes is how much of each connection passes before. If unset, nothing.
	AfterBytes int64 `json:"afterBytes,omitempty"`
}

// Action implements spec.Shorthand.
func (c Cut) Action() spec.Action {
	return Fault{Link: spec.ParseLink(c.From), Fault: record.LinkFault{
		Cut: cmp.Or(c.How, record.CutDrop), Direction: c.Direction, AfterBytes: c.AfterBytes,
	}}
}

// Slow slows the link between a component and the API server.
type Slow struct {
	// From is the component, as in Cut.
	From string `json:"from"`
	// Delay is how much later everything arrives, Jitter by how much more it may
	// be. If unset, neither.
	Delay  behavior.Duration `json:"delay,omitempty"`
	Jitter behavior.Duration `json:"jitter,omitempty"`
	// BytesPerSecond is what passes in each connection. If unset, any amount.
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`
	// Direction is as in Cut.
	Direction record.Direction `json:"direction,omitempty"`
}

// Action implements spec.Shorthand.
func (s Slow) Action() spec.Action {
	return Fault{Link: spec.ParseLink(s.From), Fault: record.LinkFault{
		Delay: time.Duration(s.Delay), Jitter: time.Duration(s.Jitter),
		BytesPerSecond: s.BytesPerSecond, Direction: s.Direction,
	}}
}

// Answer has the link of dependency-watchdog to an API server answer requests
// itself, or late.
type Answer struct {
	// From is who asks: dependency-watchdog, or its link to another API server, as
	// dependency-watchdog->seed/kube-apiserver.
	From string `json:"from"`
	// Path is that of the requests. If unset, all.
	Path string `json:"path,omitempty"`
	// Status is the HTTP status of the answer. If unset, the API server answers.
	Status int `json:"status,omitempty"`
	// RetryAfter goes with a status. If unset, nothing does.
	RetryAfter behavior.Duration `json:"retryAfter,omitempty"`
	// Delay is how much later the answer comes. If unset, at once.
	Delay behavior.Duration `json:"delay,omitempty"`
}

// Action implements spec.Shorthand.
func (a Answer) Action() spec.Action {
	return Fault{Link: spec.ParseLink(a.From), Fault: record.LinkFault{
		Path: cmp.Or(a.Path, record.AnyPath), Status: a.Status,
		RetryAfter: time.Duration(a.RetryAfter), Delay: time.Duration(a.Delay),
	}}
}

// Heal takes the fault of a link away.
type Heal string

// Action implements spec.Shorthand.
func (h Heal) Action() spec.Action { return Fault{Link: spec.ParseLink(string(h)), Heals: true} }

// Fault gives a link a fault, or none.
type Fault struct {
	Link  spec.Link        `json:"link"`
	Fault record.LinkFault `json:"fault"`
	// Heals is true if the fault that the link has is taken away.
	Heals bool `json:"-"`
}

// Check implements spec.Action.
func (f Fault) Check(field spec.Field) {
	if f.Heals {
		field.Named("", f.Link.From)
		return
	}
	field.Named(".from", f.Link.From)
	if err := f.Fault.Validate(); err != nil {
		for mistake := range strings.Lines(err.Error()) {
			field.Refuse("", true, "%s", strings.TrimSpace(mistake))
		}
	}
	field.Refuse("", f.Fault == record.LinkFault{Direction: f.Fault.Direction}, "nothing would change: give delay, jitter or bytesPerSecond")
}

// faults are what is wrong with the links of a rig.
type faults map[spec.Link]record.LinkFault

// Change implements spec.Changer.
func (f Fault) Change(r *spec.Rig) {
	if !f.Heals {
		f.disturb(r)
		return
	}
	if l := f.Link; f.isOf(r, "") {
		faulty := spec.Memory[faults](r)
		if _, is := faulty[l]; !is {
			r.Conflict("", "the link from %s to %s has no fault", l.From, l.To)
		}
		delete(faulty, l)
	}
}

// Describe implements Action: what becomes of which link.
func (f Fault) Describe() string {
	to := f.Link.From + " -> " + f.Link.To
	switch {
	case f.Heals:
		return OneLine("heal " + to)
	case f.Fault.Cut != "":
		return OneLine("cut " + to + ": " + f.Fault.String())
	case f.Fault.Path != "":
		return OneLine("on " + to + ": " + f.Fault.String())
	default:
		return OneLine("slow " + to + ": " + f.Fault.String())
	}
}

// Run implements Action.
func (f Fault) Run(_ context.Context, rig Rig) error { return rig.SetLink(f.Link, f.Fault) }

// Reach implements Reacher. A link of the control plane is part of it from the beginning.
func (f Fault) Reach() Reach { return ofComponent(f.Link.From, ReachAll) }

// disturb gives a link a fault. A link has one at a time, as two would hide what
// each of them does.
func (f Fault) disturb(r *spec.Rig) {
	l, fault := f.Link, f.Fault
	if !f.isOf(r, ".from") {
		return
	}
	faulty := spec.Memory[faults](r)
	for _, other := range slices.SortedFunc(maps.Keys(faulty), func(a, b spec.Link) int { return strings.Compare(a.String(), b.String()) }) {
		if overlap(l.From, other.From) && l.To == other.To {
			r.Conflict(".from", "the link from %s to %s has a fault already (%s): heal it first", other.From, other.To, faulty[other])
		}
	}
	if fault.Status != 0 && l.From != spec.Watchdog || fault.Path != "" && l.From != spec.Watchdog {
		r.Conflict(".from", "only the links of %s see requests", spec.Watchdog)
	}
	if l.To == spec.Runtime && fault != (record.LinkFault{Delay: fault.Delay}) {
		r.Conflict(".from", "the link to a container runtime can only be delayed")
	}
	if only := (record.LinkFault{Cut: fault.Cut, Delay: fault.Delay}); spec.IsSimulated(l.From) && fault != only {
		r.Conflict(".from", "links of simulated nodes can only be cut in both directions, or delay each request")
	}
	faulty[l] = fault
}

// isOf reports whether the rig has such a link.
func (f Fault) isOf(r *spec.Rig, field string) bool {
	l := f.Link
	c := r.Find(field, l.From)
	if c == nil {
		return false
	}
	if l.To == spec.Runtime && strings.HasPrefix(c.Name, spec.KubeletPrefix) {
		return true
	}
	if c.Standalone {
		r.Conflict(field, "%s is standalone, and connects to no API server", c.Name)
		return false
	}
	switch c.Name {
	case spec.Etcd, spec.APIServer, spec.SeedEtcd, spec.SeedAPIServer:
		r.Conflict(field, "%s does not connect to %s: kubelets, %s and %s do", c.Name, spec.APIServer, spec.ControllerManager, spec.Scheduler)
		return false
	}
	if l.To != spec.APIServer && (l.From != spec.Watchdog || l.To != spec.SeedAPIServer) {
		r.Conflict(field, "%s does not connect to %s", l.From, strict.Quote(l.To))
		return false
	}
	return true
}
