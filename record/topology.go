package record

import (
	"strings"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

// Topology is the rig of a cell, with every release resolved.
type Topology struct {
	// Version is the release of the control plane, and Gates are its feature gates.
	Version release.Version `json:"version"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// Members are the components of a control plane that are not just one of each, of
	// Version and with Gates: API servers first, then controller managers and schedulers.
	// If unset, they are.
	Members []Component `json:"members,omitempty"`
	// PeerProxy has API servers send each other the requests that they can't answer themselves.
	PeerProxy         bool        `json:"peerProxy,omitempty"`
	ControllerManager bool        `json:"controllerManager"`
	Scheduler         bool        `json:"scheduler"`
	NodeMonitor       NodeMonitor `json:"nodeMonitor,omitzero"`
	Nodes             []Node      `json:"nodes,omitempty"`
	// TimeScale is by how much shorter than the scenario says the times of NodeMonitor,
	// LeaseNodes and Garden are: they are those of this rig. If unset, they are as it says.
	TimeScale float64 `json:"timeScale,omitempty"`
	// LeaseNodes are simulated nodes. If unset, there are none.
	LeaseNodes *LeaseNodes `json:"leaseNodes,omitempty"`
	// Garden makes the rig a shoot. If unset, the rig is on its own.
	Garden *Garden `json:"garden,omitempty"`
	// Links are those that the steps cut or slow down.
	Links []Link `json:"links,omitempty"`
	// Inspected are who connects by those of the links that look into what they pass.
	Inspected []string `json:"inspected,omitempty"`
	// Observed are the resources that expressions name beside those of every rig, seed/
	// before those of the seed. Their objects go into the record.
	Observed []string `json:"observed,omitempty"`
	// MayEnd are the components that may end by themselves, since expressions ask whether
	// they run. If another one ends, the cell does.
	MayEnd []string `json:"mayEnd,omitempty"`
	// Etcd has the settings of etcd.
	Etcd Settings `json:"etcd,omitzero"`
}

// The programs of a control plane.
const (
	APIServer         = program.APIServer
	ControllerManager = program.ControllerManager
	Scheduler         = program.Scheduler
)

// Program is what a component runs: kube-apiserver of kube-apiserver/b, kubelet of kubelet/node-a.
func Program(component string) string {
	program, _, _ := strings.Cut(component, "/")
	return program
}

// Member is what tells a component from others of its program: b of kube-apiserver/b, and nothing
// of the only one.
func Member(component string) string {
	_, member, _ := strings.Cut(component, "/")
	return member
}

// ControlPlane are the components of the control plane beside etcd, in the order in which
// they start.
func (t Topology) ControlPlane() []Component {
	if len(t.Members) > 0 {
		return t.Members
	}
	all := []Component{{Name: APIServer, Version: t.Version, Gates: t.Gates}}
	if t.ControllerManager {
		all = append(all, Component{Name: ControllerManager, Version: t.Version, Gates: t.Gates})
	}
	if t.Scheduler {
		all = append(all, Component{Name: Scheduler, Version: t.Version, Gates: t.Gates})
	}
	return all
}

// Servers are the names of the API servers, in the order in which they start.
func (t Topology) Servers() (names []string) {
	for _, c := range t.ControlPlane() {
		if Program(c.Name) == APIServer {
			names = append(names, c.Name)
		}
	}
	return names
}

// Observed are the resources whose objects go into every record.
var Observed = []string{"pods", "events", "nodes", "deployments", "replicasets", "daemonsets", "statefulsets"}

// NodeMonitor is how the controller manager monitors nodes. What is unset is the
// default of the release.
type NodeMonitor struct {
	Period behavior.Duration `json:"period,omitempty"`
	Grace  behavior.Duration `json:"grace,omitempty"`
}

// Node is a node with a kubelet.
type Node struct {
	Name    string          `json:"name"`
	Version release.Version `json:"version"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// Via are the names of the API servers that the kubelet connects to. If unset, the first
	// one.
	Via []string `json:"via,omitempty"`
	// Settings are those of the kubelet besides its gates.
	Settings
	// OwnClock is true if the steps set the clock of the kubelet.
	OwnClock bool `json:"ownClock,omitempty"`
	// Standalone is a kubelet without an API server.
	Standalone bool `json:"standalone,omitempty"`
	// Defaults are settings of the kubelet that are left to its release.
	Defaults []string `json:"defaults,omitempty"`
	// Runtime is the node's container runtime: Containerd, which has real containers. If unset, it
	// is skewrig's own, whose containers are programs inside of it.
	Runtime string `json:"runtime,omitempty"`
	// RuntimeHandlers are those of the node's container runtime beside the default one.
	RuntimeHandlers RuntimeHandlers `json:"runtimeHandlers,omitzero"`
	// Endpoints is true if pods report addresses that EndpointSlices take, and that nothing reaches.
	Endpoints bool `json:"endpoints,omitempty"`
}

// The container runtimes of nodes: skewrig's own, and one with real containers.
const (
	Simulated  = "simulated"
	Containerd = "containerd"
)

// Runtimes are all of them.
var Runtimes = []string{Simulated, Containerd}

// RuntimeHandlers are what a container runtime runs pods with (CRI, RuntimeHandler), beside the
// default one, which has no name.
type RuntimeHandlers struct {
	// Names are as in a RuntimeClass: DNS labels.
	Names []string `json:"names"`
	// Shuffled has the runtime list them in another order each time, the default one among
	// them, as one does that goes through a map. If unset, their order is always that of Names.
	Shuffled bool `json:"shuffled,omitempty"`
}

// String says it in a few words, and nothing if there are none.
func (h RuntimeHandlers) String() string {
	if len(h.Names) == 0 {
		return ""
	}
	text := "runtime handlers " + strings.Join(h.Names, ", ")
	if h.Shuffled {
		text += " in another order each time"
	}
	return text
}

// LeaseNodes are simulated nodes, with the times of this rig.
type LeaseNodes struct {
	// Zones has one zone without a name if the nodes have none.
	Zones    []Zone            `json:"zones"`
	Duration behavior.Duration `json:"duration"`
	Interval behavior.Duration `json:"interval"`
	// Timeout is how long a node waits for an answer, Status how often it checks
	// whether the API server has it as ready, Report how often it reports so.
	Timeout behavior.Duration `json:"timeout"`
	Status  behavior.Duration `json:"status"`
	Report  behavior.Duration `json:"report"`
	// Offset is how far the clocks are ahead from the beginning.
	Offset behavior.Duration `json:"offset,omitempty"`
	Seed   uint64            `json:"seed,omitempty"`
	// Via are the names of the API servers that the nodes connect to. If unset, the first one.
	Via []string `json:"via,omitempty"`
}

// Zone is simulated nodes in one place.
type Zone struct {
	Name  string `json:"name,omitempty"`
	Count int    `json:"count"`
}
