package rig

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider/images"
)

// WithContainers returns the configuration of a rig in which the nodes that want it have real containers.
func WithContainers(ctx context.Context, config cluster.Config, c *images.Containers) cluster.Config {
	simulated := config.Runtime
	config.Runtime = func(info cluster.NodeInfo) (cluster.Runtime, error) {
		if info.Runtime == "" {
			return simulated(info)
		}
		return startNode(ctx, c, info, config.Recorder)
	}
	return config
}

// startNode starts the container runtime of a node, and collects what its containers record.
func startNode(ctx context.Context, c *images.Containers, info cluster.NodeInfo, recorder record.Recorder) (_ cluster.Runtime, err error) {
	found := containerd.LookUp(filepath.Dir(info.Dir))
	if err := found.Check(); err != nil {
		return nil, err
	}
	if recorder == nil {
		recorder = (*record.History)(nil) // which discards what it takes
	}
	n := new(recordedNode)
	dir := filepath.Join(info.Dir, "record")
	n.collector, err = collect.Listen(collect.Config{Dir: dir, Recorder: recorder, Path: func(_ context.Context, id string) (string, error) {
		path, known := n.Path(id)
		if !known {
			return "", errors.New("no kubelet made it")
		}
		return path, nil
	}})
	if err != nil {
		return nil, err
	}
	n.Node, err = containerd.Start(ctx, containerd.Config{
		Name: info.Name, Dir: info.Dir, Socket: info.Socket, Cgroup: info.Cgroup, Pods: info.Pods, BootID: info.BootID, Log: info.Log, Output: info.Output,
		Recorder: recorder, Found: found, Sandbox: images.Sandbox, Mounts: []containerd.Mount{{Host: dir, Container: container.RecordDir}},
		Image: func(ctx context.Context, reference string) (string, error) {
			return c.Archive(ctx, info.Dir, reference)
		},
		Up: func(ctx context.Context, id, reference string) {
			c.AwaitUp(ctx, n.collector, id, reference)
		},
	})
	if err != nil {
		return nil, errors.Join(err, n.collector.Close())
	}
	return n, nil
}

// recordedNode is a node with what collects the record of its containers.
type recordedNode struct {
	*containerd.Node
	collector *collect.Collector
}

// Close ends the node, and then what collects from its containers.
func (n *recordedNode) Close() error { return errors.Join(n.Node.Close(), n.collector.Close()) }
