package spec

import (
	"strings"

	"github.com/skewrig/skewrig/harness/program"
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

// Runtime is what a kubelet's link to its container runtime leads to.
const Runtime = "runtime"

// RuntimeMethods are the methods of a container runtime (CRI, version v1).
var RuntimeMethods = []string{
	"Attach", "CheckpointContainer", "CheckpointPod", "ContainerStats", "ContainerStatus", "CreateContainer",
	"Exec", "ExecSync", "GetContainerEvents", "ImageFsInfo", "ImageStatus", "ListContainerStats",
	"ListContainers", "ListImages", "ListMetricDescriptors", "ListPodSandbox", "ListPodSandboxMetrics",
	"ListPodSandboxStats", "PodSandboxStats", "PodSandboxStatus", "PortForward", "PullImage", "RemoveContainer",
	"RemoveImage", "RemovePodSandbox", "ReopenContainerLog", "RestorePod", "RunPodSandbox", "RuntimeConfig",
	"StartContainer", "Status", "StopContainer", "StopPodSandbox", "StreamContainerStats", "StreamContainers",
	"StreamImages", "StreamPodSandboxMetrics", "StreamPodSandboxStats", "StreamPodSandboxes",
	"UpdateContainerResources", "UpdatePodSandboxResources", "UpdateRuntimeConfig", "Version",
}

// ParseLink parses the name of a link: the client, and after -> the server. Without a server, the link
// leads to the rig's API server, or to etcd if the client is an API server.
func ParseLink(s string) Link {
	from, to, explicit := strings.Cut(s, "->")
	switch {
	case explicit:
	case record.Program(from) == APIServer:
		to = Etcd
	default:
		to = APIServer
	}
	return Link{From: from, To: to}
}

// Zone returns the zone of simulated nodes that a component is, empty for all of
// them, and whether it is simulated nodes.
func Zone(component string) (zone string, simulated bool) {
	if component == LeasingNodes {
		return "", true
	}
	return strings.CutPrefix(component, LeasingNodes+"/")
}

// IsSimulated reports whether a component is simulated nodes.
func IsSimulated(component string) bool {
	_, is := Zone(component)
	return is
}

// addSimulated adds the simulated nodes, all of them and those of each zone.
func (r *Rig) addSimulated(t Topology) {
	if t.LeaseNodes == nil {
		return
	}
	r.components = append(r.components, Component{Name: LeasingNodes, Via: t.LeaseNodes.Via, Running: true})
	for zone := range t.LeaseNodes.Zones {
		r.components = append(r.components, Component{Name: LeasingNodes + "/" + zone, Running: true})
	}
	r.CheckVia("leaseNodes.via", t.LeaseNodes.Via)
}

// addGarden adds what a garden has beside the shoot, whose releases are those of
// the rig's control plane.
func (r *Rig) addGarden(g Garden, apiserver release.Version) {
	r.components = append(r.components,
		Component{Name: SeedEtcd, Version: release.Etcd, Running: true},
		Component{Name: SeedAPIServer, Version: apiserver, Running: true})
	switch v, err := ResolveWatchdog(g.Watchdog); {
	case err != nil:
		r.Conflict("garden.watchdog", "%v", err)
	case v != "":
		r.components = append(r.components, Component{Name: Watchdog, Version: v, Via: g.Via, Running: true})
	}
	r.CheckVia("garden.via", g.Via)
}

// Program is the program that a component of a rig is, whichever rig it is in.
// It is empty for what is simulated.
func Program(component string) string {
	if IsSimulated(component) {
		return ""
	}
	return record.Program(strings.TrimPrefix(component, Seed+"/"))
}

// ServerName is the name of the API server that scenarios call by what tells it from others. It
// is empty for none.
func ServerName(member string) string {
	if member == "" {
		return ""
	}
	return APIServer + "/" + member
}

// IsController reports whether a component is a controller manager or a scheduler.
func IsController(component string) bool {
	return program.HasRole(Program(component), program.Controller)
}
