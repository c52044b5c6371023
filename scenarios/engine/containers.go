package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/fakeservers/container/images"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Containers are what the pods of a rig's nodes with real containers run.
type Containers struct {
	library  container.Library
	commands []string // what they run instead of what their images say, each by its first word
	binary   func(context.Context, build.Target) (build.Binary, error)

	given map[string]string // archives of the user's own images, by reference

	mu       sync.Mutex
	archives map[string]string // by the reference of the image; those that are given from the first
}

// NewContainers returns what the pods of a cell run. Binary finds the executables that images have.
func NewContainers(played Played, cell plan.Cell, binary func(context.Context, build.Target) (build.Binary, error)) *Containers {
	return &Containers{
		library: container.Library{Images: played.Images, Default: played.Default}, commands: cell.Commands(), binary: binary,
		given: played.Archives, archives: maps.Clone(played.Archives),
	}
}

// sandboxImage is the image of the sandboxes of pods.
const sandboxImage = "registry.k8s.io/pause:3.10"

// WriteSandboxImage writes an archive with it.
func WriteSandboxImage(ctx context.Context, binary func(context.Context, build.Target) (build.Binary, error), to string) error {
	program, err := binary(ctx, build.ContainerTarget())
	if err != nil {
		return err
	}
	return images.Set{Program: program.Path, Images: []images.Image{{Reference: sandboxImage}}}.Write(to)
}

// WithContainers has the nodes of a rig that want it have real containers.
func WithContainers(ctx context.Context, config cluster.Config, c *Containers) cluster.Config {
	simulated := config.Runtime
	config.Runtime = func(info cluster.NodeInfo) (cluster.Runtime, error) {
		if info.Runtime == "" {
			return simulated(info)
		}
		return c.start(ctx, info, config.Recorder)
	}
	return config
}

// start starts the container runtime of a node, and collects what its containers record.
func (c *Containers) start(ctx context.Context, info cluster.NodeInfo, recorder record.Recorder) (_ cluster.Runtime, err error) {
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
		Recorder: recorder, Found: found, Sandbox: sandboxImage, Mounts: []containerd.Mount{{Host: dir, Container: container.RecordDir}},
		Image: func(ctx context.Context, reference string) (string, error) {
			return c.archive(ctx, info.Dir, reference)
		},
		Up: func(ctx context.Context, id, reference string) {
			c.awaitUp(ctx, n.collector, id, reference)
		},
	})
	if err != nil {
		return nil, errors.Join(err, n.collector.Close())
	}
	return n, nil
}

// awaitUp returns when the program of a container has come up, if it is one that says so.
func (c *Containers) awaitUp(ctx context.Context, of *collect.Collector, id, reference string) {
	if c.tells(reference) {
		_ = of.Up(ctx, id) // it has ended, or does not come up: that is for probes to see
	}
}

// tells reports whether the program of an image says that it has come up: those of others don't, nor those that
// record nothing.
func (c *Containers) tells(reference string) bool {
	c.mu.Lock()
	made := c.archives[reference] != "" && c.given[reference] == ""
	c.mu.Unlock()
	if !made {
		return false
	}
	played, err := container.File{Reference: reference, Library: c.library}.Find()
	return err == nil && container.Records(played)
}

// recordedNode is a node with what collects the record of its containers.
type recordedNode struct {
	*containerd.Node
	collector *collect.Collector
}

// Close ends the node, and then what collects from its containers.
func (n *recordedNode) Close() error { return errors.Join(n.Node.Close(), n.collector.Close()) }

// archive returns the path of an archive with an image, which is made in a directory if it was not
// made before.
func (c *Containers) archive(ctx context.Context, dir, reference string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if made := c.archives[reference]; made != "" {
		return made, nil
	}
	set, err := imageSet(ctx, c.library, c.binary)
	if err != nil {
		return "", err
	}
	set.Images = []images.Image{{Reference: reference, Commands: c.commands}}
	path := filepath.Join(dir, fmt.Sprintf("image-%d.tar", len(c.archives)))
	if err := set.Write(path); err != nil {
		return "", err
	}
	if c.archives == nil {
		c.archives = make(map[string]string)
	}
	c.archives[reference] = path
	return path, nil
}

// imageSet is what images are made of, without the images.
func imageSet(ctx context.Context, library container.Library, binary func(context.Context, build.Target) (build.Binary, error)) (images.Set, error) {
	set := images.Set{Library: library, HealthProbes: make(map[release.Version]string)}
	program, err := binary(ctx, build.ContainerTarget())
	if err != nil {
		return set, err
	}
	set.Program = program.Path
	for _, v := range library.HealthProbes() {
		probe, err := binary(ctx, build.Target{Component: build.HealthProbe, Version: v})
		if err != nil {
			return set, err
		}
		set.HealthProbes[v] = probe.Path
	}
	return set, nil
}

// WritePlayerImage writes a file with the image that plays those of cells on an existing cluster, under a
// name, for docker load and tools that push to a registry.
func WritePlayerImage(ctx context.Context, cells []plan.Cell, binary func(context.Context, build.Target) (build.Binary, error), tag, to string) error {
	named, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	var library container.Library
	for _, cell := range cells {
		library.Images = append(library.Images, cell.Images...)
	}
	set, err := imageSet(ctx, library, binary)
	if err != nil {
		return err
	}
	image, err := set.Player()
	if err != nil {
		return err
	}
	return tarball.WriteToFile(to, named, image)
}
