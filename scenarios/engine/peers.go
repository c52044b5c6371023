package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// CheckPeers reports ready-made API servers that are to send requests to others: all of them would
// be on one host, and so be one server.
func CheckPeers(ctx context.Context, cells []plan.Cell, binary provider.Binary) error {
	asking := slices.DeleteFunc(slices.Clone(cells), func(c plan.Cell) bool { return !c.Topology.PeerProxy })
	var refused []error
	for _, t := range plan.Targets(asking) {
		if t.Component != string(build.APIServer) {
			continue
		}
		program, err := binary(ctx, provider.Target(t))
		if err != nil {
			return err
		}
		if program.Source == build.ReadyMade {
			refused = append(refused, fmt.Errorf("%s: peerProxy takes a %s that skewrig compiles, since a ready-made one has no host name of its own: leave out %s (--binary, or KUBEBUILDER_ASSETS)",
				t.Place, t.Component, program.Path))
		}
	}
	return errors.Join(refused...)
}
