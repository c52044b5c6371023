package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/nodeimage"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	onkind "github.com/skewrig/skewrig/scenarios/provider/kind"
)

// ProviderKind is the provider of cells that run on kind clusters.
const ProviderKind = "kind"

// KindClusters says how kind clusters are made for cells.
type KindClusters struct {
	// NodeImages are RELEASE=IMAGE. A release that is not among them has the image that
	// skewrig build node-image made, or else kindest/node of that release.
	NodeImages []string
	// Releases are those that words stand for. If unset, the default ones.
	Releases release.Releases
}

// Open begins to make kind clusters, which close ends. What is missing on this machine is an error
// before anything starts. Of kindest/node, an image that is not there is pulled.
func (c KindClusters) Open(ctx context.Context, builder *build.Builder, cells []plan.Cell, command string, tell func(string)) (_ *onkind.Provider, closeIt func() error, err error) {
	named, err := parseNodeImages(c.Releases, c.NodeImages)
	if err != nil {
		return nil, nil, err
	}
	if _, err := engine.Compile(cells); err != nil { // it says what the cells observe, too
		return nil, nil, err
	}
	if err := kind.Check(ctx); err != nil {
		return nil, nil, err
	}
	k := &onkind.Provider{Binary: builder.Binary, Images: make(map[release.Version]string)}
	for _, v := range nodeReleases(cells) {
		image, err := nodeImageOf(ctx, v, named[v], tell)
		if err != nil {
			return nil, nil, err
		}
		k.Images[v] = image
		k.Bare = k.Bare || image == nodeimage.Name(v)
	}
	if len(k.Images) > 0 {
		if _, err := builder.ContainerProgram(ctx); err != nil {
			return nil, nil, Failed(err)
		}
	}
	if k.Run, err = kind.Open(ctx, command); err != nil {
		return nil, nil, Failed(err)
	}
	return k, k.Run.Close, nil
}

// nodeReleases are the releases of which cells need node images, of those cells that can run on kind clusters.
func nodeReleases(cells []plan.Cell) (all []release.Version) {
	for _, cell := range cells {
		if len(fit.Made.Itself(cell)) > 0 {
			continue
		}
		for _, v := range onkind.NodeReleases(cell) {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// CheckUsed is an error if one of NodeImages can't be read, or serves none of the cells: who names an image must not get a
// report about another.
func (c KindClusters) CheckUsed(cells []plan.Cell) error {
	if len(c.NodeImages) == 0 {
		return nil // without looking at what the cells do, which takes a moment
	}
	named, err := parseNodeImages(c.Releases, c.NodeImages)
	problems := []error{err}
	needed := nodeReleases(cells)
	for _, v := range slices.SortedFunc(maps.Keys(named), release.Version.Compare) {
		if !slices.Contains(needed, v) {
			problems = append(problems, fmt.Errorf("--node-image %s=%s is of a release that no selected cell needs; the cells need %v", v, named[v], needed))
		}
	}
	return errors.Join(problems...)
}

// parseNodeImages reads RELEASE=IMAGE.
func parseNodeImages(releases release.Releases, texts []string) (map[release.Version]string, error) {
	named := make(map[release.Version]string)
	var problems []error
	for _, text := range texts {
		word, image, both := strings.Cut(text, "=")
		v, err := releases.Resolve(word)
		switch {
		case !both || image == "":
			err = errors.New("write RELEASE=IMAGE, for example " + string(release.Newest) + "=kindest/node:" + string(release.Newest))
		case err == nil && named[v] != "":
			err = fmt.Errorf("%s has the image %s already", v, named[v])
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("--node-image %s: %w", text, err))
			continue
		}
		named[v] = image
	}
	return named, errors.Join(problems...)
}

// nodeImageOf is the node image of a release, which Docker has then. It is empty if there is none.
// One that was named has to be there, or somewhere where it can be pulled.
func nodeImageOf(ctx context.Context, v release.Version, named string, tell func(string)) (string, error) {
	own, released := nodeimage.Name(v), "kindest/node:"+string(v)
	wanted := released
	switch {
	case named != "":
		wanted = named
	case docker.HasImage(ctx, own):
		return own, nil
	}
	if docker.HasImage(ctx, wanted) {
		return wanted, nil
	}
	tell("pulling the node image " + wanted)
	if _, err := docker.Run(ctx, "pull", "--quiet", wanted); err != nil {
		if named != "" {
			return "", Failed(fmt.Errorf("--node-image %s=%s: %w", v, named, err))
		}
		tell(err.Error())
		return "", ctx.Err()
	}
	return wanted, nil
}
