package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// The components that a rig has beside its kubelets, which are kubelet/<node>.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
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
	LeasingNodes  = "lease-nodes"
)

var gateName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// kubeletPrefix begins the name of a node's kubelet.
const kubeletPrefix = "kubelet/"

// Component is a component as it is in force.
type Component struct {
	Name    string
	Version release.Version
	Gates   release.Gates
	Running bool
}

// Conflict is something that a rig can't be, or a step can't do.
type Conflict struct {
	// Field is the path of the field, within the topology or the step.
	Field   string
	Message string
}

// Rig is the components of a cell as they are in force between two steps. It
// knows which of them a real rig can have; nothing is started.
type Rig struct {
	components []Component // sorted by name
	faults     map[Link]record.LinkFault
	agents     map[string]string // the nodes that watches and polls ask, by step
	standalone map[string]bool   // kubelets without an API server
	conflicts  []Conflict
	// skews are those reported, so that one that lasts is reported once.
	skews map[string]bool
	// checkGate says whether a release has a gate.
	checkGate func(release.Version, string) error
}

// NewRig returns the rig of a topology at the beginning, and why it can't be,
// if it can't.
func NewRig(t Topology) (*Rig, []Conflict) { return newRig(t, release.CheckGate) }

func newRig(t Topology, checkGate func(release.Version, string) error) (*Rig, []Conflict) {
	r := &Rig{checkGate: checkGate, skews: make(map[string]bool), faults: make(map[Link]record.LinkFault), agents: make(map[string]string), standalone: make(map[string]bool)}
	r.components = append(r.components, Component{Name: Etcd, Version: release.Etcd, Running: true})
	names := []string{APIServer}
	if enabled(t.ControlPlane.ControllerManager) {
		names = append(names, ControllerManager)
	}
	if enabled(t.ControlPlane.Scheduler) {
		names = append(names, Scheduler)
	}
	version := r.resolve("controlPlane.version", t.ControlPlane.Version)
	for _, name := range names {
		r.components = append(r.components, Component{
			Name: name, Version: version, Gates: t.ControlPlane.Gates.Clone(), Running: true,
		})
	}
	r.checkGates("controlPlane.gates", version, t.ControlPlane.Gates)
	for i, node := range t.Nodes {
		r.addKubelet(fmt.Sprintf("nodes[%d]", i), node)
	}
	r.addSimulated(t)
	if t.Garden != nil {
		r.addGarden(*t.Garden, version)
	}
	slices.SortStableFunc(r.components, func(a, b Component) int { return strings.Compare(a.Name, b.Name) })
	return r, r.take()
}

func enabled(b *bool) bool { return b == nil || *b }

func (r *Rig) addKubelet(at string, node Node) {
	kubelet := Component{
		Name: kubeletPrefix + node.Name, Version: r.resolveNode(at+".version", node.Version),
		Gates: node.Gates.Clone(), Running: true,
	}
	r.components = append(r.components, kubelet)
	if node.Standalone {
		r.standalone[kubelet.Name] = true
	}
	r.checkGates(at+".gates", kubelet.Version, node.Gates)
	r.checkSkew(at+".version", kubelet)
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
	switch {
	case s.Restart != nil:
		r.start("restart", *s.Restart)
	case s.Start != nil:
		if c, known := r.Component(s.Start.Component); known && c.Running {
			r.conflict("start.component", "%s is running already: restart starts a component that runs", c.Name)
		}
		r.start("start", *s.Start)
	case s.Stop != "":
		r.stop("stop", s.Stop)
	case s.Kill != "":
		r.stop("kill", s.Kill)
	case s.Scrape != nil:
		if c := r.find("scrape.component", s.Scrape.Component); c != nil && !c.Running {
			r.conflict("scrape.component", "%s is not running", c.Name)
		}
	case s.Log != nil:
		r.find("log.component", s.Log.Component)
	case s.PodsAPI != nil:
		r.asksPods(*s.PodsAPI)
		r.began(s.Name, *s.PodsAPI)
	case s.Cut != nil:
		r.disturb("cut.from", s.Cut.From, s.Cut.Fault())
	case s.Slow != nil:
		r.disturb("slow.from", s.Slow.From, s.Slow.Fault())
	case s.Answer != nil:
		r.disturb("answer.from", s.Answer.From, s.Answer.Fault())
	case s.Heal != "":
		r.heal("heal", s.Heal)
	case s.Clock != nil:
		r.setClock("clock.of", s.Clock.Of)
	case s.StaticPod != nil:
		r.find("staticPod.node", kubeletPrefix+s.StaticPod.Node)
	}
	return r.take()
}

func (r *Rig) stop(field, name string) {
	c := r.find(field, name)
	if c == nil {
		return
	}
	if !c.Running {
		r.conflict(field, "%s is not running", name)
	}
	r.checkZones(field, c.Name)
	c.Running = false
}

func (r *Rig) start(field string, change Restart) {
	c := r.find(field+".component", change.Component)
	if c == nil {
		return
	}
	c.Running = true
	if same, is := unchangeable(c.Name); is {
		r.unchanged(field, c.Name, same, change)
		return
	}
	if c.Name == Watchdog {
		r.startWatchdog(field, c, change)
		return
	}
	before := *c
	if c.Version == release.Reference && change.Version != "" {
		r.conflict(field+".version", "the kubelet of node %s is the reference, and stays that", strings.TrimPrefix(c.Name, kubeletPrefix))
		return
	}
	if change.Version != "" {
		if v := r.resolve(field+".version", change.Version); v != "" {
			c.Version = v
		}
	}
	c.Gates = r.gates(field, c.Gates, change)
	r.checkStart(field, before, *c)
	r.checkGates(field+".gates", c.Version, change.Gates)
	if c.Version != before.Version {
		r.checkKept(field, *c, change)
	}
}

// unchangeable says of a component that is the same all the time why that is.
func unchangeable(name string) (why string, is bool) {
	switch {
	case name == Etcd, name == SeedEtcd:
		return fmt.Sprintf("etcd is %s in every rig", release.Etcd), true
	case name == SeedAPIServer:
		return "the seed stays as it is", true
	case isSimulated(name):
		return "simulated nodes have no release", true
	default:
		return "", false
	}
}

// unchanged reports a change of what is the same all the time.
func (r *Rig) unchanged(field, name, why string, change Restart) {
	if change.Version != "" {
		r.conflict(field+".version", "%s", why)
	}
	r.checkNoGates(field, name, change)
}

// checkNoGates reports gates of what has none.
func (r *Rig) checkNoGates(field, name string, change Restart) {
	if len(change.Gates) > 0 {
		r.conflict(field+".gates", "%s has no feature gates", name)
	}
	if len(change.Unset) > 0 {
		r.conflict(field+".unset", "%s has no feature gates", name)
	}
}

// gates returns the gates after a change.
func (r *Rig) gates(field string, before release.Gates, change Restart) release.Gates {
	for i, gate := range change.Unset {
		at := fmt.Sprintf("%s.unset[%d]", field, i)
		if _, set := change.Gates[gate]; set {
			r.conflict(at, "gate %s is set by the same step", quote(gate))
		} else if _, set := before[gate]; !set {
			r.conflict(at, "gate %s is not set before this step", quote(gate))
		}
	}
	return before.With(change.Gates, change.Unset...)
}

// checkKept reports gates of before that the release doesn't have: the
// component would refuse to start.
func (r *Rig) checkKept(field string, c Component, change Restart) {
	for _, gate := range c.Gates.Names() {
		if _, set := change.Gates[gate]; set || !gateName.MatchString(gate) {
			continue
		}
		if err := r.checkGate(c.Version, gate); err != nil {
			r.conflict(field, "%s still has gate %s set: %v; unset: [%s] takes it away", c.Name, gate, err, gate)
		}
	}
}

func (r *Rig) checkGates(field string, v release.Version, gates release.Gates) {
	for _, gate := range gates.Names() {
		at := fmt.Sprintf("%s[%q]", field, gate)
		if !gateName.MatchString(gate) {
			r.conflict(at, "%s can't name a feature gate", quote(gate))
			continue
		}
		if v == "" {
			continue
		}
		if err := r.checkGate(v, gate); err != nil {
			r.conflict(at, "%v", err)
		}
	}
}

func (r *Rig) find(field, name string) *Component {
	var names []string
	for i := range r.components {
		if r.components[i].Name == name {
			return &r.components[i]
		}
		names = append(names, r.components[i].Name)
	}
	r.conflict(field, "this rig has no component %s: %s", quote(name), didYouMean(name, names))
	return nil
}

func (r *Rig) resolve(field string, version release.Version) release.Version {
	v, err := ResolveVersion(version)
	if err != nil {
		r.conflict(field, "%v", err)
	}
	return v
}

// resolveNode is resolve for a node, which may be the reference.
func (r *Rig) resolveNode(field string, version release.Version) release.Version {
	if version == release.Reference {
		return release.Reference
	}
	return r.resolve(field, version)
}

func (r *Rig) conflict(field, format string, args ...any) {
	r.conflicts = append(r.conflicts, Conflict{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (r *Rig) take() []Conflict {
	conflicts := r.conflicts
	r.conflicts = nil
	return conflicts
}
