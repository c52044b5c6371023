package app

import (
	"context"
	"fmt"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/gated"
)

// Gates reads what the gates of a release guard, and its types. A word such as newest stands for a
// source of the builder if one is in the place of the release; a release in full is itself. For a
// release whose gates no table has, a program is compiled that prints them, which takes a minute.
func Gates(ctx context.Context, builder *build.Builder, word string) (gated.Release, *apitypes.API, error) {
	v, err := builder.Releases().Resolve(word)
	if err != nil {
		return gated.Release{}, nil, err
	}
	if word != string(v) {
		v = builder.Releases().Sources.Of(string(build.APIServer), v)
	}
	api, err := builder.API(ctx, v)
	if err != nil {
		return gated.Release{}, nil, fmt.Errorf("reading the API of %s: %w", v, err)
	}
	table, err := tableOf(ctx, builder, v)
	if err != nil {
		return gated.Release{}, nil, err
	}
	return gated.Of(v, table, api), api, nil
}

// tableOf returns the gates of a release. Those of one without a table are known from then on: which depend on which, too.
func tableOf(ctx context.Context, builder *build.Builder, v release.Version) ([]release.Gate, error) {
	table, known, err := release.Table(release.Effective{Version: v})
	if err == nil && !known {
		if table, err = builder.Features(ctx, v); err == nil {
			release.Learn(v, table)
		}
	}
	if err != nil {
		return nil, Failed(fmt.Errorf("asking %s for its feature gates: %w", v, err))
	}
	return table, nil
}
