// Package cluster is the rig: real Kubernetes components as child processes on
// one machine, each of its own release and with its own feature gates, on
// loopback addresses, without containers and without root.
//
// The container runtime of a node is not part of it: a Config brings a function
// that starts one (fakeservers/runtime has it).
package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/link"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/rigs"
	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
)

// Config says what rig to start.
type Config struct {
	// Topology is the control plane, and the nodes with a real kubelet. Without a
	// controller manager nothing makes pods of Deployments, and without a scheduler
	// pods need a nodeName. What else there is in it is not part of the rig.
	Topology record.Topology
	// On is a rig whose control plane this one uses, and which outlives it. Of Topology, only
	// the nodes and MayEnd count then. If unset, the rig has a control plane of its own.
	On *Cluster
	// Suffix is how the API server's names of nodes and namespaces end, so that rigs on one
	// control plane can give theirs the same names. If unset, they are as they are given.
	Suffix string
	// Watchdog is Gardener's dependency-watchdog, which makes the rig a seed. If
	// unset, it is none.
	Watchdog *Watchdog
	// Clients are programs that connect to the API server and are not part of the
	// rig. ClientKubeconfig tells each of them how.
	Clients []string
	// Via are the API servers to which clients connect, by the client. If unset, to the first
	// one. A client that connects to several in turn must have a link.
	Via map[string][]string
	// Links are ways to the API server that can be cut. If unset, all connect
	// directly.
	Links []Link
	// AllowHost lets components have settings that reach beyond the rig: paths and programs of this
	// machine, and addresses that are not the rig's. Pods find their host paths on this machine then, and
	// containers connect to any address. If unset, such settings are errors, components have the files of the
	// rig only (process.Confinement), and ask no other machine over HTTP.
	AllowHost bool
	// Binary finds the executable of a component. Builder.Binary does.
	Binary func(context.Context, build.Target) (build.Binary, error)
	// Machine is the machine of each simulated node. If unset, it is the one that cAdvisor's fake has, with one core, 3.75 GiB
	// of memory and no ephemeral storage.
	Machine *Machine
	// Runtime starts the container runtime of a node.
	Runtime func(NodeInfo) (Runtime, error)
	// Recorder takes what happens. If unset, nothing is recorded, and the API
	// objects are not watched.
	Recorder record.Recorder
	// LogDir takes the components' logs and, in pods, the containers' output. It
	// outlives the rig. If unset, they are in the rig's own directory and go with it.
	LogDir string
	// TempDir is where the rig's directory is made. If unset, the system's
	// directory for temporary files.
	TempDir string
	// Purpose is what the rig is for, such as the id of a cell. Who lists rigs sees it,
	// and the rig's directory is named after it. If unset, it is not known.
	Purpose string
	// ReportDir is where the report on what happens goes, for who lists rigs. If unset,
	// there is none.
	ReportDir string
}

// Link says which way to the API server is a link, or which way of an API server to etcd.
type Link struct {
	// From is the component or client that connects: "kubelet/node-a",
	// "kube-controller-manager".
	From string
	// HTTP has the link look into what it passes: it can answer requests, and records them. It is for
	// a way to the API server.
	HTTP bool
}

// NodeInfo is what the container runtime of a node knows of the node.
type NodeInfo struct {
	Name string
	// Socket is the path at which the runtime is to listen.
	Socket string
	// Addresses is the node's range of loopback addresses. The first is the
	// node's own, the others are for its pods.
	Addresses netip.Prefix
	// Runtime is what the topology says of it. If unset, containers are simulated.
	Runtime string
	// Dir is the node's directory, which ends with the rig.
	Dir string
	// Pods are the addresses of the pods of a node with real containers: those of 240.0.0.0/4, which
	// no network has (RFC 1112, section 4), whose other bits are as in Addresses.
	Pods netip.Prefix
	// Reported are the addresses that simulated pods report. If unset, those that they have.
	Reported netip.Prefix
	// Cgroup is the path of a cgroup that the node may make, which ends with the rig.
	Cgroup string
	// BootID is the file with the node's boot ID.
	BootID string
	// Log is the file for what a runtime says that is another program.
	Log string
	// Handlers are those that the runtime is to have beside the default one.
	Handlers record.RuntimeHandlers
	// Output is the directory for what containers write, which stays with the logs.
	Output string
	// Volumes is the kubelet's directory (--root-dir), which has the volumes of pods.
	Volumes string
	// Logs is the directory of the logs of pods. If unset, the kubelet may have them anywhere.
	Logs string
	// HostRoot is the directory below which pods find their host paths. If unset, they find them on this machine.
	HostRoot string
	// Network has all addresses of the rig. If unset, containers may connect to any address.
	Network netip.Prefix
}

// Runtime is the container runtime of a node.
type Runtime interface {
	// Endpoint is what the kubelet connects to: "unix:///...".
	Endpoint() string
	// Reboot ends all containers as a power cut does, and has the runtime find them so.
	Reboot(context.Context) error
	// Close ends all containers and the runtime itself.
	Close() error
}

// Host is a container runtime with real containers. The node has the release's own kubelet.
type Host interface {
	Runtime
	// Namespaces are those of the node's processes. After a reboot, they are others.
	Namespaces() *process.Namespaces
}

// Cluster is a running rig.
type Cluster struct {
	cfg        Config
	guard      *rigs.Dir
	block      *block
	creds      *credentials
	servers    []server    // the API servers
	trust      *tls.Config // of a client of the rig's servers
	components []*component
	links      map[string]*link.Link // by who connects; mu guards it, and routes
	routes     map[string][]string   // what tells the API servers from others to which a link leads
	clients    map[string]string     // kubeconfigs of those that are not of the rig
	observer   *observer
	observed   string // the API server that shows the observer objects
	watches    bool   // objects are recorded

	mu         sync.Mutex
	runtimes   map[string]Runtime // by node
	namespaces []string           // those that were made, by their names in the API server
	guests     map[*Cluster]bool  // the rigs that use this one's control plane
	nodes      []int              // the numbers of the nodes in the block
	unbind     func() bool        // has the rig no longer end with the control plane that it uses

	ctx  context.Context //nolint:containedctx // the rig's own lifetime, handed out by Context
	fail context.CancelCauseFunc
}

// New starts a rig and returns when its nodes are ready. If it can't, nothing
// is left of it. If a component dies later, Context ends with the reason.
func New(ctx context.Context, cfg Config) (_ *Cluster, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, watches: cfg.Recorder != nil, links: make(map[string]*link.Link), routes: make(map[string][]string), clients: make(map[string]string), runtimes: make(map[string]Runtime), guests: make(map[*Cluster]bool)}
	if !c.watches {
		c.cfg.Recorder = (*record.History)(nil) // which discards what it takes
	}
	c.ctx, c.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	// Starting ends at once if a component dies meanwhile.
	ctx, cancel := c.Bind(ctx)
	defer cancel()

	if c.guard, err = rigs.NewDir(cfg.TempDir, cfg.Purpose, socketRoom(cfg.Topology.Nodes)); err != nil {
		return nil, err
	}
	if cfg.On != nil {
		cfg.On.admit(c)
		c.block = cfg.On.block
	} else if c.block, err = claimBlock(); err != nil {
		return nil, err
	}
	if err = c.prepare(); err != nil {
		return nil, err
	}
	if err = c.startAll(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// prepare makes directories and credentials, and lists the components.
func (c *Cluster) prepare() error {
	if c.cfg.LogDir == "" {
		c.cfg.LogDir = filepath.Join(c.guard.Dir(), "logs")
	}
	if err := os.MkdirAll(c.cfg.LogDir, 0o700); err != nil {
		return err
	}
	var err error
	if c.creds, err = c.newCredentials(); err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	if err := c.define(); err != nil {
		return err
	}
	for _, name := range c.cfg.Clients {
		if c.clients[name], err = c.kubeconfigOf(name, administrator(name), c.cfg.Via[name]); err != nil {
			return err
		}
	}
	if err := c.checkLinks(); err != nil {
		return err
	}
	return c.introduce()
}

// settle returns when the node of a kubelet is ready, and says that it runs what
// the kubelet is. A node without an address gets one. A standalone kubelet has no
// node.
func (c *Cluster) settle(ctx context.Context, kubelet *component) error {
	if kubelet.standalone {
		return nil
	}
	name := c.NodeName(kubelet.node)
	if err := initializeNode(ctx, c.Client(), name, kubelet.address); err != nil {
		return err
	}
	err := awaitNode(ctx, c.Client(), name, func(node *corev1.Node) bool {
		info := node.Status.NodeInfo
		return watched.IsReady(node) && info.BootID == *kubelet.boot.Load() && strings.HasPrefix(info.KubeletVersion, string(kubelet.runs.Released()))
	})
	if err != nil {
		return fmt.Errorf("waiting for node %s to be ready: %w", name, err)
	}
	return nil
}

// observe watches objects, from now on as an API server shows them.
func (c *Cluster) observe(ctx context.Context, by server) (err error) {
	if !c.watches {
		return nil
	}
	if c.observer != nil {
		c.observer.stop()
	}
	resources, err := c.resources(ctx, by, c.observer)
	if err != nil {
		return err
	}
	if record.Member(by.name) != "" {
		c.cfg.Recorder.Append("cluster", by.name, record.Observing{})
	}
	c.observed = by.name
	first := c.processOf(by.name)
	same := func() bool { return c.processOf(by.name) == first }
	c.observer, err = observe(ctx, by.rest, resources, c.cfg.Recorder, c.observer, same)
	return err
}

// Observe has the objects observed of resources that the API server has now, and did
// not have when it was started.
func (c *Cluster) Observe(ctx context.Context) error {
	if c.cfg.On != nil {
		return c.cfg.On.Observe(ctx)
	}
	if c.observer == nil {
		return nil
	}
	resources, err := c.resources(ctx, c.up(), nil)
	if err != nil {
		return err
	}
	return c.observer.watch(ctx, resources)
}

// Close stops everything and removes what the rig has left, ports and
// directories included. It may be called again.
func (c *Cluster) Close() error {
	var failures []error
	c.fail(errClosed)
	if c.observer != nil {
		c.observer.stop()
	}
	failures = append(failures, c.stopAll())
	c.mu.Lock()
	for _, r := range c.runtimes {
		failures = append(failures, r.Close())
	}
	clear(c.runtimes)
	c.mu.Unlock()
	c.mu.Lock()
	links := maps.Clone(c.links)
	clear(c.links)
	c.mu.Unlock()
	for _, from := range slices.Sorted(maps.Keys(links)) {
		failures = append(failures, links[from].Close())
	}
	for _, comp := range c.components {
		failures = append(failures, comp.clock.Close())
	}
	if c.cfg.On != nil {
		failures = append(failures, c.leave())
	} else if c.block != nil {
		failures = append(failures, c.block.release())
	}
	if c.guard != nil {
		failures = append(failures, c.guard.Close())
		c.guard = nil
	}
	return errors.Join(failures...)
}

var errClosed = errors.New("the rig was closed")

// Context ends when a component dies unasked, with an error that names it and
// carries the end of its log, or when the rig is closed.
func (c *Cluster) Context() context.Context { return c.ctx }

// Bind returns a context that ends with ctx, and also as soon as a component
// dies, with that as its cause.
func (c *Cluster) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	bound, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return bound, func() { stop(); cancel(context.Canceled) }
}

// OutputDir is the directory below LogDir with what containers wrote.
const OutputDir = "pods"

// LogDir returns the directory of the logs: a file of each component, and pods with
// what containers write. Unless Config.LogDir is set, Close removes it.
func (c *Cluster) LogDir() string { return c.cfg.LogDir }

// Kubeconfig is the path of a kubeconfig for an administrator of the rig, which leads to the
// first API server. It goes with the rig.
func (c *Cluster) Kubeconfig() string { return c.servers[0].kubeconfig }

// KubeconfigOf is the same, and leads to the API server of a name.
func (c *Cluster) KubeconfigOf(server string) (string, error) {
	for _, s := range c.servers {
		if s.name == server {
			return s.kubeconfig, nil
		}
	}
	return "", fmt.Errorf("this rig has no API server %q", server)
}

// ClientKubeconfig is the path of the kubeconfig of one of the clients in the rig's
// Config: an administrator's, through the client's link.
func (c *Cluster) ClientKubeconfig(client string) (string, error) {
	path, ok := c.clients[client]
	if !ok {
		return "", fmt.Errorf("this rig knows no client %q; it knows %q", client, slices.Sorted(maps.Keys(c.clients)))
	}
	return path, nil
}

// ClientConfig is the same as a client configuration, without throttling.
func (c *Cluster) ClientConfig(client string) (*rest.Config, error) {
	path, err := c.ClientKubeconfig(client)
	if err != nil {
		return nil, err
	}
	return restConfig(path)
}

// RESTConfig is that of an administrator, as Kubeconfig is.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.servers[0].rest) }

// Endpoint is the administrator's client configuration for what a component
// serves itself: an API server, a controller manager, a scheduler, or a kubelet. The kubelet
// is asked directly, since an API server does not relay requests to loopback addresses.
func (c *Cluster) Endpoint(component string) (*rest.Config, error) {
	_, comp, err := c.find(component)
	if err != nil {
		return nil, err
	}
	config := c.RESTConfig()
	switch comp.kind {
	case build.APIServer:
		s, err := c.serverOf(component)
		if err != nil {
			return nil, err
		}
		return rest.CopyConfig(s.rest), nil
	case build.Kubelet, build.ControllerManager, build.Scheduler:
		config.Host = fmt.Sprintf("https://%s:%d", comp.address, portOf(string(comp.kind)))
		return config, nil
	default:
		return nil, fmt.Errorf("%s has no API to connect to", component)
	}
}

// Runtime is the container runtime of a node; nil if there is no such node.
func (c *Cluster) Runtime(node string) Runtime {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runtimes[node]
}

// Client is a client of the administrator, of the first API server that runs.
func (c *Cluster) Client() kubernetes.Interface { return c.up().client }
