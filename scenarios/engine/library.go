package engine

import (
	"context"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Library plays the images that a scenario maps, and those that skewrig knows.
// A scenario's own mapping comes first. The executables that images have are found by
// binary.
func Library(ctx context.Context, images []spec.Image, binary func(context.Context, build.Target) (build.Binary, error)) (*image.Catalog, error) {
	probes := make(map[release.Version]agnhost.HealthProbe)
	for _, i := range images {
		if i.HealthProbe == "" {
			continue
		}
		b, err := binary(ctx, build.Target{Component: build.HealthProbe, Version: i.HealthProbe})
		if err != nil {
			return nil, err
		}
		probes[i.HealthProbe] = agnhost.HealthProbe{Path: b.Path, Program: string(b.Component) + "@" + string(b.Version)}
	}
	return agnhost.NewCatalog(images, probes)
}
