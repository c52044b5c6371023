package app

import (
	"context"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
)

// PlayerImage writes a file with the image that plays those of cells on an existing cluster
// (ExistingCluster.Player), under a name such as registry.example/skewrig-player:1.
func PlayerImage(ctx context.Context, builder *build.Builder, cells []plan.Cell, tag, to string) error {
	return Failed(images.WritePlayerImage(ctx, cells, builder.Binary, tag, to))
}
