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

// Cut cuts the link between a component and the API server, or between an API server and etcd.
type Cut struct {
	// From is who connects: kubelet/<node>, kube-controller-manager,
	// kube-scheduler, dependency-watchdog or lease-nodes, of which those of a zone
	// are lease-nodes/<zone>. That of kube-apiserver, or kube-apiserver/<member>, is to etcd. The link of dependency-watchdog to the seed is
	// dependency-watchdog->seed/kube-apiserver, and that of a kubelet to its
	// container runtime kubelet/<node>->runtime.
	From string `json:"from"`
	// How is drop, which loses what is sent, or reset, which ends connections: of a
	// container runtime, one that hangs, and one that is dead. If unset, drop.
	How record.Cut `json:"how,omitempty"`
	// Direction is forward, towards the API server, or backward. If unset, both.
	Direction record.Direction `json:"direction,omitempty"`
	// AfterBytes is how much of each connection passes before. If unset, nothing.
	AfterBytes int64 `json:"afterBytes,omitempty"`
}

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

func (s Slow) Action() spec.Action {
	return Fault{Link: spec.ParseLink(s.From), Fault: record.LinkFault{
		Delay: time.Duration(s.Delay), Jitter: time.Duration(s.Jitter),
		BytesPerSecond: s.BytesPerSecond, Direction: s.Direction,
	}}
}

// Answer has the link between a component and the API server answer requests itself, or late,
// and that of a kubelet to its container runtime calls.
type Answer struct {
	// From is who asks, as in Cut, but for simulated nodes.
	From string `json:"from"`
	// Path is that of the requests. If unset, all.
	Path string `json:"path,omitempty"`
	// Verb, Resource and Nth are as in Lose.
	Verb     string `json:"verb,omitempty"`
	Resource string `json:"resource,omitempty"`
	Nth      int    `json:"nth,omitempty"`
	// Status is the HTTP status of the answer. If unset, the API server answers.
	Status int `json:"status,omitempty"`
	// RetryAfter goes with a status. If unset, nothing does.
	RetryAfter behavior.Duration `json:"retryAfter,omitempty"`
	// Method is that of the calls to a container runtime, such as RunPodSandbox. If
	// unset, all.
	Method string `json:"method,omitempty"`
	// Code is the gRPC code with which calls fail, such as Internal, and Message
	// goes with it. If unset, the container runtime answers.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Delay is how much later the answer comes. If unset, at once.
	Delay behavior.Duration `json:"delay,omitempty"`
}

func (a Answer) Action() spec.Action {
	f := Fault{Link: spec.ParseLink(a.From), Fault: record.LinkFault{
		Path: a.Path, Verb: a.Verb, Resource: a.Resource, Nth: a.Nth, Status: a.Status, RetryAfter: time.Duration(a.RetryAfter),
		Method: a.Method, Code: a.Code, Message: a.Message, Delay: time.Duration(a.Delay),
	}}
	if f.Link.To == spec.Runtime {
		f.Fault.Method = cmp.Or(a.Method, record.AnyMethod)
	} else {
		f.Fault.Path = cmp.Or(a.Path, record.AnyPath)
	}
	return f
}

// Lose has the answer to a request of a component get lost, after the API server has done what it
// was asked.
type Lose struct {
	// From is the component, as in Cut, but for simulated nodes.
	From string `json:"from"`
	// Verb is as in RBAC: create, update, patch and so on. Resource is a plural name, with a
	// subresource as in pods/status. If unset, any.
	Verb     string `json:"verb,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Nth is which of those, counted from 1. If unset, each, until it is healed.
	Nth int `json:"nth,omitempty"`
}

func (l Lose) Action() spec.Action {
	return Fault{Link: spec.ParseLink(l.From), Fault: record.LinkFault{
		Path: record.AnyPath, Verb: l.Verb, Resource: l.Resource, Nth: l.Nth, Lost: true,
	}}
}

// Crash has a component killed at one of its requests, and started again as a kubelet starts a
// container.
type Crash struct {
	// From is the component, as in Cut, but for simulated nodes.
	From string `json:"from"`
	// When is before, which is before the API server gets the request, or after: the API server
	// has done what it was asked, and the component has no answer.
	When record.Moment `json:"when"`
	// Verb and Resource are as in Lose.
	Verb     string `json:"verb,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Nth is which of those requests, counted from 1. If unset, the first.
	Nth int `json:"nth,omitempty"`
}

func (c Crash) Action() spec.Action {
	return Fault{Link: spec.ParseLink(c.From), Fault: record.LinkFault{
		Path: record.AnyPath, Verb: c.Verb, Resource: c.Resource, Nth: cmp.Or(c.Nth, 1), Crash: c.When,
	}}
}

// Stale has the watch events of a component come late, while its requests pass as ever: it acts on
// a state that is out of date.
type Stale struct {
	// From is the component, as in Cut, but for simulated nodes.
	From string `json:"from"`
	// Resource is a plural name. If unset, events of all watches are late.
	Resource string `json:"resource,omitempty"`
	// Delay is how late events are. If unset, they come when the link is healed.
	Delay behavior.Duration `json:"delay,omitempty"`
}

func (s Stale) Action() spec.Action {
	return Fault{Link: spec.ParseLink(s.From), Fault: record.LinkFault{
		Path: record.AnyPath, Verb: "watch", Resource: s.Resource, Delay: time.Duration(s.Delay), Stale: true,
	}}
}

// Heal takes the fault of a link away.
type Heal string

func (h Heal) Action() spec.Action { return Fault{Link: spec.ParseLink(string(h)), Heals: true} }

// Fault gives a link a fault, or none.
type Fault struct {
	Link  spec.Link        `json:"link"`
	Fault record.LinkFault `json:"fault"`
	// Heals is true if the fault that the link has is taken away.
	Heals bool `json:"-"`
}

func (f Fault) Check(field spec.Field) {
	if f.Heals {
		field.Named("", f.Link.From)
		return
	}
	field.Named(".from", f.Link.From)
	switch shorthand := f.Fault.Lost || f.Fault.Stale || f.Fault.Crash != ""; {
	case f.Link.To == spec.Runtime && shorthand:
		field.Report(".from", "%s", noRequests)
		return
	case f.Link.To == spec.Etcd && f.Fault.OfRequests():
		field.Report(".from", "the link to etcd sees bytes, and no requests: cut it, or slow it down")
		return
	}
	if !f.checkKind(field) {
		return
	}
	if f.Fault.Resource != "" {
		checkResource(field, ".resource", f.Fault.Resource)
	}
	if err := f.Fault.Validate(); err != nil {
		for mistake := range strings.Lines(err.Error()) {
			field.Refuse("", true, "%s", strings.TrimSpace(mistake))
		}
	}
	field.Refuse("", f.Fault == record.LinkFault{Direction: f.Fault.Direction}, "nothing would change: give delay, jitter or bytesPerSecond")
}

// The parts of a fault that only links of a kind have, with what to say on another one.
const (
	noCalls    = "only the link of a kubelet to its container runtime has calls"
	noBytes    = "the link to a container runtime sees calls, and no bytes"
	noRequests = "a container runtime is asked by gRPC: give method, code and message"
)

var (
	ofCalls   = map[string]string{"method": noCalls, "code": noCalls, "message": noCalls}
	ofNoCalls = map[string]string{
		"direction": noBytes, "afterBytes": noBytes, "jitter": noBytes, "bytesPerSecond": noBytes,
		"path": noRequests, "verb": noRequests, "resource": noRequests, "nth": noRequests, "status": noRequests, "retryAfter": noRequests,
	}
)

// checkKind reports the parts of a fault that links of another kind have, and names that
// a container runtime does not know. It returns whether there are none.
func (f Fault) checkKind(field spec.Field) bool {
	refused := ofCalls
	if f.Link.To == spec.Runtime {
		refused = ofNoCalls
	}
	found := field.Present(slices.Sorted(maps.Keys(refused))...)
	for _, part := range found {
		field.Report("."+part, "%s", refused[part])
	}
	if len(found) > 0 {
		return false
	}
	known := true
	one := func(part, name string, names []string, what string) {
		if name != "" && !slices.Contains(names, name) {
			known = false
			field.Refuse(part, true, "a container runtime has no %s %s: %s", what, strict.Quote(name), strict.DidYouMean(name, names))
		}
	}
	if f.Fault.Verb != "" && !slices.Contains(record.Verbs, f.Fault.Verb) {
		field.Report(".verb", "%s is no verb of a request: %s", strict.Quote(f.Fault.Verb), strict.DidYouMean(f.Fault.Verb, record.Verbs))
		return false
	}
	one(".code", f.Fault.Code, record.Codes, "code")
	if f.Fault.Method != record.AnyMethod {
		one(".method", f.Fault.Method, spec.RuntimeMethods, "method")
	}
	return known
}

// faults are what is wrong with the links of a rig: what is sent, or requests, and beside it the
// events of watches.
type faults map[faulty]record.LinkFault

type faulty struct {
	link   spec.Link
	events bool
}

func (f Fault) Change(r *spec.Rig) {
	if !f.Heals {
		f.disturb(r)
		return
	}
	if l := f.Link; f.isOf(r, "") {
		all := spec.Memory[faults](r)
		before := len(all)
		maps.DeleteFunc(all, func(of faulty, _ record.LinkFault) bool { return of.link == l })
		if len(all) == before {
			r.Conflict("", "the link from %s to %s has no fault", l.From, l.To)
		}
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
	case f.Fault.OfRequests(), f.Fault.OfCalls():
		return OneLine("on " + to + ": " + f.Fault.String())
	default:
		return OneLine("slow " + to + ": " + f.Fault.String())
	}
}

func (f Fault) Run(_ context.Context, rig Rig) error { return rig.SetLink(f.Link, f.Fault) }

// Facts are those of a link that gets a fault or none. A link of the control plane is part of it from the beginning.
func (f Fault) Facts() Facts {
	facts := Facts{Needs: NeedsLinks, Component: f.Link.From, Reach: ofComponent(f.Link.From, ReachAll), Changes: true, Silences: true}
	if f.Link.To != spec.Runtime && !spec.IsSimulated(f.Link.From) { // which have links without it
		facts.Links = []spec.Link{f.Link}
	}
	if f.Fault.OfRequests() && f.Link.From != spec.Watchdog { // whose requests are always seen
		facts.Inspects = f.Link.From
	}
	if f.Fault.Method == "RuntimeConfig" {
		facts.Needs = NeedsRuntimeConfig
	}
	return facts
}

// disturb gives a link a fault. A link has one at a time, as two would hide what each of them
// does, but for one of watch events, which touches no request.
func (f Fault) disturb(r *spec.Rig) {
	l, fault := f.Link, f.Fault
	if !f.isOf(r, ".from") {
		return
	}
	all := spec.Memory[faults](r)
	for _, other := range slices.SortedFunc(maps.Keys(all), func(a, b faulty) int { return strings.Compare(a.link.String(), b.link.String()) }) {
		if overlap(l.From, other.link.From) && l.To == other.link.To && fault.Stale == other.events {
			r.Conflict(".from", "the link from %s to %s has a fault already (%s): heal it first", other.link.From, other.link.To, all[other])
		}
	}
	if fault.Crash != "" && l.From == spec.Watchdog && l.To != spec.SeedAPIServer {
		r.Conflict(".from", "what kills %s is its link to the seed: %s", l.From, spec.WatchdogToSeed)
	}
	if fault.OfRequests() && spec.IsSimulated(l.From) {
		r.Conflict(".from", "the links of simulated nodes see no requests")
	}
	if only := (record.LinkFault{Cut: fault.Cut, Delay: fault.Delay}); spec.IsSimulated(l.From) && !fault.OfRequests() && fault != only {
		r.Conflict(".from", "links of simulated nodes can only be cut in both directions, or delay each request")
	}
	all[faulty{l, fault.Stale}] = fault
}

// isOf reports whether the rig has such a link.
func (f Fault) isOf(r *spec.Rig, field string) bool {
	l := f.Link
	c := r.Find(field, l.From)
	if c == nil {
		return false
	}
	switch {
	case l.To == spec.Runtime && strings.HasPrefix(c.Name, spec.KubeletPrefix):
		return true
	case l.To == spec.Etcd && record.Program(c.Name) == spec.APIServer:
		return true
	}
	if !connects(r, field, *c) {
		return false
	}
	if l.To != spec.APIServer && (l.From != spec.Watchdog || l.To != spec.SeedAPIServer) {
		r.Conflict(field, "%s does not connect to %s", l.From, strict.Quote(l.To))
		return false
	}
	return true
}

// connects reports whether a component connects to an API server, and says so if it does not.
func connects(r *spec.Rig, field string, c spec.Component) bool {
	program := spec.Program(c.Name)
	switch {
	case c.Standalone:
		r.Conflict(field, "%s is standalone, and connects to no API server", c.Name)
	case program == spec.Etcd || program == spec.APIServer:
		r.Conflict(field, "%s does not connect to an API server: kubelets, %s and %s do", c.Name, spec.ControllerManager, spec.Scheduler)
	default:
		return true
	}
	return false
}
