package images

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/fakeservers/container/images"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// Containers are what pods on nodes with real containers run.
type Containers struct {
	library  container.Library
	commands []string // what they run instead of what their images say, each by its first word
	binary   provider.Binary

	given map[string]string // archives of the user's own images, by reference

	mu       sync.Mutex
	archives map[string]string // by the reference of the image; those that are given from the first
}

// NewContainers returns what the pods of cells run. Binary finds the executables that images have.
func NewContainers(played Played, binary provider.Binary, cells ...plan.Cell) *Containers {
	c := &Containers{
		library: container.Library{Images: played.Images, Default: played.Default}, binary: binary,
		given: played.Archives, archives: maps.Clone(played.Archives),
	}
	for _, cell := range cells {
		c.commands = append(c.commands, cell.Commands()...)
	}
	slices.Sort(c.commands)
	c.commands = slices.Compact(c.commands)
	return c
}

// Sandbox is the image of the sandboxes of pods.
const Sandbox = "registry.k8s.io/pause:3.10"

// WriteSandboxImage writes an archive with it.
func WriteSandboxImage(ctx context.Context, binary provider.Binary, to string) error {
	program, err := binary(ctx, build.ContainerTarget())
	if err != nil {
		return err
	}
	return images.Set{Program: program.Path, Images: []images.Image{{Reference: Sandbox}}}.Write(to)
}

// AwaitUp returns when the program of a container has come up, if it is one that says so.
func (c *Containers) AwaitUp(ctx context.Context, of *collect.Collector, id, reference string) {
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

// Archive returns the path of an archive with an image, which is made in a directory if it was not
// made before.
func (c *Containers) Archive(ctx context.Context, dir, reference string) (string, error) {
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
func imageSet(ctx context.Context, library container.Library, binary provider.Binary) (images.Set, error) {
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
func WritePlayerImage(ctx context.Context, cells []plan.Cell, binary provider.Binary, tag, to string) error {
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
