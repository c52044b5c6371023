// Package build turns a release into component binaries and keeps them in a
// cache. What is compiled is the release's own Go module; for the kubelet it is
// compiled together with a small main of ours (harness/engine).
package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/checkout"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/spelling"
)

// Component is a program that a rig runs.
type Component string

// The components that can be built (harness/program says what each is).
const (
	Etcd               Component = program.Etcd
	APIServer          Component = program.APIServer
	ControllerManager  Component = program.ControllerManager
	Scheduler          Component = program.Scheduler
	Kubelet            Component = program.Kubelet
	DependencyWatchdog Component = program.DependencyWatchdog
	HealthProbe        Component = program.HealthProbe
	TypedClient        Component = program.TypedClient
	Kubectl            Component = program.Kubectl
	Kubeadm            Component = program.Kubeadm
	NodeE2E            Component = program.NodeE2E
	Container          Component = program.Container
)

// Components returns all components that users can ask for, in the order in which a rig starts them. Those beside a rig come last.
func Components() (all []Component) {
	for _, p := range program.All {
		if p.Name != program.Container {
			all = append(all, Component(p.Name))
		}
	}
	return all
}

// source is what a component is compiled from; unset for one that does not exist.
func (c Component) source() source {
	p, _ := program.Of(string(c))
	return source{p}
}

// isKnown reports whether the component exists.
func (c Component) isKnown() bool {
	_, known := program.Of(string(c))
	return known
}

// isKubernetes reports whether a component is one of a Kubernetes release.
func (c Component) isKubernetes() bool { return c.source().IsKubernetes() }

// Target is one binary that is wanted.
type Target struct {
	Component Component       `json:"component"`
	Version   release.Version `json:"version"`
	// Overlay replaces files of the module while it is compiled: keys
	// are paths within that module, values the files to use instead. It is how
	// a deliberately broken component, or one with a patch under review, is
	// built. If unset, the release is compiled as it was published.
	Overlay map[string]string `json:"overlay,omitempty"`
	// Clock makes it possible to set the component's wall clock while it runs
	// (harness/clock/page). Only a kubelet can be built so, on Linux; the first
	// time takes minutes, as the Go runtime changes and all packages with it.
	// What the kernel dates, such as files, has the machine's time. If unset, so
	// has everything.
	Clock bool `json:"clock,omitempty"`
	// Unmodified has a kubelet be the release's own (cmd/kubelet), for a node with a real
	// container runtime: it has cgroups, mounts and cAdvisor. If unset, it is one for simulated
	// nodes.
	Unmodified bool `json:"unmodified,omitempty"`

	checkout *checkout.Checkout // what it is compiled from; nil for a release
	instead  []StandIn          // what the user lets stand in for modules
}

// String is how a target is written on the command line: kubelet@v1.90.1.
func (t Target) String() string {
	return fmt.Sprintf("%s@%s", t.Component, t.Version) + t.changes()
}

// changes says what is not as it was released.
func (t Target) changes() (s string) {
	if t.isReference() {
		s += " (with skewrig's Pods API server)"
	}
	if len(t.Overlay) > 0 {
		s += " (patched)"
	}
	if t.Clock {
		s += " (own clock)"
	}
	if t.Unmodified {
		s += " (cmd/kubelet)"
	}
	return s
}

// module is the module that a target is compiled from, with its version.
func (t Target) module() string {
	return fmt.Sprintf("%s@%s", t.Component.source().Module, t.Version.Released())
}

// source is the same, with what is not as it was released.
func (t Target) source() string {
	s := t.module()
	if t.checkout != nil {
		s = fmt.Sprintf("%s at %s of %s", program.Kubernetes, t.checkout.Commit, t.checkout.Dir)
		if t.checkout.Dirty {
			s += " with changes that are not committed"
		}
	}
	if instead := t.standInNames(); len(instead) > 0 {
		s += " with " + strings.Join(instead, ", ")
	}
	return s + t.changes()
}

// id identifies a target among those of one run.
func (t Target) id() string {
	return fmt.Sprint(t.Component, "@", t.Version, t.Overlay, t.Clock, t.Unmodified)
}

// from is what a target is compiled from, and whether there is such a component.
func (t Target) from() (s source, known bool) {
	s = t.Component.source()
	if t.Unmodified {
		s.Package = program.Kubernetes + "/cmd/kubelet"
	}
	return s, t.Component.isKnown()
}

// ParseTargets reads what a user wants built: "kubelet@v1.90.1" is one binary,
// "v1.90.1" all components of a Kubernetes release, also written "v1.90", "kubelet" that component of
// the pair.
func ParseTargets(s string, releases release.Releases) ([]Target, error) {
	component, version, both := strings.Cut(s, "@")
	switch {
	case both:
		return parseOne(component, version, releases)
	case strings.HasPrefix(s, "v"):
		v, err := releases.Resolve(s)
		if err != nil {
			return nil, err
		}
		return AllOf(v), nil
	case Component(s) == Etcd:
		return []Target{{Component: Etcd, Version: release.Etcd}}, nil
	case Component(s) == HealthProbe:
		return []Target{{Component: HealthProbe, Version: release.HealthProbe}}, nil
	case Component(s) == DependencyWatchdog:
		var targets []Target
		for _, v := range release.DependencyWatchdog() {
			targets = append(targets, Target{Component: DependencyWatchdog, Version: v})
		}
		return targets, nil
	default:
		newest, previous := releases.Pair()
		targets, err := parseOne(s, string(newest), releases)
		if err != nil {
			return nil, err
		}
		older, err := parseOne(s, string(previous), releases)
		return append(targets, older...), err
	}
}

// Resolve returns the release of the component that a word stands for. Newest,
// previous and minor versions are those of Kubernetes.
func (c Component) Resolve(word string, releases release.Releases) (release.Version, error) {
	if c.isKubernetes() {
		return releases.Resolve(word)
	}
	return release.Parse(word)
}

// NoComponent is the error for a name that no component has.
func NoComponent(name string) error {
	var names []string
	for _, c := range Components() {
		names = append(names, string(c))
	}
	all := strings.Join(names, ", ")
	if near := spelling.Closest(name, names); len(near) > 0 {
		return fmt.Errorf("%q is no component: did you mean %s? Components: %s", name, near[0], all)
	}
	return fmt.Errorf("%q is no component; components: %s", name, all)
}

func parseOne(component, version string, releases release.Releases) ([]Target, error) {
	if !slices.Contains(Components(), Component(component)) {
		return nil, NoComponent(component)
	}
	v, err := Component(component).Resolve(version, releases)
	if err != nil {
		return nil, err
	}
	return []Target{{Component: Component(component), Version: v}}, nil
}

// AllOf returns every component of a Kubernetes release that a rig consists of, with the
// etcd that rigs use.
func AllOf(v release.Version) []Target {
	var targets []Target
	for _, c := range Components() {
		switch {
		case c == Etcd:
			targets = append(targets, Target{Component: c, Version: release.Etcd})
		case c.isKubernetes() && c.source().Role != program.Beside:
			targets = append(targets, Target{Component: c, Version: v})
		}
	}
	return targets
}
