package containerd

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

// ledger records what a kubelet has a container runtime do, as the runtime of simulated nodes
// does: the same events, with the same subjects, under the same source.
type ledger struct {
	source   string
	recorder record.Recorder
	output   string  // the directory for the output of containers; empty: it is not kept
	mounts   []Mount // that each container is to have, of the node's file system
	runtime  cri.RuntimeServiceClient
	images   cri.ImageServiceClient
	load     func(ctx context.Context, reference string) error // has the runtime have an image
	up       func(ctx context.Context, id, reference string)   // waits until a program has come up; nil: nothing waits

	open    context.Context //nolint:containedctx // of looking for ends, until close
	shut    context.CancelFunc
	looking sync.WaitGroup

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
	pulled     map[string]string // the references of images, by these and by the ids that were pulled
	lastPID    int
}

// sandbox is a pod's.
type sandbox struct {
	path, logs string
	attempt    uint32
	stopped    bool
}

// container is one that was created.
type container struct {
	path, image, log string
	reference        string // by which its image was pulled
	sandbox          string
	attempt          uint32
	args             []string
	signal           string // the last one that it was sent
	started          bool
	lives            context.Context // ends when it is seen to have ended
	end              context.CancelFunc
	lost             *record.ObservationLost // of its end; nil: that was seen, or is to come
}

func (c *container) exited() bool { return c.lives.Err() != nil }

func newLedger(node, output string, recorder record.Recorder, runtime cri.RuntimeServiceClient, images cri.ImageServiceClient) *ledger {
	l := &ledger{
		source: "runtime/" + node, recorder: recorder, output: output, runtime: runtime, images: images,
		sandboxes: make(map[string]*sandbox), containers: make(map[string]*container), pulled: make(map[string]string),
	}
	l.open, l.shut = context.WithCancel(context.Background())
	return l
}

func (l *ledger) record(subject string, payload record.Payload) {
	l.recorder.Append(l.source, subject, payload)
}

// watched is a call that is watched.
type watched struct {
	// answer is that of the call, if it does not go on to the runtime.
	answer []byte
	// request goes on to the runtime instead of the kubelet's. If unset, that does.
	request []byte
	// done takes each answer of the runtime, before the kubelet has it, or why there is none.
	done func(ctx context.Context, answer []byte, err error)
}

func unwatched(context.Context, []byte, error) {}

// watch returns how a call is watched. It may have an error for an answer.
func (l *ledger) watch(ctx context.Context, method string, request []byte) (w watched, err error) {
	w.done = unwatched
	switch path.Base(method) {
	case "RunPodSandbox":
		return on(request, w, l.runPodSandbox)
	case "StopPodSandbox":
		return on(request, w, l.stopPodSandbox)
	case "CreateContainer":
		if w.request, err = mounted(request, l.mounts); err != nil {
			return w, err
		}
		return on(request, w, l.createContainer)
	case "StartContainer":
		return on(request, w, l.startContainer)
	case "StopContainer":
		return on(request, w, l.stopContainer)
	case "ContainerStatus":
		w.done = answered(l.seen)
		return w, nil
	case "ExecSync":
		return on(request, w, l.execSync)
	case "ImageStatus":
		w.answer, err = l.imageStatus(request)
	case "PullImage":
		w.answer, err = l.pullImage(ctx, request)
	}
	return w, err
}

// on has a function watch a call with its request, and return what takes its answer.
func on[M any, P interface {
	*M
	proto.Message
}](request []byte, w watched, watch func(P) func(context.Context, []byte, error)) (watched, error) {
	message := P(new(M))
	if err := proto.Unmarshal(request, message); err != nil {
		return w, status.Errorf(codes.InvalidArgument, "reading a request: %v", err)
	}
	w.done = watch(message)
	return w, nil
}

// answered has a function take the answers that are none of an error.
func answered[M any, P interface {
	*M
	proto.Message
}](take func(context.Context, P)) func(context.Context, []byte, error) {
	return func(ctx context.Context, answer []byte, err error) {
		message := P(new(M))
		if err == nil && proto.Unmarshal(answer, message) == nil {
			take(ctx, message)
		}
	}
}

func (l *ledger) runPodSandbox(request *cri.RunPodSandboxRequest) func(context.Context, []byte, error) {
	return answered(func(ctx context.Context, answer *cri.RunPodSandboxResponse) {
		metadata := request.GetConfig().GetMetadata()
		s := &sandbox{path: metadata.GetNamespace() + "/" + metadata.GetName(), logs: request.GetConfig().GetLogDirectory(), attempt: metadata.GetAttempt()}
		l.mu.Lock()
		l.sandboxes[answer.GetPodSandboxId()] = s
		l.mu.Unlock()
		is, _ := l.runtime.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: answer.GetPodSandboxId()}) // without it, the address is not known
		l.record(s.path, record.SandboxStarted{ID: answer.GetPodSandboxId(), IP: is.GetStatus().GetNetwork().GetIp(), Attempt: s.attempt})
	})
}

func (l *ledger) stopPodSandbox(request *cri.StopPodSandboxRequest) func(context.Context, []byte, error) {
	id := request.GetPodSandboxId()
	for _, c := range l.runningIn(id) {
		l.signaled(c, "SIGKILL")
	}
	return answered(func(ctx context.Context, _ *cri.StopPodSandboxResponse) {
		for _, c := range l.runningIn(id) {
			_ = l.look(ctx, c) // that it ends is an event, too
		}
		l.mu.Lock()
		s := l.sandboxes[id]
		first := s != nil && !s.stopped
		if first {
			s.stopped = true
		}
		l.mu.Unlock()
		if first {
			l.record(s.path, record.SandboxStopped{ID: id, Attempt: s.attempt})
		}
	})
}

// runningIn are the ids of the containers of a sandbox that run, as far as is known.
func (l *ledger) runningIn(sandbox string) (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.containers {
		if (sandbox == "" || c.sandbox == sandbox) && c.started && !c.exited() {
			ids = append(ids, id)
		}
	}
	return ids
}

func (l *ledger) createContainer(request *cri.CreateContainerRequest) func(context.Context, []byte, error) {
	return answered(func(ctx context.Context, answer *cri.CreateContainerResponse) {
		config := request.GetConfig()
		l.mu.Lock()
		c := &container{
			image: config.GetImage().GetUserSpecifiedImage(), sandbox: request.GetPodSandboxId(), attempt: config.GetMetadata().GetAttempt(),
		}
		if c.image == "" {
			c.image = config.GetImage().GetImage()
		}
		c.reference = l.pulled[config.GetImage().GetImage()]
		c.lives, c.end = context.WithCancel(context.Background())
		if s := l.sandboxes[c.sandbox]; s != nil {
			c.path, c.log = s.path+"/"+config.GetMetadata().GetName(), path.Join(s.logs, config.GetLogPath())
		}
		l.containers[answer.GetContainerId()] = c
		l.mu.Unlock()
		c.args = l.arguments(ctx, answer.GetContainerId())
		l.record(c.path, record.ContainerCreated{ID: answer.GetContainerId(), Image: c.image, Attempt: c.attempt})
	})
}

// mounted is a request to create a container, with mounts added. It is nil if there are none.
func mounted(request []byte, mounts []Mount) ([]byte, error) {
	if len(mounts) == 0 {
		return nil, nil
	}
	var message cri.CreateContainerRequest
	if err := proto.Unmarshal(request, &message); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "reading a request: %v", err)
	}
	for _, m := range mounts {
		message.Config.Mounts = append(message.Config.Mounts, &cri.Mount{HostPath: m.Host, ContainerPath: m.Container})
	}
	return marshal(&message)
}

// arguments are those that the program of a container is started with, as its specification has
// them (OCI runtime specification, config.json). There are none if the runtime does not tell.
func (l *ledger) arguments(ctx context.Context, id string) []string {
	is, _ := l.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id, Verbose: true})
	var info struct {
		RuntimeSpec struct {
			Process struct {
				Args []string `json:"args"`
			} `json:"process"`
		} `json:"runtimeSpec"`
	}
	_ = json.Unmarshal([]byte(is.GetInfo()["info"]), &info)
	return info.RuntimeSpec.Process.Args
}

// upLimit is how long a program has to say that it has come up, or to end.
const upLimit = 10 * time.Second

// startContainer records the start before it is one, so that it comes before what the program
// does. It is answered when the program has come up or ended, as that of a simulated node is: how
// long that takes depends on how busy the machine is, and a probe that comes before it says nothing of
// what is tested.
func (l *ledger) startContainer(request *cri.StartContainerRequest) func(context.Context, []byte, error) {
	id := request.GetContainerId()
	l.mu.Lock()
	c := l.containers[id]
	if c == nil {
		l.mu.Unlock()
		return unwatched
	}
	c.started = true
	l.lastPID++
	event := record.ContainerStarted{ID: id, Image: c.image, Args: c.args, Attempt: c.attempt, PID: l.lastPID}
	l.mu.Unlock()
	l.record(c.path, event)
	return func(ctx context.Context, _ []byte, err error) {
		if err != nil {
			_ = l.look(context.WithoutCancel(ctx), id) // an end is an event, too
		} else if l.up != nil {
			ctx, cancel := context.WithTimeout(ctx, upLimit)
			defer cancel()
			defer context.AfterFunc(c.lives, cancel)()
			l.up(ctx, id, c.reference)
		}
	}
}

func (l *ledger) stopContainer(request *cri.StopContainerRequest) func(context.Context, []byte, error) {
	signal := "SIGTERM"
	if request.GetTimeout() <= 0 {
		signal = "SIGKILL"
	}
	l.signaled(request.GetContainerId(), signal)
	return func(ctx context.Context, _ []byte, err error) {
		if err == nil {
			_ = l.look(ctx, request.GetContainerId()) // that it ends is an event, too
		}
	}
}

// signaled remembers that a container is sent a signal.
func (l *ledger) signaled(id, signal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.containers[id]; c != nil && !c.exited() {
		c.signal = signal
	}
}

// lookLimit is how long the container runtime has to say how a container is.
const lookLimit = 10 * time.Second

// look asks how a container is, and records its end if it has one.
func (l *ledger) look(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	is, err := l.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id})
	if err == nil {
		l.seen(ctx, is)
	}
	return err
}

// killed is the exit code of a program that SIGKILL ended.
const killed = 128 + 9

// seen records the end of a container when it is seen to have ended for the first time.
func (l *ledger) seen(_ context.Context, is *cri.ContainerStatusResponse) {
	s := is.GetStatus()
	if s.GetState() != cri.ContainerState_CONTAINER_EXITED {
		return
	}
	l.mu.Lock()
	c := l.containers[s.GetId()]
	if c == nil || !c.started || c.exited() {
		l.mu.Unlock()
		return
	}
	c.end()
	if s.GetExitCode() == killed {
		c.signal = "SIGKILL"
	}
	event := record.ContainerExited{ID: s.GetId(), ExitCode: s.GetExitCode(), Reason: s.GetReason(), Signal: c.signal, Attempt: c.attempt}
	lost := c.lost
	l.mu.Unlock()
	if s.GetStartedAt() > 0 {
		event.RanForSeconds = time.Duration(s.GetFinishedAt() - s.GetStartedAt()).Seconds()
	}
	l.record(c.path, event)
	if lost != nil {
		l.record(c.path, lost.Over())
	}
	l.keep(c)
}

// maxOutput is how much of what a command wrote is recorded, in bytes.
const maxOutput = 1 << 10

func (l *ledger) execSync(request *cri.ExecSyncRequest) func(context.Context, []byte, error) {
	began := time.Now()
	return func(_ context.Context, answer []byte, err error) {
		event := record.Exec{ID: request.GetContainerId(), Args: request.GetCmd(), ExitCode: -1, DurationSeconds: time.Since(began).Seconds()}
		var of cri.ExecSyncResponse
		switch {
		case status.Code(err) == codes.DeadlineExceeded:
			event.Error = "the command took longer than its timeout"
		case err != nil:
			event.Error = status.Convert(err).Message()
		case proto.Unmarshal(answer, &of) == nil:
			output := append(of.GetStdout(), of.GetStderr()...)
			event.ExitCode, event.Output = of.GetExitCode(), string(output[:min(len(output), maxOutput)])
		}
		if c, known := l.Path(request.GetContainerId()); known {
			l.record(c, event)
		}
	}
}

// Path is the path of the container with an id, "namespace/pod/container", and whether there is
// one.
func (l *ledger) Path(id string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.containers[id]
	if c == nil {
		return "", false
	}
	return c.path, true
}

// imageStatus answers that an image is not there before it was pulled. It has no answer
// afterwards.
func (l *ledger) imageStatus(request []byte) ([]byte, error) {
	var message cri.ImageStatusRequest
	if err := proto.Unmarshal(request, &message); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "reading a request: %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, is := l.pulled[message.GetImage().GetImage()]; is {
		return nil, nil
	}
	return marshal(&cri.ImageStatusResponse{})
}

// pullImage has the runtime have an image, which is the node's from now on.
func (l *ledger) pullImage(ctx context.Context, request []byte) ([]byte, error) {
	var message cri.PullImageRequest
	if err := proto.Unmarshal(request, &message); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "reading a request: %v", err)
	}
	ref := message.GetImage().GetImage()
	metadata := message.GetSandboxConfig().GetMetadata()
	subject := metadata.GetNamespace() + "/" + metadata.GetName()
	is, err := l.pulledNow(ctx, message.GetImage())
	if err != nil {
		l.record(subject, record.ImagePullFailed{Ref: ref, Error: err.Error()})
		return nil, status.Error(codes.NotFound, err.Error())
	}
	l.mu.Lock()
	l.pulled[ref], l.pulled[is.GetImage().GetId()] = ref, ref
	l.mu.Unlock()
	l.record(subject, record.ImagePulled{Ref: ref, Digest: is.GetImage().GetId()})
	return marshal(&cri.PullImageResponse{ImageRef: is.GetImage().GetId()})
}

// pulledNow has the runtime have an image, if it does not, and returns what it is.
func (l *ledger) pulledNow(ctx context.Context, image *cri.ImageSpec) (*cri.ImageStatusResponse, error) {
	is, err := l.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: image})
	if err != nil || is.GetImage() != nil {
		return is, err
	}
	if err := l.load(ctx, image.GetImage()); err != nil {
		return nil, err
	}
	is, err = l.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: image})
	if err == nil && is.GetImage() == nil {
		err = fmt.Errorf("image %s was imported, and is not there", image.GetImage())
	}
	return is, err
}

// marshal encodes an answer, which is not nil also if it is empty.
func marshal(m proto.Message) ([]byte, error) {
	text, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("writing an answer: %w", err)
	}
	return append([]byte{}, text...), nil
}
