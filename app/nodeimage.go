package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/nodeimage"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/provider/images"
)

// kindModule is the module of kind.
const kindModule = "sigs.k8s.io/kind"

// NodeImage makes the node image of a release for kind, and returns its name. What is missing on
// this machine is an error before anything is done. tell is called with what is done next.
func NodeImage(ctx context.Context, builder *build.Builder, v release.Version, tell func(string)) (name string, err error) {
	if err := nodeimage.Check(ctx); err != nil {
		return "", err
	}
	if _, err := Build(ctx, builder, append(nodeimage.Targets(v), build.ContainerTarget()), nil); err != nil {
		return "", err
	}
	cache := builder.Dir
	if cache == "" {
		if cache, err = build.DefaultDir(); err != nil {
			return "", err
		}
	}
	kind, err := builder.Module(ctx, kindModule)
	if err != nil {
		return "", Failed(err)
	}
	temp, err := os.MkdirTemp("", "skewrig-sandbox-")
	if err != nil {
		return "", Failed(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	sandbox := filepath.Join(temp, "sandbox.tar")
	if err := images.WriteSandboxImage(ctx, builder.Binary, sandbox); err != nil {
		return "", Failed(err)
	}
	name, err = nodeimage.Make(ctx, nodeimage.Config{
		Release: v, Binary: builder.Binary, Kind: kind, CacheDir: cache, Images: []string{sandbox}, Progress: tell,
	})
	return name, Failed(err)
}
