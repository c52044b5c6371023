// Package containerd has the container runtime of a node be containerd, with runc and CNI plugins
// of this machine. Each node has one of its own, in mount and PID namespaces that a kubelet
// enters, too: its mounts, processes and networks end with them. It takes root.
package containerd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/record"
)

// Config says what node to make.
type Config struct {
	// Name is that of the node.
	Name string
	// Dir is a directory of the node's own, which ends with the rig.
	Dir string
	// Socket is where the kubelet connects to.
	Socket string
	// Cgroup is the path of a cgroup for the node's pods, which Close removes.
	Cgroup string
	// Pods are the addresses of the node's pods.
	Pods netip.Prefix
	// BootID is a file with the boot ID that the node has.
	BootID string
	// Image returns the path of an OCI archive with the image that a pod asks for, or why there is
	// none. It may be called again for the same.
	Image func(ctx context.Context, reference string) (archive string, err error)
	// Up waits until the program of a container has come up, whose image was asked for by a
	// reference, or until ctx ends: the kubelet hears of the start no earlier. If unset, it does when
	// containerd has started it.
	Up func(ctx context.Context, id, reference string)
	// Sandbox is the reference of the image of pods' sandboxes.
	Sandbox string
	// Mounts are what all containers have of this machine. If unset, nothing.
	Mounts []Mount
	// Recorder takes what the kubelet has containerd do.
	Recorder record.Recorder
	// Output is a directory for what containers write. If unset, it is not kept.
	Output string
	// Log is the file that takes containerd's log.
	Log string
	// Found is what this machine has, which is all that Check asks for.
	Found Found
}

// Node is a running container runtime, with the namespaces of its node.
type Node struct {
	config Config
	dirs   dirs
	relay  *relay

	loading sync.Mutex // one at a time, and none during a reboot: images share layers

	mu         sync.Mutex
	namespaces *process.Namespaces // nil while it has none
	daemon     *process.Process
	unfollow   context.CancelFunc       // says that the daemon, if there is one, is about to end, and with it what follows its events
	lost       []record.ObservationLost // ends of containers that are not heard of

	following sync.WaitGroup
}

// startLimit is how long containerd has to start, which takes a second or two.
const startLimit = 2 * time.Minute

// Start makes a node, and returns when its container runtime is ready and has the images. If it
// can't, nothing is left.
func Start(ctx context.Context, config Config) (_ *Node, err error) {
	n := &Node{config: config, dirs: dirs{config.Dir}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("starting containerd of node %s: %w", config.Name, err), n.Close())
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not ready within %s", startLimit))
	defer cancel()
	if n.relay, err = newRelay(n.relayed()); err != nil {
		return nil, err
	}
	if err := errors.Join(process.MakeCgroup(config.Cgroup), n.configure(ctx)); err != nil {
		return nil, err
	}
	if err := n.boot(ctx); err != nil {
		return nil, err
	}
	return n, n.load(ctx, config.Sandbox)
}

// relayed is the configuration of its relay. The mounts that all containers have are in the specification that containerd
// makes theirs of.
func (n *Node) relayed() RelayConfig {
	c := n.config
	return RelayConfig{Name: c.Name, Socket: c.Socket, Dial: n.dial, Load: n.load, Up: c.Up, Recorder: c.Recorder, Output: c.Output}
}

// configure writes the files that containerd reads.
func (n *Node) configure(ctx context.Context) error {
	network, err := NetworkConfig(n.config.Pods)
	if err != nil {
		return err
	}
	of, err := n.ctr("oci", "spec").Run(ctx)
	if err != nil {
		return fmt.Errorf("asking for a specification of containers: %w", err)
	}
	spec, err := withMounts(of.Stdout, n.config.Mounts)
	if err != nil {
		return err
	}
	for _, dir := range []string{n.dirs.data(), n.dirs.network()} {
		err = errors.Join(err, os.MkdirAll(dir, 0o700))
	}
	id, idErr := os.OpenFile(n.config.BootID, os.O_CREATE|os.O_RDONLY, 0o600) // there is something to mount
	if idErr == nil {
		idErr = id.Close()
	}
	return errors.Join(err, idErr,
		os.WriteFile(n.dirs.config(), []byte(daemonConfig(n.dirs, n.config.Found, n.config.Sandbox)), 0o600),
		os.WriteFile(filepath.Join(n.dirs.network(), "10-skewrig.conflist"), network, 0o600),
		os.WriteFile(n.dirs.baseSpec(), spec, 0o600))
}

// prepare prepares the namespaces of a node.
//
//go:embed prepare.sh
var prepare string

// boot makes the node's namespaces, and starts containerd there.
func (n *Node) boot(ctx context.Context) error {
	if err := awaitInstances(ctx, instance); err != nil {
		return err
	}
	namespaces, err := process.NewNamespaces(prepare, n.config.BootID)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.namespaces = namespaces
	n.mu.Unlock()
	return n.run(ctx)
}

// run starts containerd.
func (n *Node) run(ctx context.Context) error {
	began := time.Now()
	daemon, err := process.Start(ctx, process.Config{
		Name: "containerd/" + n.config.Name, Path: n.config.Found.Programs["containerd"], Args: []string{"--config", n.dirs.config()},
		Env: []string{"PATH=" + filepath.Dir(n.config.Found.Programs["containerd-shim-runc-v2"]) + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + n.config.Dir, "TMPDIR=" + n.config.Dir},
		Dir: n.config.Dir, Log: n.config.Log, In: n.namespaces,
		Ready: func(ctx context.Context) error { return ready(ctx, n.relay.runtime) },
	})
	if err != nil {
		return err
	}
	following, unfollow := context.WithCancel(context.Background())
	n.mu.Lock()
	n.daemon, n.unfollow = daemon, unfollow
	n.mu.Unlock()
	if err := n.follow(following, n.namespaces); err != nil {
		return err
	}
	for _, id := range n.relay.runningIn("") { // those that have ended meanwhile
		if err := n.relay.look(ctx, id); err != nil {
			n.relay.loseEnd(id, began, err)
		}
	}
	n.heard()
	return nil
}

// ready returns why the container runtime is not ready.
func ready(ctx context.Context, client cri.RuntimeServiceClient) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	answer, err := client.Status(ctx, &cri.StatusRequest{})
	if err != nil {
		return err
	}
	for _, c := range answer.GetStatus().GetConditions() {
		if !c.GetStatus() {
			return fmt.Errorf("%s is false: %s %s", c.GetType(), c.GetReason(), c.GetMessage())
		}
	}
	return nil
}

// errNotRunning is of a node that has ended, is about to boot, or could not.
var errNotRunning = errors.New("containerd is not running")

// dial connects to containerd from outside of its namespaces.
func (n *Node) dial(ctx context.Context) (net.Conn, error) {
	in := n.Namespaces()
	if in == nil {
		return nil, errNotRunning
	}
	return new(net.Dialer).DialContext(ctx, "unix", fmt.Sprintf("/proc/%d/root%s", in.PID(), socket))
}

// load has containerd have an image.
func (n *Node) load(ctx context.Context, reference string) error {
	archive, err := n.config.Image(ctx, reference)
	if err != nil {
		return err
	}
	n.loading.Lock()
	defer n.loading.Unlock()
	if ctx.Err() != nil { // meanwhile: who asked for it may have ended with the node
		return ctx.Err()
	}
	load := n.client("images", "import", archive)
	if load.In = n.Namespaces(); load.In == nil {
		return errNotRunning
	}
	if _, err := load.Run(ctx); err != nil {
		return fmt.Errorf("importing image %s: %w", reference, err)
	}
	return nil
}

// ctr is a command of containerd's program.
func (n *Node) ctr(args ...string) process.Command {
	return process.Command{Name: "ctr", Path: n.config.Found.Programs["ctr"], Args: args, Env: process.ToolEnv()}
}

// client is a command of that program which connects to the node's containerd, in its namespaces.
func (n *Node) client(args ...string) process.Command {
	return n.ctr(append([]string{"--address", socket, "--namespace", "k8s.io"}, args...)...)
}

// Endpoint is what the kubelet connects to, in the node's namespaces.
func (n *Node) Endpoint() string { return "unix://" + n.config.Socket }

// Namespaces are those in which the node's processes run. A reboot makes others.
func (n *Node) Namespaces() *process.Namespaces {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.namespaces
}

// Reboot ends all processes of the node as a power cut does, its kubelet's and its containers',
// and starts the container runtime again with what is on disk.
func (n *Node) Reboot(ctx context.Context) error {
	n.loading.Lock()
	defer n.loading.Unlock()
	if err := n.end(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := n.boot(ctx); err != nil {
		return fmt.Errorf("rebooting node %s: %w", n.config.Name, err)
	}
	return nil
}

// end ends all processes of the node.
func (n *Node) end() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.namespaces == nil {
		return nil
	}
	if n.daemon != nil {
		n.unfollow()
	}
	err := n.namespaces.Close()
	n.namespaces, n.daemon = nil, nil
	return err
}

// Close ends the node with all of its containers and mounts, and removes its cgroup. Its
// directory stays. Nothing is recorded afterwards. It is called once.
func (n *Node) Close() error {
	var relayed error
	if n.relay != nil {
		n.relay.keepAll()
		relayed = n.relay.end() // what is about to ask it goes on to have it
	}
	ended := n.end()
	n.following.Wait()
	if n.relay != nil {
		n.relay.looking.Wait()
	}
	return errors.Join(relayed, ended, process.RemoveCgroup(n.config.Cgroup))
}

// Path is the path of the container with an id, "namespace/pod/container", and whether there is
// one.
func (n *Node) Path(id string) (string, bool) { return n.relay.Path(id) }

// SetFault gives the link of the node's kubelet to its container runtime another fault, which may
// be none. One that resets it is the death of containerd: it is killed, and started again when that
// is over. Containers go on whatever it is. A node that does not run can have none.
func (n *Node) SetFault(ctx context.Context, f record.LinkFault) error {
	n.mu.Lock()
	daemon, unfollow := n.daemon, n.unfollow
	n.mu.Unlock()
	if daemon == nil {
		return fmt.Errorf("changing the link of node %s: %w", n.config.Name, errNotRunning)
	}
	dead := f.Cut == record.CutReset
	switch ended := daemon.Exit() != nil; {
	case dead && !ended:
		unfollow()
		return errors.Join(n.relay.link.Set(f), daemon.Kill())
	case !dead && ended:
		ctx, cancel := context.WithTimeout(ctx, startLimit)
		defer cancel()
		if err := n.run(ctx); err != nil {
			return err
		}
	}
	return n.relay.link.Set(f)
}
