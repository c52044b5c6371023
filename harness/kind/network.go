package kind

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/watched"
)

const (
	// readyLimit is how long nodes may take to be ready once they have joined, and readyPoll how
	// often to look.
	readyLimit, readyPoll = 3 * time.Minute, 200 * time.Millisecond
)

// settle waits until all nodes are ready, and the cell's are no longer tainted for that they were not. Those that have no network for pods are given one.
func (k *Cluster) settle(ctx context.Context) error {
	if k.config.Bare {
		if err := k.network(ctx); err != nil {
			return err
		}
	}
	err := k.await(ctx, "the nodes are ready", func(nodes []corev1.Node) bool {
		for _, n := range nodes {
			if !watched.IsReady(&n) || k.nodes[n.Name] != nil && len(n.Spec.Taints) > 0 {
				return false
			}
		}
		return len(nodes) == len(k.nodes)+1
	})
	if err != nil {
		return err
	}
	return k.awaitPods(ctx)
}

// awaitPods waits until the pods of the cluster itself are ready: until then, their kubelets write how they are, which who
// counts requests sees.
func (k *Cluster) awaitPods(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyPoll, readyLimit, true, func(ctx context.Context) (bool, error) {
		var pods *corev1.PodList
		if pods, last = k.client.CoreV1().Pods(systemNamespace).List(ctx, metav1.ListOptions{}); last != nil {
			return false, nil //nolint:nilerr // it is tried again
		}
		for _, pod := range pods.Items {
			if !podIsReady(pod) {
				last = fmt.Errorf("%s is not", pod.Name)
				return false, nil
			}
		}
		return len(pods.Items) > len(components), nil // and etcd
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting until the pods of the cluster are ready: not within %s: %w", readyLimit, errors.Join(last, err))
	}
	return err
}

func podIsReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// await waits for what nodes say.
func (k *Cluster) await(ctx context.Context, what string, is func([]corev1.Node) bool) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyPoll, readyLimit, true, func(ctx context.Context) (bool, error) {
		var nodes *corev1.NodeList
		if nodes, last = k.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); last != nil {
			return false, nil //nolint:nilerr // it is tried again
		}
		return is(nodes.Items), nil
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting until %s: not within %s: %w", what, readyLimit, errors.Join(last, err))
	}
	return err
}

// networkFile is where containerd reads what CNI plugins are to do, and writeNetwork writes it.
const networkFile = "/etc/cni/net.d/10-skewrig.conflist"

//go:embed network.sh
var writeNetwork string

// network gives pods a network: on each node the addresses that the controller manager has given the
// node, and a route to the addresses of each other one.
func (k *Cluster) network(ctx context.Context) error {
	var all []corev1.Node
	err := k.await(ctx, "the nodes have addresses for pods", func(nodes []corev1.Node) bool {
		for _, n := range nodes {
			if n.Spec.PodCIDR == "" || addressOf(n) == "" {
				return false
			}
		}
		all = nodes
		return len(nodes) == len(k.nodes)+1
	})
	if err != nil {
		return err
	}
	for _, n := range all {
		pods, err := netip.ParsePrefix(n.Spec.PodCIDR)
		if err != nil {
			return err
		}
		config, err := containerd.NetworkConfig(pods)
		if err != nil {
			return err
		}
		for _, other := range all {
			if other.Name != n.Name {
				if _, err := docker.Run(ctx, "exec", k.container(n.Name), "ip", "route", "replace", other.Spec.PodCIDR, "via", addressOf(other)); err != nil {
					return err
				}
			}
		}
		if _, err := docker.Pipe(ctx, bytes.NewReader(config), "exec", "--interactive", k.container(n.Name), "sh", "-c", writeNetwork, "sh", networkFile); err != nil {
			return err
		}
	}
	return nil
}

// container is the name of the container of a node: kind gives it to the node of the control plane, too.
func (k *Cluster) container(node string) string {
	if n := k.nodes[node]; n != nil {
		return n.container
	}
	return node
}

// addressOf is the address of a node.
func addressOf(n corev1.Node) string {
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}
