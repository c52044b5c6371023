package runtime

import (
	"net/netip"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Container is what the runtime knows of a container at one moment.
type Container struct {
	// ID is the container's id, as a pod's status has it after "skewrig://".
	ID string
	// Path is "namespace/pod/container".
	Path string
	// Image is the full reference of the container's image.
	Image string
	// IP is the pod's address, or the node's for a host-network pod.
	IP netip.Addr
	// Attempt is the kubelet's count of earlier containers of that name.
	Attempt uint32
	// State is "created", "running" or "exited".
	State string
	// ExitCode is that of a container that has exited.
	ExitCode int32
}

var stateNames = map[cri.ContainerState]string{
	cri.ContainerState_CONTAINER_CREATED: "created",
	cri.ContainerState_CONTAINER_RUNNING: "running",
	cri.ContainerState_CONTAINER_EXITED:  "exited",
}

// Containers returns the containers that exist, oldest first.
func (r *Runtime) Containers() []Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Container
	for _, c := range r.selectContainers(nil) {
		all = append(all, Container{
			ID:       c.id,
			Path:     c.path,
			Image:    c.image.Reference,
			IP:       c.sandbox.ip,
			Attempt:  c.config.Metadata.Attempt,
			State:    stateNames[c.state],
			ExitCode: c.exit.code,
		})
	}
	return all
}
