package skewtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// The types of the scenario language, field by field.
type (
	// ControlPlane is what runs beside the nodes.
	ControlPlane = spec.ControlPlane
	// NodeMonitor is how the controller manager looks after nodes.
	NodeMonitor = spec.NodeMonitor
	// Node is a node with a real kubelet, of any release.
	Node = spec.Node
	// Gates are feature gates that are set, by name.
	Gates = map[string]bool
	// Image maps the images that match a pattern to a fake server.
	Image = record.Image
	// Listener is a port of a fake server, and what it speaks.
	Listener = behavior.Listener
)

// Topology is the rig that a test needs. A release is "newest", "previous", a minor
// version ("v1.36") or a release in full ("vX.Y.Z"). The zero value is a control plane
// of the newest release, and no nodes.
type Topology struct {
	ControlPlane ControlPlane
	// Nodes have a kubelet each. If unset, pods stay pending.
	Nodes []Node
	// Images are what pods run. The images of agnhost need no entry. If unset, pods can
	// run only those.
	Images []Image
	// Clients are programs of the test that connect to the API server through a link,
	// which can be cut, and which records their requests: see Rig.ClientConfig. If
	// unset, none.
	Clients []string
	// Observe are resources whose objects go into the record beside those of every rig,
	// by their plural name: "jobs". If unset, none.
	Observe []string
	// AllowHost lets the rig reach beyond itself: components have flags and configuration with paths,
	// programs and addresses of this machine, containers its directories and network, and webhooks
	// other addresses than loopback. If unset, such settings are errors, and components ask no other machine.
	AllowHost bool
}

// rigID is what the rig of a test is called in plans.
const rigID = "skewtest/rig/topology"

// cell is the topology as the plan of a cell without steps. The error is all that is
// wrong with it. Releases are those that words stand for.
func (t Topology) cell(of release.Releases) (plan.Cell, error) {
	problems := append(t.names(), t.images()...)
	topology := spec.Topology{ControlPlane: t.ControlPlane, Nodes: t.Nodes}
	_, conflicts := spec.NewRig(topology, nil, of)
	if problems = append(problems, conflicting(conflicts)...); len(problems) > 0 {
		return plan.Cell{}, fmt.Errorf("the topology: %w", errors.Join(problems...))
	}
	cells, err := plan.Cells([]*spec.File{{Path: rigID, Releases: of, Combinations: []spec.Combination{{
		Scenario: spec.Scenario{ID: rigID, Topology: topology, Images: t.Images},
	}}}})
	if err != nil {
		return plan.Cell{}, err
	}
	if err := app.CheckOutside(cells, false, t.AllowHost); err != nil {
		return plan.Cell{}, fmt.Errorf("the topology: %w", err)
	}
	cells[0].Topology.Observed = append([]string{leases}, t.Observe...)
	return cells[0], nil
}

// names is what is wrong with the names of nodes and clients.
func (t Topology) names() (problems []error) {
	taken := make(map[string]bool)
	check := func(field, name string) {
		switch wrong := validation.IsDNS1123Label(name); {
		case len(wrong) > 0:
			problems = append(problems, fmt.Errorf("%s: %q: %s", field, name, wrong[0]))
		case taken[name]:
			problems = append(problems, fmt.Errorf("%s: there are two of the name %q", field, name))
		case slices.Contains([]string{controlPlane, spec.Etcd, spec.APIServer, spec.ControllerManager, spec.Scheduler}, name):
			problems = append(problems, fmt.Errorf("%s: %q is the name of a component", field, name))
		}
		taken[name] = true
	}
	for i, n := range t.Nodes {
		check(fmt.Sprintf("Nodes[%d].Name", i), n.Name)
	}
	for i, name := range t.Clients {
		check(fmt.Sprintf("Clients[%d]", i), name)
	}
	return problems
}

// images is what is wrong with the images.
func (t Topology) images() (problems []error) {
	for i, image := range t.Images {
		if image.Image == "" {
			problems = append(problems, fmt.Errorf("Images[%d].Image: the pattern is empty", i))
		}
		for j, listener := range image.Listen {
			for _, wrong := range listener.Validate() {
				problems = append(problems, fmt.Errorf("Images[%d].Listen[%d]: %w", i, j, wrong))
			}
		}
	}
	return problems
}

// conflicting are conflicts as errors, each after the field that it is about.
func conflicting(conflicts []spec.Conflict) (problems []error) {
	for _, c := range conflicts {
		problems = append(problems, errors.New(strings.TrimPrefix(strings.TrimPrefix(c.Field, ".")+": "+c.Message, ": ")))
	}
	return problems
}

// links are the ways to the API server that a test can cut: those of all that connects
// to it, but for the test itself.
func (t Topology) links(planned record.Topology) (all []cluster.Link) {
	for _, c := range planned.ControlPlane() {
		if spec.Program(c.Name) != spec.APIServer {
			all = append(all, cluster.Link{From: c.Name})
		}
	}
	for _, n := range planned.Nodes {
		all = append(all, cluster.Link{From: spec.KubeletPrefix + n.Name})
	}
	for _, name := range t.Clients {
		all = append(all, cluster.Link{From: name, HTTP: true})
	}
	return all
}

// controlPlane stands for the components of the control plane that have releases.
const controlPlane = "control-plane"

// Change is what is different about a component after a restart.
type Change struct {
	// Version is a release. If unset, the component stays what it is.
	Version string
	// Gates are set on top of those of before. If unset, none is.
	Gates Gates
	// Unset names gates of before that are left to the default of the release: a release
	// refuses to start with a gate that it does not have. If unset, none is.
	Unset []string
}

// components are what a name stands for: a component, a node for its kubelet, or the
// control plane for its components, in the order in which they start.
func components(instances []cluster.Instance, name string) []string {
	has := func(name string) bool {
		return slices.ContainsFunc(instances, func(i cluster.Instance) bool { return i.Name == name })
	}
	switch {
	case name == controlPlane:
		return ofControlPlane(instances)
	case has(spec.KubeletPrefix + name):
		return []string{spec.KubeletPrefix + name}
	default:
		return []string{name} // that there is none is said by planned
	}
}

// ofControlPlane are the components of the control plane that have releases, in the order in
// which they start.
func ofControlPlane(instances []cluster.Instance) (names []string) {
	for _, i := range instances {
		if slices.Contains([]string{spec.APIServer, spec.ControllerManager, spec.Scheduler}, spec.Program(i.Name)) {
			names = append(names, i.Name)
		}
	}
	return names
}

// linked are those of the components that a name stands for that have a link: of the
// control plane, all but the API servers themselves.
func linked(instances []cluster.Instance, name string) []string {
	all := components(instances, name)
	if name == controlPlane {
		all = slices.DeleteFunc(all, func(c string) bool { return spec.Program(c) == spec.APIServer })
	}
	return all
}

// planned are the restarts that bring a change to what a name stands for, and why they
// can't be. Releases are those that words stand for.
func (c Change) planned(of release.Releases, instances []cluster.Instance, name string) (restarts []action.Restart, err error) {
	var version release.Version
	if c.Version != "" {
		if version, err = spec.ResolveVersion(of, release.Version(c.Version)); err != nil {
			return nil, err
		}
	}
	rig := rigOf(instances)
	var problems []error
	for _, component := range components(instances, name) {
		restart := action.Restart{Component: component, Version: version, Gates: c.Gates, Unset: c.Unset}
		problems = append(problems, conflicting(rig.Do(spec.Step{Action: restart}))...)
		restarts = append(restarts, restart)
	}
	return restarts, errors.Join(problems...)
}

// rigOf is the model of a rig whose components are as they are.
func rigOf(instances []cluster.Instance) *spec.Rig {
	var t spec.Topology
	t.ControlPlane.ControllerManager, t.ControlPlane.Scheduler = new(bool), new(bool)
	for _, i := range instances {
		_, name, several := strings.Cut(i.Name, "/")
		member := spec.Member{Name: name, Version: i.Version, Gates: i.Gates}
		c := &t.ControlPlane
		switch program := spec.Program(i.Name); {
		case strings.HasPrefix(i.Name, spec.KubeletPrefix):
			t.Nodes = append(t.Nodes, Node{Name: name, Version: i.Version, Gates: i.Gates})
		case several && program == spec.APIServer:
			c.Servers = append(c.Servers, member)
		case several && program == spec.ControllerManager:
			c.ControllerManagers = append(c.ControllerManagers, member)
		case several && program == spec.Scheduler:
			c.Schedulers = append(c.Schedulers, member)
		case program == spec.APIServer:
			c.Version, c.Gates = i.Version, i.Gates
		case program == spec.ControllerManager:
			*c.ControllerManager = true
		case program == spec.Scheduler:
			*c.Scheduler = true
		}
	}
	rig, _ := spec.NewRig(t, nil, release.Releases{}) // its validity is checked elsewhere
	return rig
}
