package kind

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/watched"
)

// configure writes the drop-in configuration of a kubelet, which it reads when it starts.
func (k *Cluster) configure(n *node, gates release.Gates, config map[string]any) error {
	text, err := kubeletConfig(gates, config)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.config.nodeDir(n.name), kubeletDir, kubeletFile), text, 0o600)
}

// systemctl does something with the kubelet of a node.
func (n *node) systemctl(ctx context.Context, args ...string) error {
	_, err := docker.Run(ctx, append([]string{"exec", n.container, "systemctl"}, append(args, "kubelet.service")...)...)
	return err
}

// StopKubelet asks the kubelet of a node to end, and returns when it is gone.
func (k *Cluster) StopKubelet(ctx context.Context, node string) (End, error) {
	n, err := k.node(node)
	if err != nil {
		return End{}, err
	}
	k.away.begin("kubelet/" + node)
	if err := n.systemctl(ctx, "stop"); err != nil {
		k.away.end("kubelet/" + node)
		return End{}, err
	}
	return n.kubeletEnd(ctx)
}

// killKubelet kills a kubelet.
//
//go:embed killkubelet.sh
var killKubelet string

// KillKubelet ends it without a warning. systemd does not start it again.
func (k *Cluster) KillKubelet(ctx context.Context, node string) (End, error) {
	n, err := k.node(node)
	if err != nil {
		return End{}, err
	}
	k.away.begin("kubelet/" + node)
	if _, err := docker.Run(ctx, "exec", n.container, "sh", "-c", killKubelet); err != nil {
		k.away.end("kubelet/" + node)
		return End{}, fmt.Errorf("killing the kubelet of %s: %w", node, err)
	}
	return n.kubeletEnd(ctx)
}

// kubeletEnd is how the kubelet of a node has ended, which does not run, by what systemd says.
func (n *node) kubeletEnd(ctx context.Context) (End, error) {
	text, err := docker.Run(ctx, "exec", n.container, "systemctl", "show", "--value", "--property=ExecMainCode", "--property=ExecMainStatus", "kubelet.service")
	if err != nil {
		return End{}, err
	}
	end, err := ofMain(text, time.Now())
	if err != nil {
		return End{}, fmt.Errorf("asking systemd how the kubelet of %s has ended: %w", n.name, err)
	}
	return end, nil
}

// StartKubelet starts the kubelet of a node with the gates and the configuration that it is to have, and returns when it is
// ready. If it is to have an image, the kubelet is that of this node image from now on.
func (k *Cluster) StartKubelet(ctx context.Context, as Node) error {
	n, err := k.node(as.Name)
	if err != nil {
		return err
	}
	if as.Image != "" {
		if err := k.replaceKubelet(ctx, n, as.Image); err != nil {
			return err
		}
	}
	if err := k.configure(n, as.Gates, as.Config); err != nil {
		return err
	}
	began := time.Now().Truncate(time.Second) // as times in statuses are
	k.away.end("kubelet/" + n.name)
	if err := n.systemctl(ctx, "start"); err != nil {
		return err
	}
	return k.awaitKubelet(ctx, n, began)
}

// kubeletPath is where node images have the kubelet.
const kubeletPath = "/usr/bin/kubelet"

// replaceKubelet puts the kubelet of a node image into a node.
func (k *Cluster) replaceKubelet(ctx context.Context, n *node, image string) (err error) {
	temp, err := os.MkdirTemp("", "skewrig-kubelet-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	file := filepath.Join(temp, "kubelet")
	if err := k.copyOut(ctx, image, kubeletPath, file); err != nil {
		return err
	}
	_, err = docker.Run(ctx, "cp", file, n.container+":"+kubeletPath)
	return err
}

// copyOut copies a file of an image to this machine, by a container that never runs. Docker may go on making it when ctx is
// done; what comes too late here, Run.Close removes by its name.
func (k *Cluster) copyOut(ctx context.Context, image, path, to string) (err error) {
	name := k.name + "-copy"
	defer func() {
		_, removed := docker.Run(context.WithoutCancel(ctx), "rm", "--force", "--volumes", name)
		err = errors.Join(err, removed)
	}()
	if _, err := docker.Run(ctx, "create", "--name", name, "--label", k.label, "--network", "none", image); err != nil {
		return err
	}
	_, err = docker.Run(ctx, "cp", name+":"+path, to)
	return err
}

// awaitKubelet waits until a kubelet answers and has said how its node is since it began.
func (k *Cluster) awaitKubelet(ctx context.Context, n *node, began time.Time) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyPoll, readyLimit, true, func(ctx context.Context) (bool, error) {
		if _, last = k.client.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/" + n.name + "/proxy/healthz").DoRaw(ctx); last != nil {
			return false, nil //nolint:nilerr // it is tried again
		}
		is, err := k.client.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
		if last = err; err != nil || !watched.IsReady(is) {
			return false, nil //nolint:nilerr // likewise
		}
		for _, c := range is.Status.Conditions {
			if c.LastHeartbeatTime.Time.Before(began) && c.Type != "NetworkUnavailable" {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the kubelet of %s is not ready within %s: %w", n.name, readyLimit, errors.Join(last, err))
	}
	return err
}

// KubeletLog is what the kubelets of a node have said so far.
func (k *Cluster) KubeletLog(ctx context.Context, node string) ([]byte, error) {
	n, err := k.node(node)
	if err != nil {
		return nil, err
	}
	text, err := docker.Run(ctx, "exec", n.container, "journalctl", "--no-pager", "--output=cat", "--unit=kubelet.service")
	return []byte(text), err
}

// PutManifest has the kubelet of a node run a pod from a file, in place of one of the same name. It returns before the
// pod runs.
func (k *Cluster) PutManifest(ctx context.Context, node, name string, manifest []byte) error {
	if err := canName(name); err != nil {
		return err
	}
	n, err := k.node(node)
	if err != nil {
		return err
	}
	return n.putFile(ctx, staticPodFile(name), manifest)
}

// RemoveManifest takes the file of a static pod away, by the pod's name. It returns before the pod has ended.
func (k *Cluster) RemoveManifest(ctx context.Context, node, name string) error {
	if err := canName(name); err != nil {
		return err
	}
	n, err := k.node(node)
	if err != nil {
		return err
	}
	_, err = docker.Run(ctx, "exec", n.container, "rm", staticPodFile(name))
	return err
}

func staticPodFile(name string) string { return manifestDir + "/" + name + ".json" }

// canName is an error if a file can't be named after a static pod.
func canName(pod string) error {
	if pod == "" || pod != filepath.Base(pod) {
		return fmt.Errorf("%q can't be the name of a static pod", pod)
	}
	return nil
}
