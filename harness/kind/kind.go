// Package kind makes kind clusters for cells, with kubelets and a control plane that can be restarted,
// upgraded, and given other gates, and with a record of what each kubelet has its container runtime do. The
// kubelet of the control plane, and etcd, stay as they are.
package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/cluster"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// Node is a node to make.
type Node struct {
	// Name is what the cluster calls it. kind has another name for its container.
	Name string
	// Image is its node image.
	Image string
	// Gates are those of its kubelet, or of the control plane.
	Gates release.Gates
	// Config are other fields of the KubeletConfiguration of its kubelet. If unset, none.
	Config map[string]any
	// Newer says that the node is of a newer release than the control plane. kubeadm has clusters of its
	// own minor version and of the one before only (k8s.io/kubernetes, cmd/kubeadm/app/constants,
	// MinimumControlPlaneVersion): that of the control plane has the node join then.
	Newer bool
}

// Config says what cluster to make.
type Config struct {
	// Number tells the cluster from others of the run.
	Number       int
	ControlPlane Node
	Nodes        []Node
	// Bare says that the node images have no network for pods and no kube-proxy, as those that
	// skewrig makes: pods get a network all the same, and services don't work. If unset, nodes have
	// kind's own.
	Bare bool
	// Image returns the path of an archive with the image that a pod asks for, or why there is none.
	Image func(ctx context.Context, reference string) (archive string, err error)
	// Up waits until the program of a container on a node has come up, whose image was asked for by a
	// reference: probes begin then. If unset, nothing is waited for.
	Up func(ctx context.Context, node, id, reference string)
	// Mounted is the directory of containers in which they have the directory Recorded of their node.
	Mounted string
	// Recorder takes what kubelets have their container runtimes do, and a loss when ends of containers, kubelets or
	// components are not heard of any more.
	Recorder record.Recorder
	// Ended is called when a process of a component has ended without a request: of a kubelet,
	// "kubelet/node-a", or of the control plane. systemd, and the kubelet of the control plane, start it
	// again.
	Ended func(component string, end End)

	dir string
}

func (c Config) nodeDir(node string) string { return filepath.Join(c.dir, node) }

// Cluster is a kind cluster.
type Cluster struct {
	config   Config
	name     string
	label    string // of what else it makes in Docker
	provider *cluster.Provider
	client   kubernetes.Interface
	nodes    map[string]*node // by their names
	// controlPlane is the node of the control plane.
	controlPlane *controlPlane
	loaded       map[string]bool // images of components that it has beside those of its node image
	away         absences

	following sync.WaitGroup
	lasting   context.Context //nolint:containedctx // of the commands that follow events: until Close
	end       context.CancelFunc
}

// node is a node of the cell.
type node struct {
	name      string
	container string // the name of its container
	relay     *containerd.Relay
	loading   sync.Mutex // one image at a time
}

// New prepares a cluster of a run. Nothing of it is there before Create.
func (r *Run) New(c Config) (_ *Cluster, err error) {
	c.dir = filepath.Join(r.dir, fmt.Sprint(c.Number))
	k := &Cluster{
		config: c, name: fmt.Sprintf("%s-%d", r.name(), c.Number), label: r.label(), nodes: make(map[string]*node),
		provider: cluster.NewProvider(cluster.ProviderWithDocker()), loaded: make(map[string]bool),
	}
	k.lasting, k.end = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			k.end()
			err = errors.Join(err, k.closeRelays())
		}
	}()
	if k.controlPlane, err = newControlPlane(k.name); err != nil {
		return nil, err
	}
	for i, of := range c.Nodes {
		n := &node{name: of.Name, container: workerName(k.name, i)}
		dir := c.nodeDir(of.Name)
		if err := os.MkdirAll(filepath.Join(dir, kubeletDir), 0o700); err != nil {
			return nil, err
		}
		if err := k.configure(n, of.Gates, of.Config); err != nil {
			return nil, err
		}
		up := func(ctx context.Context, id, reference string) {
			if c.Up != nil {
				c.Up(ctx, of.Name, id, reference)
			}
		}
		n.relay, err = containerd.NewRelay(containerd.RelayConfig{
			Name: of.Name, Socket: filepath.Join(dir, socketFile), Dial: n.dial, Recorder: c.Recorder, Up: up,
			Load:   func(ctx context.Context, reference string) error { return k.load(ctx, n, reference) },
			Mounts: []containerd.Mount{{Host: filepath.Join(shared, recordFolder), Container: c.Mounted}},
		})
		if err != nil {
			return nil, err
		}
		k.nodes[of.Name] = n
	}
	return k, nil
}

// workerName is what kind calls the container of a worker, by its place.
func workerName(cluster string, i int) string {
	if i == 0 {
		return cluster + "-worker"
	}
	return fmt.Sprintf("%s-worker%d", cluster, i+1)
}

// Recorded is the directory of this machine that the containers of a node have.
func (k *Cluster) Recorded(node string) string {
	return filepath.Join(k.config.nodeDir(node), recordFolder)
}

// Kubeconfig is the path of a kubeconfig for an administrator.
func (k *Cluster) Kubeconfig() string { return filepath.Join(k.config.dir, "kubeconfig") }

// Path is the path of the container of a node with an id, "namespace/pod/container", and whether
// there is one.
func (k *Cluster) Path(node, id string) (string, bool) {
	n, err := k.node(node)
	if err != nil {
		return "", false
	}
	return n.relay.Path(id)
}

// Create creates the cluster, and returns when its nodes are ready. If it can't, or is interrupted,
// nothing but its directory is left once Close was called.
func (k *Cluster) Create(ctx context.Context) error {
	config, err := clusterConfig(k.config)
	if err != nil {
		return err
	}
	for _, n := range k.config.Nodes {
		if n.Newer {
			if err := k.copyOut(ctx, k.config.ControlPlane.Image, kubeadmPath, filepath.Join(k.config.nodeDir(n.Name), kubeadmFile)); err != nil {
				return err
			}
		}
	}
	created := make(chan error, 1)
	go func() {
		created <- k.provider.Create(k.name, cluster.CreateWithV1Alpha4Config(config), cluster.CreateWithKubeconfigPath(k.Kubeconfig()))
	}()
	select {
	case err = <-created:
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), k.breakOff(created))
	}
	if err != nil {
		return fmt.Errorf("creating a kind cluster: %w%s", err, said(err))
	}
	if err := k.connect(); err != nil {
		return err
	}
	if err := k.controlPlane.readManifests(ctx); err != nil {
		return err
	}
	if err := k.followAll(); err != nil {
		return err
	}
	return k.settle(ctx)
}

// breakOff ends the creation of the cluster. kind does not look whether it is to go on: without its
// containers it can't.
func (k *Cluster) breakOff(created <-chan error) error {
	for {
		if err := k.remove(); err != nil {
			return err
		}
		select {
		case err := <-created:
			_ = err // it is known why
			return k.remove()
		case <-time.After(readyPoll):
		}
	}
}

// said is what a command of kind's that failed has said at last.
func said(err error) string {
	failed := kindexec.RunErrorForError(err)
	if failed == nil {
		return ""
	}
	text, _, _ := strings.Cut(string(failed.Output), "\nk8s.io/kubernetes/") // kubeadm says next where it was
	return ":\n" + process.LastLines(text, 20)
}

func (k *Cluster) connect() error {
	rest, err := clientcmd.BuildConfigFromFlags("", k.Kubeconfig())
	if err != nil {
		return err
	}
	k.client, err = kubernetes.NewForConfig(rest)
	return err
}

// dial connects to the containerd of a node.
func (n *node) dial(ctx context.Context) (net.Conn, error) {
	pid, err := docker.Run(ctx, "inspect", "--format", "{{.State.Pid}}", n.container)
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, "unix", "/proc/"+pid+"/root/run/containerd/containerd.sock")
}

// load has the containerd of a node have an image.
func (k *Cluster) load(ctx context.Context, n *node, reference string) error {
	archive, err := k.config.Image(ctx, reference)
	if err != nil {
		return err
	}
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	n.loading.Lock()
	defer n.loading.Unlock()
	if _, err := docker.Pipe(ctx, file, "exec", "--interactive", n.container, "ctr", "--namespace=k8s.io", "images", "import", "-"); err != nil {
		return fmt.Errorf("importing image %s: %w", reference, err)
	}
	return nil
}

// followAll has ends recorded and reported as they come: of containers, of kubelets and of the components of the control plane.
func (k *Cluster) followAll() error {
	events := []string{"ctr", "--namespace=k8s.io", "events"}
	kubelet := []string{"journalctl", "--follow", "--lines=0", "--output=json", "--output-fields=" + unitExitFields, "_PID=1", "UNIT=kubelet.service"}
	for _, n := range k.nodes {
		exited := func(e End) { k.ended("kubelet/"+n.name, e) }
		err := errors.Join(
			k.follow(n, events, n.relay.Follow, k.loseContainers),
			k.follow(n, kubelet, func(journal io.Reader) error { return readUnitExits(journal, exited) }, func(err error) { k.loseComponents(err, "kubelet/"+n.name) }))
		if err != nil {
			return err
		}
	}
	return k.follow(&k.controlPlane.node, events, func(events io.Reader) error {
		return containerd.ReadExits(events, func(e containerd.Exit) { k.following.Go(func() { k.containerEnded(e) }) })
	}, k.loseControlPlane)
}

// loseContainers records that ends of containers are not heard of any more.
func (k *Cluster) loseContainers(err error) {
	k.config.Recorder.Append("cluster", "", record.Losing(time.Now(), err, record.ContainerExited{}))
}

// loseComponents records that ends of components are not heard of any more.
func (k *Cluster) loseComponents(err error, names ...string) {
	for _, name := range names {
		k.config.Recorder.Append("cluster", name, record.Losing(time.Now(), err, record.ComponentStopped{}))
	}
}

// loseControlPlane records that of the components of the control plane.
func (k *Cluster) loseControlPlane(err error) {
	k.loseComponents(err, slices.Sorted(slices.Values(components))...)
}

// follow has what a command in a node prints read, until Close. That it ends earlier is a loss.
func (k *Cluster) follow(n *node, command []string, read func(io.Reader) error, lose func(error)) error {
	cmd := docker.Command(append([]string{"exec", n.container}, command...)...)
	cmd.Name, cmd.Stop = command[0], syscall.SIGKILL // what it has read is read
	ended, err := cmd.Follow(k.lasting, read)
	if err != nil {
		return err
	}
	k.following.Go(func() {
		if err := ended(); err != nil {
			lose(fmt.Errorf("the events of node %s have ended: %w", n.name, err))
		}
	})
	return nil
}

// ended tells that a process of a component has ended, unless it was asked to.
func (k *Cluster) ended(component string, e End) {
	if k.config.Ended != nil && !k.away.cover(component, e.At) {
		k.config.Ended(component, e)
	}
}

// containerEnded keeps how a container on the node of the control plane has ended, and tells
// it if the container was a component.
func (k *Cluster) containerEnded(e containerd.Exit) {
	k.controlPlane.ends.Store(e.Container, ofContainer(e.Code, e.At))
	s, err := k.controlPlane.awaitEnd(k.lasting, e.Container)
	if err != nil && k.lasting.Err() == nil {
		k.loseControlPlane(err)
		return
	}
	component := s.GetLabels()[containerLabel]
	if slices.Contains(components, component) && s.GetLabels()[namespaceLabel] == systemNamespace {
		k.ended(component, endOf(s))
	}
}

// Close removes the cluster.
func (k *Cluster) Close() error {
	k.end() // before what is followed ends with its node
	k.following.Wait()
	return errors.Join(k.remove(), k.closeRelays(), os.RemoveAll(k.config.dir))
}

func (k *Cluster) closeRelays() (err error) {
	for _, n := range k.nodes {
		err = errors.Join(err, n.relay.Close())
	}
	clear(k.nodes)
	if k.controlPlane != nil {
		err = errors.Join(err, k.controlPlane.conn.Close())
	}
	return err
}

// clusterLabel is the label by which kind knows the containers of a cluster
// (pkg/cluster/internal/providers/docker/constants.go).
const clusterLabel = "io.x-k8s.kind.cluster"

// remove removes the containers of the cluster.
func (k *Cluster) remove() error {
	_, err := removeContainers(context.Background(), "label="+clusterLabel+"="+k.name)
	return err
}

// node is a node of the cell.
func (k *Cluster) node(name string) (*node, error) {
	if n := k.nodes[name]; n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("unsupported value: node %q: supported values: %s", name, strings.Join(slices.Sorted(maps.Keys(k.nodes)), ", "))
}
