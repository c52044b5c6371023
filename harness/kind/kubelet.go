package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/release"
)

// configure writes the drop-in configuration of a kubelet, which it reads when it starts.
func (k *Cluster) configure(n *node, gates release.Gates) error {
	text, err := kubeletConfig(gates)
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
func (k *Cluster) StopKubelet(ctx context.Context, node string) error {
	return k.nodes[node].systemctl(ctx, "stop")
}

// KillKubelet ends it without a warning. systemd does not start it again.
func (k *Cluster) KillKubelet(ctx context.Context, node string) error {
	n := k.nodes[node]
	return errors.Join(n.systemctl(ctx, "kill", "--signal=KILL"), n.systemctl(ctx, "stop"))
}

// StartKubelet starts the kubelet of a node with gates, and returns when it is ready. If image is
// given, the kubelet is that of this node image from now on.
func (k *Cluster) StartKubelet(ctx context.Context, node, image string, gates release.Gates) error {
	n := k.nodes[node]
	if image != "" {
		if err := n.replaceKubelet(ctx, image); err != nil {
			return err
		}
	}
	if err := k.configure(n, gates); err != nil {
		return err
	}
	began := time.Now().Truncate(time.Second) // as times in statuses are
	if err := n.systemctl(ctx, "start"); err != nil {
		return err
	}
	return k.awaitKubelet(ctx, n, began)
}

// kubeletPath is where node images have the kubelet.
const kubeletPath = "/usr/bin/kubelet"

// replaceKubelet puts the kubelet of a node image into a node.
func (n *node) replaceKubelet(ctx context.Context, image string) (err error) {
	from, err := docker.Run(ctx, "create", "--label", docker.RunLabel, "--network", "none", image)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "skewrig-kubelet-")
	defer func() {
		_, removed := docker.Run(context.WithoutCancel(ctx), "rm", "--force", "--volumes", from)
		err = errors.Join(err, removed, os.RemoveAll(temp))
	}()
	if err != nil {
		return err
	}
	file := filepath.Join(temp, "kubelet")
	if _, err := docker.Run(ctx, "cp", from+":"+kubeletPath, file); err != nil {
		return err
	}
	_, err = docker.Run(ctx, "cp", file, n.container+":"+kubeletPath)
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
		if last = err; err != nil || !isReady(*is) {
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
	text, err := docker.Run(ctx, "exec", k.nodes[node].container, "journalctl", "--no-pager", "--output=cat", "--unit=kubelet.service")
	return []byte(text), err
}
