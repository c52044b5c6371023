package spec

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
)

// Member is one of the components of a control plane that are of the same program.
type Member struct {
	// Name tells it from the others, and ends the component's name: API server b is
	// kube-apiserver/b.
	Name string `json:"name"`
	// Version is a release, "newest", "previous" or a minor version ("v1.36"). If unset, that
	// of the control plane.
	Version release.Version `json:"version,omitempty"`
	// Gates are set on top of those of the control plane. If unset, none is.
	Gates release.Gates `json:"gates,omitempty"`
	// Settings are on top of those of the control plane. If unset, none is.
	Settings
	// Via are the API servers that it connects to. If unset, the first one. API servers
	// have none.
	Via Via `json:"via,omitempty"`
}

// Via are API servers by the names of the members that they are: one, or several that get
// the connections in turn, as behind a load balancer.
type Via []string

// OneOrMore implements strict.OneOrMore.
func (Via) OneOrMore() {}

// controller is a component of a control plane as the topology asks for it.
type controller struct {
	Member
	program string
	at      string // the field of the topology; empty for one that has no field of its own
}

// name is the name of the component.
func (c controller) name() string {
	if c.at == "" {
		return c.program
	}
	return c.program + "/" + c.Name
}

// members are the components of the control plane in the order in which they start.
func (c ControlPlane) members() (all []controller) {
	add := func(program, field string, members []Member, one bool) {
		for i, m := range members {
			all = append(all, controller{Member: m, program: program, at: fmt.Sprintf("controlPlane.%s[%d]", field, i)})
		}
		if one && len(members) == 0 {
			all = append(all, controller{program: program})
		}
	}
	add(APIServer, "servers", c.Servers, true)
	add(ControllerManager, "controllerManagers", c.ControllerManagers, enabled(c.ControllerManager))
	add(Scheduler, "schedulers", c.Schedulers, enabled(c.Scheduler))
	return all
}

// EachVersion calls do with each release that is asked for of a member, and the field of the
// topology that does.
func (c ControlPlane) EachVersion(do func(field string, v release.Version)) {
	for _, m := range c.members() {
		if m.Version != "" {
			do(m.at+".version", m.Version)
		}
	}
}

// addMembers adds the components of the control plane.
func (r *Rig) addMembers(c ControlPlane) {
	version := r.Resolve("controlPlane.version", c.Version)
	r.checkSettings(c)
	var checked []release.Effective
	for _, m := range c.members() {
		asked := version
		if m.Version != "" {
			asked = r.Resolve(m.at+".version", m.Version)
		}
		member := Component{
			Name: m.name(), Version: r.On(m.program, asked), Settings: c.settings(m.program).With(m.Settings), Via: m.Via, Running: true,
		}
		from := "controlPlane"
		if m.Emulates() {
			from = m.at
		}
		member.Settings = r.Emulation(from, member.Name, member.Settings)
		r.SetGates(&member, c.Gates.With(m.Gates))
		if !slices.Contains(checked, member.Effective()) {
			r.CheckEmulation(from, member)
			r.CheckGates("controlPlane.gates", member.Effective(), c.Gates, nil)
			checked = append(checked, member.Effective())
		}
		if len(m.Gates) > 0 {
			r.CheckGates(m.at+".gates", member.Effective(), m.Gates, c.Gates)
		}
		r.components = append(r.components, member)
		r.members = append(r.members, member.Name)
		r.CheckVia(m.at+".via", m.Via)
		r.CheckSettings(m.at, "", m.program, m.Settings)
	}
	for _, m := range c.members() {
		if member, _ := r.Component(m.name()); m.at != "" {
			r.CheckSkew(m.at+".version", member)
		}
	}
}

// ControlPlane returns the API servers, controller managers and schedulers, in the order in
// which they start.
func (r *Rig) ControlPlane() (all []Component) {
	for _, name := range r.members {
		c, _ := r.Component(name)
		all = append(all, c)
	}
	return all
}

// Servers returns the API servers, in the order in which they start.
func (r *Rig) Servers() []Component {
	return slices.DeleteFunc(r.ControlPlane(), func(c Component) bool { return Program(c.Name) != APIServer })
}

// Reached returns the API servers that a component connects to.
func (r *Rig) Reached(c Component) []Component {
	servers := r.Servers()
	if len(c.Via) == 0 {
		return servers[:min(1, len(servers))]
	}
	return slices.DeleteFunc(servers, func(s Component) bool { return !slices.Contains(c.Via, record.Member(s.Name)) })
}

// Elsewhere is an action about an object that may be on another cluster than the rig's own.
type Elsewhere interface {
	// Elsewhere reports whether it is.
	Elsewhere() bool
}

// checkAsked returns why a step can't ask the API server that it asks.
func (r *Rig) checkAsked(s Step) []Conflict {
	if other, is := s.Action.(Elsewhere); is && other.Elsewhere() {
		if s.Via != "" {
			r.Conflict("via", "the object is on the seed, which has one API server")
		}
		return r.take()
	}
	if s.Via != "" {
		r.CheckVia("via", []string{s.Via})
	}
	for _, server := range r.Reached(Component{Via: via(s.Via)}) {
		if !server.Running {
			hint := ""
			if len(r.Servers()) > 1 {
				hint = ": ask another one by via"
			}
			r.Conflict("via", "%s is not running%s", server.Name, hint)
		}
	}
	return r.take()
}

// via are the API servers that a name stands for, none of them for the empty one.
func via(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// CheckVia reports names of API servers that there are not.
func (r *Rig) CheckVia(field string, via []string) {
	var names []string
	for _, s := range r.Servers() {
		if name := record.Member(s.Name); name != "" {
			names = append(names, name)
		}
	}
	for _, name := range via {
		if len(names) == 0 {
			r.Conflict(field, "there is one API server only: give it and others a name in controlPlane.servers")
			return
		}
		if !slices.Contains(names, name) {
			r.Conflict(field, "there is no API server %s: %s", strict.Quote(name), strict.DidYouMean(name, names))
		}
	}
}

// checkMembers reports what is wrong with the names of members.
func (v *validator) checkMembers() {
	c := v.scenario.Topology.ControlPlane
	lists := []struct {
		field   string
		members []Member
		one     *bool
	}{
		{"servers", c.Servers, nil},
		{"controllerManagers", c.ControllerManagers, c.ControllerManager},
		{"schedulers", c.Schedulers, c.Scheduler},
	}
	for _, list := range lists {
		at := "topology.controlPlane." + list.field
		seen := make(map[string]bool)
		for i, m := range list.members {
			name := fmt.Sprintf("%s[%d].name", at, i)
			v.Refuse(name, !dnsLabel.MatchString(m.Name), "%s can't name a component: use a DNS label, of a-z, 0-9 and -", strict.Quote(m.Name))
			v.Refuse(name, seen[m.Name], "there is a component %s already", strict.Quote(m.Name))
			seen[m.Name] = v.Clean(name)
		}
		v.Refuse(at, !enabled(list.one) && len(list.members) > 0, "%s is false, and so there are none", cmp.Or(list.field[:len(list.field)-1], list.field))
	}
	v.Refuse("topology.controlPlane.controllerManagers", v.scenario.Topology.Garden != nil && len(c.ControllerManagers) > 0,
		"the watchdog of a garden scales one controller manager, which has no name")
	for i := range c.Servers {
		at := fmt.Sprintf("topology.controlPlane.servers[%d].via", i)
		v.Refuse(at, v.Has(at), "an API server connects to no other one")
	}
}

// proxies reports whether an API server sends requests to others, if it may.
func (r *Rig) proxies() bool {
	return slices.ContainsFunc(r.Servers(), func(c Component) bool { return release.On(c.Effective(), c.Gates, release.PeerProxy) })
}

// checkPeerProxy reports a proxy between API servers that there never is.
func (v *validator) checkPeerProxy(servers int, ever bool) {
	const at = "topology.controlPlane.peerProxy"
	asked := v.scenario.Topology.ControlPlane.PeerProxy
	v.Refuse(at, asked && servers < 2, "there is one API server only: name several in controlPlane.servers")
	v.Refuse(at, asked && servers > 1 && !ever, "no API server ever has the gate %s on", release.PeerProxy)
}

// checkUnsupported reports rules that there are not.
func (v *validator) checkUnsupported() {
	var names []string
	for _, rule := range Rules {
		names = append(names, string(rule))
	}
	for i, rule := range v.scenario.Topology.Unsupported {
		v.Refuse(fmt.Sprintf("topology.unsupported[%d]", i), !slices.Contains(Rules, rule),
			"%s is no rule: %s", strict.Quote(string(rule)), strict.DidYouMean(string(rule), names))
	}
}

// maxMembers is how many components of a program a control plane can have: there is an
// address for each.
const maxMembers = 9
