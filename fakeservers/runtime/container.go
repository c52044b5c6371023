package runtime

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

// What containerd reports for a container whose process can't be started.
const (
	startErrorCode   = 128
	startErrorReason = "StartError"
)

// container is one attempt of a pod's container. It runs at most once.
type container struct {
	id        string
	path      string // "namespace/pod/container"
	sandbox   *sandbox
	config    *cri.ContainerConfig
	image     *image.Image
	args      []string
	logPath   string // empty: the kubelet has no log
	createdAt int64

	// The rest is guarded by Runtime.mu.
	state     cri.ContainerState
	starting  bool     // StartContainer is at work
	process   *process // nil until it runs, and kept when it has ended
	startedAt int64    // zero until it runs
	exit      exit     // set in state EXITED
	resources *cri.LinuxContainerResources
}

// exit is how a container ended.
type exit struct {
	at      int64
	code    int32
	reason  string
	message string
}

// CreateContainer prepares a container in a sandbox that is ready. The image
// must have been pulled.
func (s runtimeService) CreateContainer(_ context.Context, req *cri.CreateContainerRequest) (*cri.CreateContainerResponse, error) {
	config := req.GetConfig()
	if config.GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "container has no metadata")
	}
	for _, m := range config.GetMounts() {
		if m.GetImage() != nil {
			return nil, status.Errorf(codes.InvalidArgument, "mounting image %s at %s: images here have no files", m.Image.Image, m.ContainerPath)
		}
	}
	img, err := s.resolve(config.GetImage())
	if err != nil {
		return nil, err
	}
	args := commandLine(img, config)
	if len(args) == 0 {
		return nil, status.Errorf(codes.InvalidArgument, "neither container %s nor image %s has a command to run", config.Metadata.Name, img.Reference)
	}
	c := &container{id: newID(), config: config, image: img, args: args, resources: config.GetLinux().GetResources()}
	if err := s.addContainer(c, req.GetPodSandboxId()); err != nil {
		return nil, err
	}
	s.record(c.path, record.ContainerCreated{ID: c.id, Image: img.Reference, Attempt: config.Metadata.Attempt})
	return &cri.CreateContainerResponse{ContainerId: c.id}, nil
}

// commandLine joins command and arguments as the OCI image specification does
// (config.md, Entrypoint and Cmd) with Kubernetes' names for them: a
// container's command replaces both of the image's, its args replace Cmd.
func commandLine(img *image.Image, config *cri.ContainerConfig) []string {
	command, args := config.GetCommand(), config.GetArgs()
	if len(command) == 0 {
		command = img.Entrypoint
		if len(args) == 0 {
			args = img.Cmd
		}
	}
	return slices.Concat(command, args)
}

func (r *Runtime) addContainer(c *container, sandboxID string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.sandboxes[sandboxID]
	if !ok {
		return notFound("pod sandbox", sandboxID)
	}
	if b.stopping {
		return status.Errorf(codes.FailedPrecondition, "pod sandbox %q is stopped", sandboxID)
	}
	name, attempt := c.config.Metadata.Name, c.config.Metadata.Attempt
	for _, other := range r.containers {
		if other.sandbox == b && other.config.Metadata.Name == name && other.config.Metadata.Attempt == attempt {
			return status.Errorf(codes.AlreadyExists, "attempt %d of container %s exists already: %s", attempt, other.path, other.id)
		}
	}
	c.sandbox = b
	c.path = b.path + "/" + name
	if b.config.LogDirectory != "" && c.config.LogPath != "" {
		c.logPath = filepath.Join(b.config.LogDirectory, c.config.LogPath)
		if rest, err := filepath.Rel(cmp.Or(r.config.Logs, "/"), c.logPath); err != nil || !filepath.IsLocal(rest) {
			return status.Errorf(codes.InvalidArgument, "log %s of container %s is not below %s", c.logPath, c.path, r.config.Logs)
		}
	}
	c.createdAt = r.stamp()
	r.containers[c.id] = c
	return nil
}

// StartContainer runs the container's program. If it can't, the container ends
// with reason StartError.
func (s runtimeService) StartContainer(_ context.Context, req *cri.StartContainerRequest) (*cri.StartContainerResponse, error) {
	c, err := s.claimStart(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	log, err := openLog(c.logPath, s.kept(c))
	if err == nil {
		err = s.launch(c, log)
	}
	if err != nil {
		s.failStart(c, err)
		return nil, err
	}
	return &cri.StartContainerResponse{}, nil
}

// claimStart makes the caller the one that starts the container.
func (r *Runtime) claimStart(id string) (*container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[id]
	if !ok {
		return nil, notFound("container", id)
	}
	if c.state != cri.ContainerState_CONTAINER_CREATED || c.starting {
		return nil, status.Errorf(codes.FailedPrecondition, "container %s was started before", c.path)
	}
	c.starting = true
	return c, nil
}

func (r *Runtime) failStart(c *container, cause error) {
	r.mu.Lock()
	c.exit = exit{at: r.stamp(), code: startErrorCode, reason: startErrorReason, message: cause.Error()}
	c.state = cri.ContainerState_CONTAINER_EXITED
	r.mu.Unlock()
	r.record(c.path, record.ContainerExited{ID: c.id, ExitCode: startErrorCode, Reason: startErrorReason, Attempt: c.config.Metadata.Attempt})
}

// StopContainer asks the program to end, and kills it if it has not after the
// timeout. A container that does not run, or is gone, is left alone.
func (s runtimeService) StopContainer(ctx context.Context, req *cri.StopContainerRequest) (*cri.StopContainerResponse, error) {
	c, state := s.lookup(req.GetContainerId())
	if state == cri.ContainerState_CONTAINER_RUNNING {
		if err := s.stop(ctx, c, seconds(req.GetTimeout())); err != nil {
			return nil, err
		}
	}
	return &cri.StopContainerResponse{}, nil
}

// RemoveContainer forgets the container, after killing it if it runs. Its log
// stays: it is the kubelet's. A container that is gone is left alone.
func (s runtimeService) RemoveContainer(ctx context.Context, req *cri.RemoveContainerRequest) (*cri.RemoveContainerResponse, error) {
	for !s.forgetContainer(req.GetContainerId()) {
		c, state := s.lookup(req.GetContainerId())
		if state == cri.ContainerState_CONTAINER_RUNNING {
			if err := s.stop(ctx, c, 0); err != nil {
				return nil, err
			}
		}
	}
	return &cri.RemoveContainerResponse{}, nil
}

// forgetContainer reports whether the container is gone: it can't be while it
// runs.
func (r *Runtime) forgetContainer(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.containers[id]; ok && c.state == cri.ContainerState_CONTAINER_RUNNING {
		return false
	}
	if c, ok := r.containers[id]; ok {
		r.drop(c)
	}
	return true
}

// drop forgets a container with its files. It is called with mu held.
func (r *Runtime) drop(c *container) {
	delete(r.containers, c.id)
	if c.process != nil {
		c.process.program.Files.Drop()
	}
}

// lookup returns the container with the given id and its state now, or nil.
func (r *Runtime) lookup(id string) (*container, cri.ContainerState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.containers[id]
	if !ok {
		return nil, cri.ContainerState_CONTAINER_UNKNOWN
	}
	return c, c.state
}

// running returns the container with the given id if it runs, and otherwise
// the error that a call for a running container gets.
func (r *Runtime) running(id string) (*container, error) {
	c, state := r.lookup(id)
	if c == nil {
		return nil, notFound("container", id)
	}
	if state != cri.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %s is in state %s", c.path, state)
	}
	return c, nil
}

// UpdateContainerResources keeps the figures that are given, as a resize of a
// running pod expects to see them in the container's status.
func (s runtimeService) UpdateContainerResources(_ context.Context, req *cri.UpdateContainerResourcesRequest) (*cri.UpdateContainerResourcesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.containers[req.GetContainerId()]
	if !ok {
		return nil, notFound("container", req.GetContainerId())
	}
	c.resources = updated(c.resources, req.GetLinux())
	return &cri.UpdateContainerResourcesResponse{}, nil
}

// updated returns the old resources with those of the update that are given: in
// CRI, zero means not specified. What is given of lists and maps is all of them.
func updated(old, update *cri.LinuxContainerResources) *cri.LinuxContainerResources {
	merged := &cri.LinuxContainerResources{}
	proto.Merge(merged, old)
	if len(update.GetHugepageLimits()) > 0 {
		merged.HugepageLimits = nil
	}
	if len(update.GetUnified()) > 0 {
		merged.Unified = nil
	}
	proto.Merge(merged, update)
	return merged
}
