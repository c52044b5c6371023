package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/netip"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

// sandbox is a pod's place to run: an address.
type sandbox struct {
	id        string
	path      string // "namespace/pod"
	config    *cri.PodSandboxConfig
	handler   string
	ip        netip.Addr
	createdAt int64

	// The rest is guarded by Runtime.mu.
	state cri.PodSandboxState
	// stopping is set before the containers are killed. From then on, none is
	// created or started, so that the killed ones were all there were.
	stopping            bool
	overhead, resources *cri.LinuxContainerResources
}

// hostNetwork reports whether the pod shares the node's address.
func (b *sandbox) hostNetwork() bool {
	return b.namespaces().GetNetwork() == cri.NamespaceMode_NODE
}

func (b *sandbox) namespaces() *cri.NamespaceOption {
	return b.config.GetLinux().GetSecurityContext().GetNamespaceOptions()
}

// RunPodSandbox gives the pod the lowest free address, or the node's if it is
// a host-network pod. The sandbox is ready when it returns.
func (s runtimeService) RunPodSandbox(_ context.Context, req *cri.RunPodSandboxRequest) (*cri.RunPodSandboxResponse, error) {
	config := req.GetConfig()
	if config.GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "pod sandbox has no metadata")
	}
	handler := req.GetRuntimeHandler()
	if handler != "" && !slices.Contains(s.config.Handlers, handler) {
		return nil, status.Errorf(codes.InvalidArgument, "no runtime handler %q: beside the default one there are %q", handler, s.config.Handlers)
	}
	b := &sandbox{
		id:        newID(),
		path:      config.Metadata.Namespace + "/" + config.Metadata.Name,
		config:    config,
		handler:   handler,
		overhead:  config.GetLinux().GetOverhead(),
		resources: config.GetLinux().GetResources(),
	}
	if err := s.addSandbox(b); err != nil {
		return nil, err
	}
	s.record(b.path, record.SandboxStarted{ID: b.id, IP: b.ip.String(), Attempt: config.Metadata.Attempt})
	return &cri.RunPodSandboxResponse{PodSandboxId: b.id}, nil
}

func (r *Runtime) addSandbox(b *sandbox) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.sandboxes {
		if sameSandbox(other.config.Metadata, b.config.Metadata) {
			return status.Errorf(codes.AlreadyExists, "attempt %d of a sandbox for pod %s exists already: %s",
				b.config.Metadata.Attempt, b.path, other.id)
		}
	}
	b.ip = r.addresses.node
	if !b.hostNetwork() {
		ip, err := r.addresses.take()
		if err != nil {
			return status.Error(codes.ResourceExhausted, err.Error())
		}
		b.ip = ip
	}
	b.createdAt = r.stamp()
	r.sandboxes[b.id] = b
	return nil
}

func sameSandbox(a, b *cri.PodSandboxMetadata) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.Uid == b.Uid && a.Attempt == b.Attempt
}

// StopPodSandbox kills the sandbox's containers, and returns when they have
// ended. A sandbox that is stopped, or gone, is left alone. The address stays
// taken until the sandbox is removed, so that nothing that is still on its way
// to the pod can reach another.
func (s runtimeService) StopPodSandbox(ctx context.Context, req *cri.StopPodSandboxRequest) (*cri.StopPodSandboxResponse, error) {
	if b := s.sandbox(req.GetPodSandboxId()); b != nil {
		if err := s.stopSandbox(ctx, b); err != nil {
			return nil, err
		}
	}
	return &cri.StopPodSandboxResponse{}, nil
}

func (r *Runtime) stopSandbox(ctx context.Context, b *sandbox) error {
	processes := r.barSandbox(b)
	for _, p := range processes {
		p.kill()
	}
	for _, p := range processes {
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
	if r.retireSandbox(b) {
		r.record(b.path, record.SandboxStopped{ID: b.id, Attempt: b.config.Metadata.Attempt})
	}
	return nil
}

// barSandbox lets no more containers into the sandbox, and returns what runs
// there.
func (r *Runtime) barSandbox(b *sandbox) []*process {
	r.mu.Lock()
	defer r.mu.Unlock()
	b.stopping = true
	var processes []*process
	for _, c := range r.containers {
		if c.sandbox == b && c.state == cri.ContainerState_CONTAINER_RUNNING {
			processes = append(processes, c.process)
		}
	}
	return processes
}

// retireSandbox marks the sandbox as not ready, and reports whether it was.
func (r *Runtime) retireSandbox(b *sandbox) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	wasReady := b.state == cri.PodSandboxState_SANDBOX_READY
	b.state = cri.PodSandboxState_SANDBOX_NOTREADY
	return wasReady
}

// RemovePodSandbox stops the sandbox and forgets it with its containers. Its
// address is free then. A sandbox that is gone is left alone.
func (s runtimeService) RemovePodSandbox(ctx context.Context, req *cri.RemovePodSandboxRequest) (*cri.RemovePodSandboxResponse, error) {
	if b := s.sandbox(req.GetPodSandboxId()); b != nil {
		if err := s.stopSandbox(ctx, b); err != nil {
			return nil, err
		}
		s.forgetSandbox(b)
	}
	return &cri.RemovePodSandboxResponse{}, nil
}

func (r *Runtime) forgetSandbox(b *sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sandboxes[b.id] != b {
		return // another call was faster, and the address may be another pod's by now
	}
	for _, c := range r.containers {
		if c.sandbox == b {
			r.drop(c)
		}
	}
	delete(r.sandboxes, b.id)
	if !b.hostNetwork() {
		r.addresses.free(b.ip)
	}
}

// UpdatePodSandboxResources keeps the figures, which the verbose status shows.
func (s runtimeService) UpdatePodSandboxResources(_ context.Context, req *cri.UpdatePodSandboxResourcesRequest) (*cri.UpdatePodSandboxResourcesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.sandboxes[req.GetPodSandboxId()]
	if !ok {
		return nil, notFound("pod sandbox", req.GetPodSandboxId())
	}
	b.overhead, b.resources = req.GetOverhead(), req.GetResources()
	return &cri.UpdatePodSandboxResourcesResponse{}, nil
}

// sandbox returns the sandbox with the given id, or nil.
func (r *Runtime) sandbox(id string) *sandbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sandboxes[id]
}

// newID returns an id of the form that container runtimes use: 64 hex digits.
func newID() string {
	var id [32]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// notFound is how a kubelet learns that a sandbox or container is gone.
func notFound(what, id string) error {
	return status.Errorf(codes.NotFound, "%s %q not found", what, id)
}
