// Package runtime is a container runtime without containers. It serves the
// container runtime interface (CRI, version v1) on a unix socket, to a kubelet
// that can't see a difference. A pod sandbox is an address of the loopback range, and a
// container is an image.Program that runs as a goroutine of this process.
//
// Wherever a kubelet can see it, it behaves as containerd does: states, times,
// exit codes and reasons, attempts, addresses, labels and annotations, log
// files, grace periods. Containers live in the runtime and not in a client's
// connection, so a kubelet can be restarted, or replaced by one of another
// version, and finds everything as it was.
//
// What a goroutine can't have is left out: namespaces, cgroups, users and a
// file system of its own. Resource figures are made up, and host ports are not
// forwarded. A mount leads to a volume of the kubelet, or to a directory that
// stands for the file system of the node: this machine's files are not a node's.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/link"
	"github.com/skewrig/skewrig/harness/unixsocket"
	"github.com/skewrig/skewrig/record"
)

// maxMessageBytes is the largest message that is received and sent. It is the
// limit of the kubelet's own client (k8s.io/cri-client/pkg/utils.go).
const maxMessageBytes = 16 << 20

// killPatience is how long Close waits for programs that were killed. They
// must return soon; waiting for ever would hide which one does not.
const killPatience = 10 * time.Second

// maxBytes and maxFiles bound what the containers of a node can write: into memory, and
// again that much onto volumes.
const (
	maxBytes = 512 << 20
	maxFiles = 16384
)

// Config says where a runtime listens and what it runs.
type Config struct {
	// Socket is the path of the unix socket to serve on, of at most 107 bytes,
	// in a directory that exists. A socket that a dead process left there is
	// replaced.
	Socket string
	// Node is the name of the node. The runtime records its events under the
	// source "runtime/<node>".
	Node string
	// PodCIDR is an IPv4 loopback range of at least four addresses. Its first
	// address (.1) is the node's own, which host-network pods use. The other
	// sandboxes get the rest.
	PodCIDR netip.Prefix
	// Reported is the IPv4 range of the addresses that the kubelet sees. It has the prefix length of PodCIDR, a multiple of 8. If
	// unset, the kubelet sees those of PodCIDR.
	Reported netip.Prefix
	// Network has the addresses that containers can reach. If unset, they reach what this
	// machine can.
	Network netip.Prefix
	// Handlers are the names of runtime handlers beside the default one, which has no name. All
	// run a pod alike. If unset, there is the default one only.
	Handlers []string
	// Shuffled has Status list the handlers in any order, another one each time, as a runtime
	// does that goes through a map. If unset, their order is that of Handlers.
	Shuffled bool
	// Library resolves the images that can be pulled.
	Library image.Library
	// Recorder takes the runtime's events (see events.go), and is handed to
	// the programs for theirs. If unset, nothing is recorded.
	Recorder record.Recorder
	// Kept is a directory that takes the output of each container, beside the
	// kubelet's log files, which go with the container: see keptLog. If unset, nothing
	// is kept.
	Kept string
	// Volumes is the directory of the kubelet, in which the volumes of pods are.
	Volumes string
	// Logs is the directory below which the kubelet has the logs of pods. If unset, they may be anywhere.
	Logs string
	// HostRoot is a directory that stands for the root of the node's file system: what a
	// container mounts that is not in Volumes is below it, and made if it is missing. If
	// unset, what containers mount are the files of this machine.
	HostRoot string
}

func (c Config) validate() error {
	var problems []error
	if c.Socket == "" {
		problems = append(problems, errors.New("no socket path"))
	}
	if len(c.Socket) > unixsocket.MaxPath {
		problems = append(problems, fmt.Errorf("socket path %s has more than the %d bytes that the kernel allows", c.Socket, unixsocket.MaxPath))
	}
	if c.Node == "" {
		problems = append(problems, errors.New("no node name"))
	}
	if c.Library == nil {
		problems = append(problems, errors.New("no image library"))
	}
	if !c.PodCIDR.IsValid() || !c.PodCIDR.Addr().Is4() || !c.PodCIDR.Addr().IsLoopback() || c.PodCIDR.Bits() < 8 || c.PodCIDR.Bits() > 30 {
		problems = append(problems, fmt.Errorf("pod CIDR %s is not an IPv4 loopback range of at least four addresses", c.PodCIDR))
	}
	if c.Reported.IsValid() && (!c.Reported.Addr().Is4() || c.Reported.Bits() != c.PodCIDR.Bits() || c.Reported.Bits()%8 != 0) {
		problems = append(problems, fmt.Errorf("reported addresses %s are not an IPv4 range of the size of %s, of whole bytes", c.Reported, c.PodCIDR))
	}
	return errors.Join(problems...)
}

// Runtime is a running container runtime. Its methods are safe for concurrent
// use.
type Runtime struct {
	config     Config
	mountpoint string
	server     *grpc.Server
	streams    streamServer
	link       *link.Calls
	close      func() error
	patience   time.Duration // killPatience, shorter in a test

	// alive ends when the runtime is closed, and with it every process.
	alive context.Context
	kill  context.CancelFunc
	// goroutines counts the server, the programs and the commands that run.
	goroutines sync.WaitGroup
	serveErr   error

	// mu guards everything below and the fields marked so in sandbox,
	// container and process. Nothing that may block is done under it: no file
	// is touched, no event recorded, no program called.
	mu         sync.Mutex
	closed     bool
	sandboxes  map[string]*sandbox
	containers map[string]*container
	images     map[string]*storedImage
	addresses  *addressPool
	memory     image.Space // of files that are on no volume
	volumes    image.Space
	lastStamp  int64
	lastPID    int
}

// Start serves a container runtime. It is listening when Start returns.
func Start(config Config) (*Runtime, error) {
	r, err := start(config)
	if err != nil {
		return nil, fmt.Errorf("starting the container runtime of node %s: %w", config.Node, err)
	}
	return r, nil
}

func start(config Config) (*Runtime, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	socket, err := filepath.Abs(config.Socket)
	if err != nil {
		return nil, err
	}
	config.Socket = socket
	disk, err := mountpoint(filepath.Dir(socket))
	if err != nil {
		return nil, err
	}
	r := newRuntime(config, disk)
	served, err := unixsocket.Listen(socket)
	if err != nil {
		return nil, err
	}
	if err := r.listenForStreams(); err != nil {
		return nil, errors.Join(err, served.Close())
	}
	r.goroutines.Go(func() { r.serve(r.link.Listener(served)) })
	return r, nil
}

func newRuntime(config Config, mountpoint string) *Runtime {
	if config.Recorder == nil {
		config.Recorder = (*record.History)(nil)
	}
	r := &Runtime{
		config:     config,
		mountpoint: mountpoint,
		sandboxes:  map[string]*sandbox{},
		containers: map[string]*container{},
		images:     map[string]*storedImage{},
		addresses:  newAddressPool(config.PodCIDR),
		link:       link.NewCalls(config.Node, config.Recorder),
		patience:   killPatience,
		memory:     image.Space{Bytes: maxBytes, Files: maxFiles},
		volumes:    image.Space{Bytes: maxBytes, Files: maxFiles, Measure: config.measure},
	}
	r.alive, r.kill = context.WithCancel(context.Background())
	r.close = sync.OnceValue(r.shutdown)
	r.server = grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxSendMsgSize(maxMessageBytes),
		grpc.ChainUnaryInterceptor(r.link.Unary, explainCall),
		grpc.ChainStreamInterceptor(r.link.Stream, explainStream),
		grpc.WaitForHandlers(true),
	)
	cri.RegisterRuntimeServiceServer(r.server, runtimeService{Runtime: r})
	cri.RegisterImageServiceServer(r.server, imageService{Runtime: r})
	return r
}

func (r *Runtime) serve(l net.Listener) {
	if err := r.server.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		r.serveErr = fmt.Errorf("serving on %s: %w", r.config.Socket, err)
	}
}

// runtimeService and imageService are the two gRPC services. They are types of
// their own so that CRI methods are not part of Runtime's.
type (
	runtimeService struct {
		cri.UnimplementedRuntimeServiceServer
		*Runtime
	}
	imageService struct {
		cri.UnimplementedImageServiceServer
		*Runtime
	}
)

// SetFault gives the link of the node's kubelet to the runtime another fault, which
// may be none. It is in force for calls that wait already, too. Containers go on
// whatever it is, and so do the sessions of kubectl exec, attach and port-forward.
func (r *Runtime) SetFault(_ context.Context, f record.LinkFault) error { return r.link.Set(f) }

// Endpoint returns the address of the runtime as a kubelet's
// --container-runtime-endpoint wants it, "unix:///...".
func (r *Runtime) Endpoint() string { return "unix://" + r.config.Socket }

// Close kills all containers, stops serving and removes the socket. It returns
// when no goroutine of the runtime is left. If a program that was killed has
// not returned after 10 seconds, the error names its container. A second call
// returns the result of the first.
func (r *Runtime) Close() error { return r.close() }

func (r *Runtime) shutdown() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()

	r.kill()
	r.server.Stop()                    // also closes the listener, which unlinks the socket
	_ = r.link.Set(record.LinkFault{}) // which no link refuses
	_ = r.streams.http.Close()
	if !r.wait(r.patience) {
		return fmt.Errorf("closing the container runtime of node %s: killed, but still running: %s",
			r.config.Node, strings.Join(r.survivors(), ", "))
	}
	return r.serveErr
}

// wait reports whether all goroutines ended within d.
func (r *Runtime) wait(d time.Duration) bool {
	ended := make(chan struct{})
	go func() {
		r.goroutines.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(d):
		return false
	}
}

// survivors returns the paths of the containers that run.
func (r *Runtime) survivors() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var paths []string
	for _, c := range r.containers {
		if c.state == cri.ContainerState_CONTAINER_RUNNING {
			paths = append(paths, c.path)
		}
	}
	slices.Sort(paths)
	return paths
}

// stamp returns the current time in nanoseconds, later than any stamp before:
// a kubelet sorts by these times, also when the machine's clock was set back.
// It is called with mu held.
func (r *Runtime) stamp() int64 {
	r.lastStamp = max(time.Now().UnixNano(), r.lastStamp+1)
	return r.lastStamp
}

func (r *Runtime) record(subject string, payload record.Payload) {
	r.config.Recorder.Append("runtime/"+r.config.Node, subject, payload)
}
