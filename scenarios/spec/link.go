package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// Link is the way from a component to an API server.
type Link = record.Link

// The links of a watchdog, as the record calls them.
const (
	WatchdogToShoot = Watchdog + "->" + APIServer
	WatchdogToSeed  = Watchdog + "->" + SeedAPIServer
)

// Runtime is what a kubelet's link to its container runtime leads to. It has no
// fault but a delay of each call.
const Runtime = "runtime"

// ParseLink reads the name of a link: who connects, which is meant to connect to
// the rig's own API server unless the name says otherwise.
func ParseLink(s string) Link {
	from, to, told := strings.Cut(s, "->")
	if !told {
		to = APIServer
	}
	return Link{From: from, To: to}
}

// disturb gives a link a fault. A link has one at a time, as two would hide what
// each of them does.
func (r *Rig) disturb(field, name string, f record.LinkFault) {
	l, ok := r.link(field, name)
	if !ok {
		return
	}
	for _, other := range slices.SortedFunc(maps.Keys(r.faults), func(a, b Link) int { return strings.Compare(a.String(), b.String()) }) {
		if overlap(l.From, other.From) && l.To == other.To {
			r.conflict(field, "the link from %s to %s has a fault already (%s): heal it before", other.From, other.To, r.faults[other])
		}
	}
	if f.Status != 0 && l.From != Watchdog || f.Path != "" && l.From != Watchdog {
		r.conflict(field, "only the links of %s know of requests", Watchdog)
	}
	if l.To == Runtime && f != (record.LinkFault{Delay: f.Delay}) {
		r.conflict(field, "the link to a container runtime has no fault but a delay")
	}
	if only := (record.LinkFault{Cut: f.Cut, Delay: f.Delay}); isSimulated(l.From) && f != only {
		r.conflict(field, "links of simulated nodes are cut in both directions, or delay each request")
	}
	r.faults[l] = f
}

func (r *Rig) heal(field, name string) {
	l, ok := r.link(field, name)
	if !ok {
		return
	}
	if _, faulty := r.faults[l]; !faulty {
		r.conflict(field, "nothing is wrong with the link from %s to %s", l.From, l.To)
	}
	delete(r.faults, l)
}

// link returns a link of the rig.
func (r *Rig) link(field, name string) (Link, bool) {
	l := ParseLink(name)
	c := r.find(field, l.From)
	if c == nil {
		return l, false
	}
	if l.To == Runtime && strings.HasPrefix(c.Name, kubeletPrefix) {
		return l, true
	}
	if r.standalone[c.Name] {
		r.conflict(field, "%s is standalone, and connects to no API server", c.Name)
		return l, false
	}
	switch c.Name {
	case Etcd, APIServer, SeedEtcd, SeedAPIServer:
		r.conflict(field, "%s does not connect to %s: kubelets, %s and %s do", c.Name, APIServer, ControllerManager, Scheduler)
		return l, false
	}
	if l.To != APIServer && (l.From != Watchdog || l.To != SeedAPIServer) {
		r.conflict(field, "%s does not connect to %s", l.From, quote(l.To))
		return l, false
	}
	return l, true
}

// Zone returns the zone of simulated nodes that a component is, empty for all of
// them, and whether it is simulated nodes.
func Zone(component string) (zone string, simulated bool) {
	if component == LeasingNodes {
		return "", true
	}
	return strings.CutPrefix(component, LeasingNodes+"/")
}

func isSimulated(component string) bool {
	_, is := Zone(component)
	return is
}

// overlap reports whether two components are the same, or one is part of the
// other: the simulated nodes of a zone, and all of them.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// addSimulated adds the simulated nodes, all of them and those of each zone.
func (r *Rig) addSimulated(t Topology) {
	if t.LeaseNodes == nil {
		return
	}
	r.components = append(r.components, Component{Name: LeasingNodes, Running: true})
	for zone := range t.LeaseNodes.Zones {
		r.components = append(r.components, Component{Name: LeasingNodes + "/" + zone, Running: true})
	}
}

// addGarden adds what a garden has beside the shoot, whose releases are those of
// the rig's control plane.
func (r *Rig) addGarden(g Garden, apiserver release.Version) {
	r.components = append(r.components,
		Component{Name: SeedEtcd, Version: release.Etcd, Running: true},
		Component{Name: SeedAPIServer, Version: apiserver, Running: true})
	switch v, err := ResolveWatchdog(g.Watchdog); {
	case err != nil:
		r.conflict("garden.watchdog", "%v", err)
	case v != "":
		r.components = append(r.components, Component{Name: Watchdog, Version: v, Running: true})
	}
}

// startWatchdog starts the watchdog, perhaps as another release.
func (r *Rig) startWatchdog(field string, c *Component, change Restart) {
	if change.Version != "" {
		v, err := ResolveWatchdog(change.Version)
		if err == nil && v == "" {
			err = fmt.Errorf("it is stopped by stop: %s", Watchdog)
		}
		if err != nil {
			r.conflict(field+".version", "%v", err)
			return
		}
		c.Version = v
	}
	r.checkNoGates(field, Watchdog, change)
}

// checkZones reports nodes that are stopped twice: once with all, and once with
// those of their zone.
func (r *Rig) checkZones(field, name string) {
	for _, c := range r.components {
		if c.Name != name && isSimulated(c.Name) && overlap(c.Name, name) && !c.Running {
			r.conflict(field, "%s are not running", c.Name)
		}
	}
}

// setClock reports a clock that can't be set.
func (r *Rig) setClock(field, of string) {
	if c := r.find(field, of); c != nil && !isSimulated(c.Name) && !strings.HasPrefix(c.Name, kubeletPrefix) {
		r.conflict(field, "%s has the clock of this machine: kubelets and simulated nodes can have their own", c.Name)
	}
}

// Program is the program that a component of a rig is, whichever rig it is in.
// It is empty for what is simulated.
func Program(component string) string {
	if isSimulated(component) {
		return ""
	}
	kind, _, _ := strings.Cut(strings.TrimPrefix(component, Seed+"/"), "/")
	return kind
}
