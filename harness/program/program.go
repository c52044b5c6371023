// Package program has the table of the programs that a rig runs, or that are started beside one: what each is compiled from, where
// it runs and serves, and what of its configuration is the rig's. A new component begins with an entry.
package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// The names of the programs.
const (
	Etcd               = "etcd"
	APIServer          = "kube-apiserver"
	ControllerManager  = "kube-controller-manager"
	Scheduler          = "kube-scheduler"
	Kubelet            = "kubelet"
	DependencyWatchdog = "dependency-watchdog"
	HealthProbe        = "grpc-health-probe"
	TypedClient        = "typed-client"
	Kubectl            = "kubectl"
	Kubeadm            = "kubeadm"
	NodeE2E            = "node-e2e"
	Container          = "container"
)

// Role says where a program runs.
type Role int

const (
	// Beside are programs that steps, containers or a node image start.
	Beside Role = iota
	// Store is the etcd of a control plane.
	Store
	// Server are API servers.
	Server
	// Controller are programs of a control plane that are clients of its API servers. Where there are several of one, they elect
	// a leader. They serve at 127.0.0.1 of a kind node.
	Controller
	// Agent runs on a node, which has one.
	Agent
	// Prober watches the control plane from another cluster.
	Prober
)

// The modules that programs are compiled from, and Mains, the module of skewrig's own main packages.
const (
	Kubernetes = "k8s.io/kubernetes"
	Skewrig    = "github.com/skewrig/skewrig"
	Mains      = Skewrig + "/harness/engine"

	etcdModule        = "go.etcd.io/etcd/server/v3"
	watchdogModule    = "github.com/gardener/dependency-watchdog"
	healthProbeModule = "github.com/grpc-ecosystem/grpc-health-probe"
)

// Program is what skewrig knows of a program.
type Program struct {
	Name string
	Role Role
	// Module is what is released, and Package the package with the main function.
	Module, Package string
	// OwnLock is true for a program of Kubernetes that is compiled with a lock of its own: it needs more modules than the others.
	OwnLock bool
	// Port is where the program serves, PeerPort where others of its kind connect, and HealthPort where it reports its health if
	// that is another port. Health is the path, and Plain is true if there is no TLS.
	Port, PeerPort, HealthPort int
	Health                     string
	Plain                      bool
	// Config is the configuration file, of a program that has one.
	Config *Config
}

// Config is what a configuration file is.
type Config struct {
	APIVersion, Kind string
	// Own are the fields that a rig sets, and why.
	Own map[string]string
}

// All are the programs, in the order in which a rig starts them. Those beside a rig come last.
var All = []Program{
	{Name: Etcd, Role: Store, Module: etcdModule, Package: etcdModule, Port: 2379, PeerPort: 2380, Health: "/readyz"},
	{Name: APIServer, Role: Server, Module: Kubernetes, Package: Kubernetes + "/cmd/kube-apiserver", Port: 6443, Health: "/readyz"},
	{Name: ControllerManager, Role: Controller, Module: Kubernetes, Package: Kubernetes + "/cmd/kube-controller-manager", Port: 10257, Health: "/healthz"},
	{
		Name: Scheduler, Role: Controller, Module: Kubernetes, Package: Kubernetes + "/cmd/kube-scheduler", Port: 10259, Health: "/healthz",
		Config: &Config{"kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration", map[string]string{
			"clientConnection.kubeconfig": ownKubeconfig, "leaderElection.leaderElect": ownElection,
		}},
	},
	{
		Name: Kubelet, Role: Agent, Module: Kubernetes, Package: Mains + "/kubelet", Port: 10250, HealthPort: 10248, Health: "/healthz", Plain: true,
		Config: &Config{"kubelet.config.k8s.io/v1beta1", "KubeletConfiguration", map[string]string{
			"featureGates": ownGates, "containerRuntimeEndpoint": ownAddress, "address": ownAddress, "port": ownAddress,
			"healthzBindAddress": ownAddress, "healthzPort": ownAddress, "tlsCertFile": ownCertificate, "tlsPrivateKeyFile": ownCertificate,
			"staticPodPath": ownDirectory, "podLogsDir": ownDirectory, "volumePluginDir": ownDirectory,
			"cgroupsPerQOS": "there are no cgroups", "enforceNodeAllocatable": "there are no cgroups",
		}},
	},
	// Gardener's, with its prober.
	{Name: DependencyWatchdog, Role: Prober, Module: watchdogModule, Package: watchdogModule, Port: 9643, Health: "/metrics", Plain: true},
	// The grpc_health_probe that exec probes run.
	{Name: HealthProbe, Module: healthProbeModule, Package: healthProbeModule},
	// Reads and writes objects by the types of a release.
	{Name: TypedClient, Module: Kubernetes, Package: Mains + "/typedclient"},
	{Name: Kubectl, Module: Kubernetes, Package: Kubernetes + "/cmd/kubectl"},
	// Joins the nodes of a kind cluster.
	{Name: Kubeadm, Module: Kubernetes, Package: Kubernetes + "/cmd/kubeadm", OwnLock: true},
	// Runs the specs of SIG Node that are common to all clusters.
	{Name: NodeE2E, Module: Kubernetes, Package: Mains + "/nodee2e", OwnLock: true},
	// Runs in the images of real containers. It is part of skewrig, and users can't ask for it.
	{Name: Container, Module: Skewrig, Package: Skewrig + "/cmd/container"},
}

// Of returns the program of a name, and whether it exists.
func Of(name string) (p Program, known bool) {
	i := slices.IndexFunc(All, func(p Program) bool { return p.Name == name })
	if i < 0 {
		return Program{}, false
	}
	return All[i], true
}

// Names returns the names of the programs with one of these roles, in the order in which a rig starts them.
func Names(roles ...Role) (names []string) {
	for _, p := range All {
		if slices.Contains(roles, p.Role) {
			names = append(names, p.Name)
		}
	}
	return names
}

// HasRole reports whether a program has one of these roles.
func HasRole(name string, roles ...Role) bool {
	p, known := Of(name)
	return known && slices.Contains(roles, p.Role)
}

// IsKubernetes reports whether releases of Kubernetes contain the program.
func (p Program) IsKubernetes() bool { return p.Module == Kubernetes }

// IsOurs reports whether the main function is one of skewrig's that is compiled with another module.
func (p Program) IsOurs() bool { return strings.HasPrefix(p.Package, Mains+"/") }

// HealthURL returns the URL of the program's health at an address.
func (p Program) HealthURL(address string) string {
	scheme, port := "https", p.Port
	if p.Plain {
		scheme = "http"
	}
	if p.HealthPort != 0 {
		port = p.HealthPort
	}
	return fmt.Sprintf("%s://%s:%d%s", scheme, address, port, p.Health)
}

// Skew classifies a program against an API server that it connects to.
func (p Program) Skew(server, own release.Effective) release.Skew {
	if p.Role == Controller {
		return release.ControllerSkewOf(server, own)
	}
	return release.SkewOf(server, own.Version)
}
