package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The functions of this file that turn a sandbox or container into a message
// are called with mu held. What a message shares with the runtime, such as
// labels, is never changed.

// ListPodSandbox lists the sandboxes that match the filter, oldest first.
func (s runtimeService) ListPodSandbox(_ context.Context, req *cri.ListPodSandboxRequest) (*cri.ListPodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resp := &cri.ListPodSandboxResponse{}
	for _, b := range s.selectSandboxes(req.GetFilter()) {
		resp.Items = append(resp.Items, &cri.PodSandbox{
			Id:          b.id,
			Metadata:    b.config.Metadata,
			State:       b.state,
			CreatedAt:   b.createdAt,
			Labels:      b.config.Labels,
			Annotations: b.config.Annotations,

			RuntimeHandler: b.handler,
		})
	}
	return resp, nil
}

// PodSandboxStatus returns a sandbox's status. It leaves Timestamp and
// ContainersStatuses unset, by which a kubelet knows that there is no event
// stream and that it has to ask for each container.
func (s runtimeService) PodSandboxStatus(_ context.Context, req *cri.PodSandboxStatusRequest) (*cri.PodSandboxStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.sandboxes[req.GetPodSandboxId()]
	if !ok {
		return nil, notFound("pod sandbox", req.GetPodSandboxId())
	}
	resp := &cri.PodSandboxStatusResponse{Status: s.sandboxStatus(b)}
	if req.GetVerbose() {
		resp.Info = verboseInfo(sandboxInfo{IP: b.ip.String(), HostNetwork: b.hostNetwork(), Overhead: b.overhead, Resources: b.resources})
	}
	return resp, nil
}

func (r *Runtime) sandboxStatus(b *sandbox) *cri.PodSandboxStatus {
	namespaces := b.namespaces()
	if namespaces == nil {
		namespaces = &cri.NamespaceOption{}
	}
	return &cri.PodSandboxStatus{
		Id:          b.id,
		Metadata:    b.config.Metadata,
		State:       b.state,
		CreatedAt:   b.createdAt,
		Network:     &cri.PodSandboxNetworkStatus{Ip: r.reportedIP(b)},
		Linux:       &cri.LinuxPodSandboxStatus{Namespaces: &cri.Namespace{Options: namespaces}},
		Labels:      b.config.Labels,
		Annotations: b.config.Annotations,

		RuntimeHandler: b.handler,
	}
}

// reportedIP returns the address that a kubelet gets. As with containerd,
// it is empty for a host-network pod, which the kubelet gives the node's own,
// and for a sandbox that is stopped.
func (r *Runtime) reportedIP(b *sandbox) string {
	if b.hostNetwork() || b.state != cri.PodSandboxState_SANDBOX_READY {
		return ""
	}
	if !r.config.Reported.IsValid() {
		return b.ip.String()
	}
	address, own := r.config.Reported.Addr().As4(), b.ip.As4()
	bytes := r.config.Reported.Bits() / 8
	copy(address[bytes:], own[bytes:])
	return netip.AddrFrom4(address).String()
}

// ListContainers lists the containers that match the filter, oldest first.
func (s runtimeService) ListContainers(_ context.Context, req *cri.ListContainersRequest) (*cri.ListContainersResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resp := &cri.ListContainersResponse{}
	for _, c := range s.selectContainers(req.GetFilter()) {
		resp.Containers = append(resp.Containers, &cri.Container{
			Id:           c.id,
			PodSandboxId: c.sandbox.id,
			Metadata:     c.config.Metadata,
			Image:        imageSpec(c),
			ImageRef:     repoDigest(c.image),
			ImageId:      c.image.Digest,
			State:        c.state,
			CreatedAt:    c.createdAt,
			Labels:       c.config.Labels,
			Annotations:  c.config.Annotations,
		})
	}
	return resp, nil
}

// ContainerStatus returns a container's status.
func (s runtimeService) ContainerStatus(_ context.Context, req *cri.ContainerStatusRequest) (*cri.ContainerStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.containers[req.GetContainerId()]
	if !ok {
		return nil, notFound("container", req.GetContainerId())
	}
	resp := &cri.ContainerStatusResponse{Status: containerStatus(c)}
	if req.GetVerbose() {
		details := containerInfo{SandboxID: c.sandbox.id, IP: c.sandbox.ip.String(), Args: c.args}
		if c.process != nil {
			details.PID = c.process.pid
		}
		resp.Info = verboseInfo(details)
	}
	return resp, nil
}

func containerStatus(c *container) *cri.ContainerStatus {
	return &cri.ContainerStatus{
		Id:          c.id,
		Metadata:    c.config.Metadata,
		State:       c.state,
		CreatedAt:   c.createdAt,
		StartedAt:   c.startedAt,
		FinishedAt:  c.exit.at,
		ExitCode:    c.exit.code,
		Reason:      c.exit.reason,
		Message:     c.exit.message,
		Image:       imageSpec(c),
		ImageRef:    repoDigest(c.image),
		ImageId:     c.image.Digest,
		Labels:      c.config.Labels,
		Annotations: c.config.Annotations,
		Mounts:      c.config.Mounts,
		LogPath:     c.logPath,
		Resources:   &cri.ContainerResources{Linux: c.resources},
		StopSignal:  cmp.Or(c.config.StopSignal, cri.Signal_SIGNAL_SIGTERM), // as a pod's status shows it
	}
}

// imageSpec names the image as it was pulled. A kubelet asks for a container's
// image by its id, and shows this name in the pod's status.
func imageSpec(c *container) *cri.ImageSpec {
	return &cri.ImageSpec{
		Image:              c.image.Reference,
		Annotations:        c.config.GetImage().GetAnnotations(),
		UserSpecifiedImage: c.config.GetImage().GetUserSpecifiedImage(),
	}
}

// sandboxInfo and containerInfo are what a verbose status says besides.
type (
	sandboxInfo struct {
		IP          string                       `json:"ip"`
		HostNetwork bool                         `json:"hostNetwork"`
		Overhead    *cri.LinuxContainerResources `json:"overhead,omitempty"`
		Resources   *cri.LinuxContainerResources `json:"resources,omitempty"`
	}
	containerInfo struct {
		SandboxID string   `json:"sandboxID"`
		PID       int      `json:"pid"`
		IP        string   `json:"ip"`
		Args      []string `json:"args"`
	}
)

// verboseInfo encodes details as a verbose status wants them: JSON, under the
// key that containerd uses.
func verboseInfo(details any) map[string]string {
	encoded, _ := json.Marshal(details) // What the two types hold can be encoded.
	return map[string]string{"info": string(encoded)}
}
