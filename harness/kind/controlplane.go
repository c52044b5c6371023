package kind

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/wait"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/record"
)

// manifestDir is where kubeadm has a kubelet look for static pods, and manifestPart where a file is written that
// is not whole yet.
const manifestDir, manifestPart = "/etc/kubernetes/manifests", "/etc/kubernetes/skewrig.part"

// components are those of the control plane that the tests of a cell may change. They serve where kubeadm has them do so, which is
// where a rig has them (k8s.io/component-base and kubeadm, constants).
var components = program.Names(program.Server, program.Controller)

// controlPlane is the node of a cluster's control plane.
type controlPlane struct {
	node
	conn    *grpc.ClientConn // to its container runtime
	kubeadm map[string][]byte
	starts  map[string]int
	ends    sync.Map // how containers have ended, by their ids, as their node said at that moment
}

// newControlPlane prepares that of a cluster.
func newControlPlane(cluster string) (*controlPlane, error) {
	name := cluster + "-control-plane"
	c := &controlPlane{node: node{name: name, container: name}, kubeadm: make(map[string][]byte), starts: make(map[string]int)}
	var err error
	c.conn, err = grpc.NewClient("passthrough:///containerd", grpc.WithTransportCredentials(insecure.NewCredentials()), // a socket of this machine
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.dial(ctx) }))
	return c, err
}

// readManifests reads the manifests that kubeadm has made.
func (c *controlPlane) readManifests(ctx context.Context) error {
	for _, component := range components {
		text, err := docker.Run(ctx, "exec", c.container, "cat", manifestOf(component))
		if err != nil {
			return fmt.Errorf("reading the manifest of %s: %w", component, err)
		}
		c.kubeadm[component] = []byte(text)
	}
	return nil
}

func manifestOf(component string) string { return manifestDir + "/" + component + ".yaml" }

// put writes a file.
//
//go:embed put.sh
var put string

// putFile has a node have a file, which is whole from the beginning.
func (n *node) putFile(ctx context.Context, path string, content []byte) error {
	_, err := docker.Pipe(ctx, bytes.NewReader(content), "exec", "--interactive", n.container, "sh", "-c", put, "sh", manifestPart, path)
	return err
}

// containers are those of a component that its container runtime knows, the newest first.
func (c *controlPlane) containers(ctx context.Context, component string) ([]*cri.Container, error) {
	filter := &cri.ContainerFilter{LabelSelector: map[string]string{containerLabel: component, namespaceLabel: systemNamespace}}
	list, err := cri.NewRuntimeServiceClient(c.conn).ListContainers(ctx, &cri.ListContainersRequest{Filter: filter})
	if err != nil {
		return nil, fmt.Errorf("asking for the containers of %s: %w", component, err)
	}
	all := list.GetContainers()
	slices.SortFunc(all, func(a, b *cri.Container) int { return int(b.GetCreatedAt() - a.GetCreatedAt()) })
	return all, nil
}

// The labels by which a kubelet knows its containers (k8s.io/kubernetes, pkg/kubelet/types/labels.go).
const (
	containerLabel = "io.kubernetes.container.name"
	namespaceLabel = "io.kubernetes.pod.namespace"
	uidLabel       = "io.kubernetes.pod.uid"
)

// systemNamespace is the namespace of the components of a control plane.
const systemNamespace = "kube-system"

// running is the container of a component that runs; nil if none does.
func (c *controlPlane) running(ctx context.Context, component string) (*cri.Container, error) {
	all, err := c.containers(ctx, component)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, isRunning); i >= 0 {
		return all[i], nil
	}
	return nil, nil
}

func isRunning(c *cri.Container) bool { return c.GetState() == cri.ContainerState_CONTAINER_RUNNING }

// status is what the container runtime says of a container. That it knows none of this id is an error.
func (c *controlPlane) status(ctx context.Context, id string) (*cri.ContainerStatus, error) {
	answer, err := cri.NewRuntimeServiceClient(c.conn).ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		return nil, fmt.Errorf("asking how container %s is: %w", id, err)
	}
	return answer.GetStatus(), nil
}

// lookLimit is how long a container runtime is asked how a container has ended. After that, the end is lost.
const lookLimit = 2 * time.Minute

// awaitEnd is the status of a container that has ended: the container runtime hears of that as others do. It is nil if
// the container runtime knows no such container: it was a sandbox, or is removed.
func (c *controlPlane) awaitEnd(ctx context.Context, id string) (s *cri.ContainerStatus, err error) {
	var asking error
	err = wait.PollUntilContextTimeout(ctx, readyPoll, lookLimit, true, func(ctx context.Context) (bool, error) {
		s, asking = c.status(ctx, id)
		return hasEnded(s) || status.Code(asking) == codes.NotFound, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for how container %s has ended: %w", id, cmp.Or(asking, err))
	}
	return s, nil
}

func hasEnded(s *cri.ContainerStatus) bool {
	return s.GetState() == cri.ContainerState_CONTAINER_EXITED
}

// endOf is how the container of a status has ended. It is unset if the status does not say that it has.
func endOf(s *cri.ContainerStatus) End {
	if !hasEnded(s) {
		return End{}
	}
	return ofContainer(s.GetExitCode(), time.Unix(0, s.GetFinishedAt()))
}

// StopComponent asks a component of the control plane to end, and returns when it is gone.
func (k *Cluster) StopComponent(ctx context.Context, component string) (End, error) {
	ended, end, err := k.endComponent(ctx, component, func(string) []string { return []string{"rm", manifestOf(component)} })
	if err != nil {
		return end, err
	}
	return end, k.controlPlane.awaitGone(ctx, ended.GetLabels()[uidLabel])
}

// killComponent kills a component while the kubelet is away.
//
//go:embed killcomponent.sh
var killComponent string

// KillComponent ends a component of the control plane without a warning. The kubelet, which would start it
// again, is away at that moment, and knows nothing of it when it is back.
func (k *Cluster) KillComponent(ctx context.Context, component string) (End, error) {
	_, end, err := k.endComponent(ctx, component, func(id string) []string {
		return []string{"sh", "-c", killComponent, "sh", id, manifestOf(component)}
	})
	return end, err
}

// endComponent ends a component by a command in the node, which gets the container's id.
func (k *Cluster) endComponent(ctx context.Context, component string, command func(id string) []string) (runs *cri.Container, end End, err error) {
	c := k.controlPlane
	if runs, err = c.running(ctx, component); err == nil && runs == nil {
		err = fmt.Errorf("%s does not run", component)
	}
	if err != nil {
		return nil, end, err
	}
	k.away.begin(component)
	if _, err := docker.Run(ctx, append([]string{"exec", c.container}, command(runs.GetId())...)...); err != nil {
		k.away.end(component)
		return nil, end, fmt.Errorf("ending %s: %w", component, err)
	}
	end, err = c.awaitStopped(ctx, component, runs.GetId())
	return runs, end, err
}

// awaitStopped waits until no container of a component runs, and returns how the one of an id has ended. If the kubelet
// has removed that one, an event says how, which may come later. Without either, it is an error.
func (c *controlPlane) awaitStopped(ctx context.Context, component, id string) (end End, err error) {
	var removed error
	err = wait.PollUntilContextTimeout(ctx, readyPoll, readyLimit, true, func(ctx context.Context) (bool, error) {
		if runs, err := c.running(ctx, component); err != nil || runs != nil {
			return false, err
		}
		if seen, is := c.ends.Load(id); is {
			end = seen.(End)
			return true, nil
		}
		s, err := c.status(ctx, id)
		if status.Code(err) == codes.NotFound {
			removed = err
			return false, nil
		}
		end = endOf(s)
		return hasEnded(s), err
	})
	if err != nil {
		err = fmt.Errorf("waiting until %s has ended: %w", component, errors.Join(err, removed))
	}
	return end, err
}

// gone waits until there is no file of a name.
//
//go:embed gone.sh
var gone string

// awaitGone waits until the kubelet has forgotten a static pod. One that comes in its place earlier is looked at again only
// after ten seconds (k8s.io/kubernetes, pkg/kubelet/pod_workers.go, allowStaticPodStart).
func (c *controlPlane) awaitGone(ctx context.Context, uid string) error {
	_, err := docker.Run(ctx, "exec", c.container, "timeout", fmt.Sprint(readyLimit.Seconds()), "sh", "-c", gone, "sh", "/var/lib/kubelet/pods/"+uid)
	if err != nil {
		return fmt.Errorf("waiting until the kubelet of the control plane has forgotten pod %s: %w", uid, err)
	}
	return nil
}

// StartComponent starts a component of the control plane that does not run, and returns when it serves.
func (k *Cluster) StartComponent(ctx context.Context, component string, as Component) error {
	c := k.controlPlane
	manifest, err := as.manifest(c.kubeadm[component], c.starts[component]+1)
	if err != nil {
		return err
	}
	if err := k.Load(ctx, component, as); err != nil {
		return err
	}
	c.starts[component]++
	k.away.end(component)
	if err := c.putFile(ctx, manifestOf(component), manifest); err != nil {
		return err
	}
	began := time.Now()
	var last error
	err = wait.PollUntilContextTimeout(ctx, readyPoll, readyLimit, true, func(ctx context.Context) (bool, error) {
		if err := k.endedSince(ctx, component, began); err != nil {
			return false, err
		}
		last = k.serves(ctx, component)
		return last == nil, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = errors.Join(fmt.Errorf("it does not serve within %s", readyLimit), last)
	}
	if err != nil {
		return fmt.Errorf("starting %s %s: %w%s", component, as.Release, err, k.lastWords(ctx, component))
	}
	return nil
}

// endedSince is an error if a component has been started since a moment, and has ended.
func (k *Cluster) endedSince(ctx context.Context, component string, began time.Time) error {
	all, err := k.controlPlane.containers(ctx, component)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.GetState() == cri.ContainerState_CONTAINER_EXITED && time.Unix(0, one.GetCreatedAt()).After(began) {
			s, err := k.controlPlane.status(ctx, one.GetId())
			return errors.Join(fmt.Errorf("it %s", endOf(s)), err)
		}
	}
	return nil
}

// serves is an error if a component does not serve.
func (k *Cluster) serves(ctx context.Context, component string) error {
	of, _ := program.Of(component)
	_, err := k.Ask(ctx, component, of.Health)
	return err
}

// Ask asks a component of the control plane, as an administrator, for what is at a path. Controller manager and
// scheduler serve at the loopback addresses of their node, with certificates that no client trusts.
func (k *Cluster) Ask(ctx context.Context, component, path string) ([]byte, error) {
	if component == record.APIServer {
		return k.client.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
	}
	of, _ := program.Of(component)
	server := fmt.Sprintf("https://127.0.0.1:%d", of.Port)
	text, err := docker.Run(ctx, "exec", k.controlPlane.container, "kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", "--server="+server, "--insecure-skip-tls-verify", "get", "--raw", path)
	return []byte(text), err
}

// lastLog prints the newest log of a static pod.
//
//go:embed lastlog.sh
var lastLog string

// componentLog is what a component of the control plane has said since it was started last.
func (k *Cluster) componentLog(ctx context.Context, component string) ([]byte, error) {
	text, err := docker.Run(ctx, "exec", k.controlPlane.container, "sh", "-c", lastLog, "sh", "/var/log/pods", component)
	return []byte(text), err
}

// wordLines is how many of the last lines of a log an error has.
const wordLines = 10

// lastWords are the last lines of a component's log, as an error has them.
func (k *Cluster) lastWords(ctx context.Context, component string) string {
	text, err := k.componentLog(context.WithoutCancel(ctx), component)
	if err != nil {
		return ""
	}
	return "; it said at last:\n" + process.LastLines(string(text), wordLines)
}

// Load has the node of the control plane have the image of a component as it is to be, which is in the node image of its
// release. StartComponent does so, too, while the component is away.
func (k *Cluster) Load(ctx context.Context, component string, as Component) error {
	if as.Image == k.config.ControlPlane.Image {
		return nil
	}
	name, err := imageIn(k.controlPlane.kubeadm[component])
	if err != nil {
		return err
	}
	if name = imageOf(name, as.Release); k.loaded[name] {
		return nil
	}
	read, write := io.Pipe()
	from := []string{"run", "--rm", "--name", k.name + "-images", "--label", k.label, "--network", "none", "--entrypoint", "sh", as.Image}
	export := docker.Command(append(from, containerd.While("ctr", "--namespace=k8s.io", "images", "export", "-", name)...)...)
	export.Stdout = write
	go func() {
		_, err := export.Run(ctx)
		if err != nil {
			err = fmt.Errorf("exporting from %s: %w", as.Image, err)
		}
		write.CloseWithError(err)
	}()
	defer read.Close()
	if _, err := docker.Pipe(ctx, read, "exec", "--interactive", k.controlPlane.container, "ctr", "--namespace=k8s.io", "images", "import", "-"); err != nil {
		return fmt.Errorf("having image %s on the node of the control plane: %w", name, err)
	}
	k.loaded[name] = true
	return nil
}
