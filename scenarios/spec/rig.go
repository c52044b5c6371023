package spec

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
)

// The components that a rig has beside its kubelets, which are kubelet/<node>.
const (
	Etcd              = "etcd"
	APIServer         = record.APIServer
	ControllerManager = record.ControllerManager
	Scheduler         = record.Scheduler
)

// Seed is the second rig of a garden, and what the names of its components and
// objects begin with.
const Seed = "seed"

// The components that a rig has with a garden, and the simulated nodes, which
// count as one: those of a zone are lease-nodes/<zone>.
const (
	SeedEtcd      = Seed + "/" + Etcd
	SeedAPIServer = Seed + "/" + APIServer
	Watchdog      = "dependency-watchdog"
	HealthProbe   = "grpc-health-probe" // of images, see record.Image
	TypedClient   = "typed-client"      // of steps, as is kubectl
	Kubectl       = "kubectl"
	LeasingNodes  = "lease-nodes"
)

// GateName is what the name of a feature gate is made of.
var GateName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// KubeletPrefix begins the name of a node's kubelet.
const (
	kubelet       = "kubelet"
	KubeletPrefix = kubelet + "/"
)

// Component is a component as it is in force.
type Component struct {
	Name    string
	Version release.Version
	Gates   release.Gates
	// Asked are the gates that are asked for. Gates lacks those that the release does not
	// have and need not.
	Asked release.Gates
	// Via are the API servers that it connects to, where they have names. If unset, the
	// first one.
	Via []string
	// Settings are its flags, its configuration and the version that it emulates.
	Settings
	Running bool
	// Standalone is true for a kubelet without an API server.
	Standalone bool
}

// Conflict is something that a rig can't be, or a step can't do.
type Conflict struct {
	// Field is the path of the field, within the topology or the step.
	Field   string
	Message string
	// Unfit is true if it is one of releases: with others, there may be none.
	Unfit bool
}

// Rig is the components of a cell as they are in force between two steps. It
// knows which of them a real rig can have; nothing is started.
type Rig struct {
	// CheckGate returns an error if a release is known not to have a gate.
	CheckGate func(release.Effective, string) error
	// GateConflicts returns why a component of a release would not start with gates.
	GateConflicts func(release.Effective, release.Gates) []release.GateConflict

	components []Component // sorted by name
	members    []string    // the names of those of the control plane, in the order in which they start
	axes       map[string]string
	releases   release.Releases
	// optional are the gates that a component has set only while its release has them.
	optional []string
	// withDependents has gates come with what they can't be set without.
	withDependents bool
	// unsupported are the rules that the topology breaks.
	unsupported []Rule
	step        Step                 // the one that is being done
	memory      map[reflect.Type]any // of actions
	conflicts   []Conflict
	// skews are those reported, so that one that lasts is reported once.
	skews map[string]bool
}

// NewRig returns the rig of a topology at the beginning, for a cell with these
// values on its axes, and why it can't be, if it can't. Words stand for
// those of the releases.
func NewRig(t Topology, axes map[string]string, releases release.Releases) (*Rig, []Conflict) {
	r := &Rig{
		CheckGate: release.CheckGate, GateConflicts: release.GateConflicts,
		axes: axes, releases: releases, optional: t.OptionalGates, withDependents: t.WithDependents, unsupported: t.Unsupported, skews: make(map[string]bool), memory: make(map[reflect.Type]any),
	}
	r.components = append(r.components, Component{Name: Etcd, Version: release.Etcd, Settings: t.ControlPlane.settings(Etcd), Running: true})
	r.addMembers(t.ControlPlane)
	for i, node := range t.Nodes {
		r.addKubelet(fmt.Sprintf("nodes[%d]", i), node)
	}
	r.addSimulated(t)
	if t.Garden != nil {
		r.addGarden(*t.Garden, r.Servers()[0].Version)
	}
	slices.SortStableFunc(r.components, func(a, b Component) int { return strings.Compare(a.Name, b.Name) })
	return r, r.take()
}

func enabled(b *bool) bool { return b == nil || *b }

func (r *Rig) addKubelet(at string, node Node) {
	comp := Component{
		Name: KubeletPrefix + node.Name, Version: node.Version,
		Via: node.Via, Settings: node.Settings, Running: true, Standalone: node.Standalone,
	}
	if node.Version != release.Reference {
		comp.Version = r.On(comp.Name, r.Resolve(at+".version", node.Version))
	}
	r.SetGates(&comp, node.Gates)
	r.components = append(r.components, comp)
	r.CheckGates(at+".gates", comp.Effective(), node.Gates, nil)
	r.CheckVia(at+".via", node.Via)
	r.CheckSettings(at, "", kubelet, node.Settings)
	r.CheckSkew(at+".version", comp)
}

// Components returns the components, running or not, sorted by name.
func (r *Rig) Components() []Component {
	all := slices.Clone(r.components)
	for i := range all {
		all[i].Gates = all[i].Gates.Clone()
	}
	return all
}

// Component returns the component with a name, and whether there is one.
func (r *Rig) Component(name string) (Component, bool) {
	i := slices.IndexFunc(r.components, func(c Component) bool { return c.Name == name })
	if i < 0 {
		return Component{}, false
	}
	return r.components[i], true
}

// Do does what a step does to the components. It returns why a real rig could
// not do it.
func (r *Rig) Do(s Step) []Conflict {
	if changer, is := s.Action.(Changer); is {
		r.step = s
		changer.Change(r)
		r.step = Step{}
	}
	return r.take()
}

// Step is the step that is being done.
func (r *Rig) Step() Step { return r.step }

// Memory is what actions remember of a rig from step to step, one map of each
// type.
func Memory[M ~map[K]V, K comparable, V any](r *Rig) M {
	t := reflect.TypeFor[M]()
	if r.memory[t] == nil {
		r.memory[t] = make(M)
	}
	remembered, _ := r.memory[t].(M)
	return remembered
}

// SetGates sets gates of a component beside those that were asked for before, as far as its
// release has them or must. Some can be unset.
func (r *Rig) SetGates(c *Component, gates release.Gates, unset ...string) {
	c.Asked = c.Asked.With(gates, unset...)
	c.Gates = nil
	for name, on := range c.Asked {
		if r.has(c.Effective(), name) {
			c.Gates = c.Gates.With(release.Gates{name: on})
		}
	}
	c.Gates = r.whole(c.Effective(), c.Gates)
}

// whole are gates with those that have to be set with them, if they come with them.
func (r *Rig) whole(e release.Effective, gates release.Gates) release.Gates {
	if !r.withDependents || e.Version == "" {
		return gates
	}
	return release.WithDependents(e, gates)
}

// has reports whether a component of a release has a gate set that is asked for.
func (r *Rig) has(e release.Effective, gate string) bool {
	return !slices.Contains(r.optional, gate) || r.CheckGate(e, gate) == nil
}

// CheckGates reports gates that a version does not have, and those that it refuses to be
// set as they are, together with those that are set already.
func (r *Rig) CheckGates(field string, e release.Effective, gates, already release.Gates) {
	for _, gate := range gates.Names() {
		at := fmt.Sprintf("%s[%q]", field, gate)
		if !GateName.MatchString(gate) {
			r.Conflict(at, "%s can't name a feature gate", strict.Quote(gate))
			continue
		}
		if e.Version == "" || !r.has(e, gate) {
			continue
		}
		if err := r.CheckGate(e, gate); err != nil {
			r.unfit(at, "%v", err)
		}
	}
	if e.Version == "" {
		return
	}
	for _, c := range r.GateConflicts(e, r.whole(e, already.With(gates))) {
		r.unfit(fmt.Sprintf("%s[%q]", field, c.Gate), "%s", c.Message)
	}
}

// Find returns the component with a name, and reports that there is none. That
// the name is empty is for Field.Named to report.
func (r *Rig) Find(field, name string) *Component {
	if name == "" {
		return nil
	}
	var names []string
	for i, c := range r.components {
		if c.Name == name {
			return &r.components[i]
		}
		names = append(names, c.Name)
	}
	r.Conflict(field, "this rig has no component %s: %s", strict.Quote(name), strict.DidYouMean(name, names))
	return nil
}

// Meant returns the release that a version of the language stands for.
func (r *Rig) Meant(version release.Version) (release.Version, error) {
	return ResolveVersion(r.releases, version)
}

// Resolve is Meant, and reports that there is none.
func (r *Rig) Resolve(field string, version release.Version) release.Version {
	v, err := r.Meant(version)
	if err != nil {
		r.unfit(field, "%v", err)
	}
	return v
}

// On is what a component of a release is: that release, or the source that stands in for it.
func (r *Rig) On(component string, v release.Version) release.Version {
	return r.releases.Sources.Of(Program(component), v)
}

// Conflict reports that a real rig can't be, or can't do what the step does, as a
// field says: a part of the action, such as ".component", or of the topology.
func (r *Rig) Conflict(field, format string, args ...any) {
	r.conflicts = append(r.conflicts, Conflict{Field: r.step.Kind + field, Message: fmt.Sprintf(format, args...)})
}

// unfit is Conflict for one of releases.
func (r *Rig) unfit(field, format string, args ...any) {
	r.Conflict(field, format, args...)
	r.conflicts[len(r.conflicts)-1].Unfit = true
}

func (r *Rig) take() []Conflict {
	conflicts := r.conflicts
	r.conflicts = nil
	return conflicts
}
