// Package build turns a release into component binaries and keeps them in a
// cache. What is compiled is the release's own Go module; for the kubelet it is
// compiled together with a small main of ours (harness/engine).
package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/checkout"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/spelling"
)

// Component is a program that a rig runs.
type Component string

// The components that can be built.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kubelet           Component = "kubelet"
	// DependencyWatchdog is Gardener's, with its prober.
	DependencyWatchdog Component = "dependency-watchdog"
	// HealthProbe is the grpc_health_probe that people run in exec probes.
	HealthProbe Component = "grpc-health-probe"
	// TypedClient reads and writes objects by the types of a release, and Kubectl is its
	// command line. Steps start them.
	TypedClient Component = "typed-client"
	Kubectl     Component = "kubectl"
	// Kubeadm is what makes a node of a kind cluster one.
	Kubeadm Component = "kubeadm"
	// NodeE2E runs the specs of SIG Node that are common to all clusters.
	NodeE2E Component = "node-e2e"
	// Container is the program in the images that real containers run. It is part of
	// skewrig, and of no release.
	Container Component = "container"
)

// Components lists all components, in the order in which a rig starts them. What runs
// beside a rig, such as exec probes and steps, comes last. Container is not among them: it
// is nobody's to ask for.
func Components() []Component {
	return []Component{Etcd, APIServer, ControllerManager, Scheduler, Kubelet, DependencyWatchdog, HealthProbe, TypedClient, Kubectl, Kubeadm, NodeE2E}
}

// source says what a component is compiled from.
type source struct {
	// module is what is released.
	module string
	// pkg is the package with its main function.
	pkg string
	// glue is true where that package is ours, so that its sources are part of
	// what identifies the binary.
	glue bool
	// own is that main function, if it is not in the archive of our mains.
	own []byte
	// apart is true for a component with a lock of its own: it needs more than the others of
	// its release.
	apart bool
	// client is true for what is started beside a rig.
	client bool
}

var sources = map[Component]source{
	Etcd:               {module: "go.etcd.io/etcd/server/v3", pkg: "go.etcd.io/etcd/server/v3"},
	APIServer:          {module: kubernetesPath, pkg: kubernetesPath + "/cmd/kube-apiserver"},
	ControllerManager:  {module: kubernetesPath, pkg: kubernetesPath + "/cmd/kube-controller-manager"},
	Scheduler:          {module: kubernetesPath, pkg: kubernetesPath + "/cmd/kube-scheduler"},
	Kubelet:            {module: kubernetesPath, pkg: enginePath + "/kubelet", glue: true},
	DependencyWatchdog: {module: watchdogPath, pkg: watchdogPath},
	HealthProbe:        {module: healthProbePath, pkg: healthProbePath},
	TypedClient:        {module: kubernetesPath, pkg: enginePath + "/typedclient", glue: true, client: true},
	Kubectl:            {module: kubernetesPath, pkg: kubernetesPath + "/cmd/kubectl", client: true},
	NodeE2E:            {module: kubernetesPath, pkg: enginePath + "/nodee2e", glue: true, own: nodeE2EMain, apart: true, client: true},
	Kubeadm:            {module: kubernetesPath, pkg: kubernetesPath + "/cmd/kubeadm", apart: true, client: true},
	Container:          {module: modulePath, pkg: modulePath + "/cmd/container"},
}

// isKubernetes reports whether a component is one of a Kubernetes release.
func (c Component) isKubernetes() bool { return sources[c].module == kubernetesPath }

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
	return fmt.Sprintf("%s@%s", sources[t.Component].module, t.Version.Released())
}

// source is the same, with what is not as it was released.
func (t Target) source() string {
	s := t.module()
	if t.checkout != nil {
		s = fmt.Sprintf("%s at %s of %s", kubernetesPath, t.checkout.Commit, t.checkout.Dir)
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
	s, known = sources[t.Component]
	if t.Unmodified {
		s.pkg, s.glue = kubernetesPath+"/cmd/kubelet", false
	}
	return s, known
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
		case c.isKubernetes() && !sources[c].client:
			targets = append(targets, Target{Component: c, Version: v})
		}
	}
	return targets
}
