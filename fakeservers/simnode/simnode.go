// Package simnode simulates a node: it does with pods what a kubelet does, as far
// as a consumer of the kubelet's Pods API (KEP-4188) can tell. It takes the pods
// that are bound to it at the API server and those of a directory of manifests,
// runs their containers through CRI, computes their status from what the runtime
// says, and shows it first to whoever serves the Pods API and then to the API
// server, which may be away for as long as it likes.
//
// All that it knows is in the hands of one goroutine, which waits for nothing
// (see Node.run). What a pod's status is, and what is to be done next for it, are
// functions of what is known (status and next), so a node that was killed goes on
// from what the runtime has.
//
// What is left out: probes (a container that runs is ready), hooks, volumes,
// ephemeral containers, variables that refer to something else, deadlines, and
// resources, except that a pod is evicted whose container has more files than its
// limit of ephemeral storage allows.
package simnode

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Pods is what serves the Pods API. It is told of each change before anybody else
// is, and never by two goroutines at the same time.
type Pods interface {
	// Set shows pods, each in place of what was shown of its UID before.
	Set(pods ...*corev1.Pod)
	// Remove ends that pods are shown.
	Remove(uids ...types.UID)
	// SetReady says whether what is shown is all there is.
	SetReady(ready bool)
}

// Config says which node to simulate.
type Config struct {
	// Name is that of the node.
	Name string
	// Address is the node's InternalIP, and that of its host-network pods.
	Address netip.Addr
	// Client may do what a kubelet does. Its own limits are not used. If unset, the
	// node is a standalone one, which knows of no API server.
	Client *rest.Config
	// Runtime is the endpoint of the container runtime, "unix:///...".
	Runtime string
	// StaticPods is a directory of manifests, in JSON or YAML, which is read once
	// a second. What is no pod there is passed over. If unset, there are none.
	StaticPods string
	// Pods is shown the node's pods.
	Pods Pods
}

func (cfg Config) validate() error {
	var missing []error
	for what, is := range map[string]bool{
		"name": cfg.Name != "", "address": cfg.Address.IsValid(), "container runtime": cfg.Runtime != "", "Pods": cfg.Pods != nil,
	} {
		if !is {
			missing = append(missing, fmt.Errorf("no %s", what))
		}
	}
	return errors.Join(missing...)
}

// Node is a simulated node at work.
type Node struct {
	cfg     Config
	client  kubernetes.Interface // nil: standalone
	runtime *runtime
	cancel  context.CancelFunc
	work    sync.WaitGroup
	// events are what happened, for the goroutine that owns the state.
	events chan func()
	state
}

// Start has a node take up its work, and returns when it has found its container
// runtime. The API server need not be there. Pods are shown as soon as each source
// of them has said which there are and the runtime has said how they are.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	if cfg.Client == nil {
		return start(ctx, cfg, nil)
	}
	unlimited := rest.CopyConfig(cfg.Client)
	unlimited.QPS, unlimited.RateLimiter, unlimited.ContentType = -1, nil, "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(unlimited)
	if err != nil {
		return nil, err
	}
	return start(ctx, cfg, client)
}

func start(ctx context.Context, cfg Config, client kubernetes.Interface) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("simulating a node: %w", err)
	}
	containers, err := connect(ctx, cfg.Runtime)
	if err != nil {
		return nil, fmt.Errorf("simulating node %s: %w", cfg.Name, err)
	}
	n := &Node{cfg: cfg, client: client, runtime: containers, events: make(chan func()), state: newState()}
	cfg.Pods.SetReady(false)
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.cancel = cancel
	if n.client != nil {
		if err := n.watchPods(working); err != nil {
			return nil, errors.Join(err, n.Close())
		}
		n.work.Go(func() { n.attend(working) })
	}
	n.work.Go(func() { n.watchManifests(working) })
	n.work.Go(func() { n.run(working) })
	return n, nil
}

// Close ends the node as a kubelet that is killed ends: containers go on running,
// and objects stay. It returns when no goroutine of the node is left.
func (n *Node) Close() error {
	n.cancel()
	n.work.Wait()
	return n.runtime.conn.Close()
}
