package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/cluster"
)

// ExistingCluster says on which existing cluster cells run.
type ExistingCluster struct {
	existing.Config
	// Nodes selects the nodes that may be used, by their labels. If unset, all may.
	Nodes string
	// Images are patterns of images that the nodes can pull, of those that scenarios have fake
	// servers for.
	Images []string
	// Player is an image that plays those of scenarios, as the nodes can pull it. If unset, they pull
	// those of the scenarios.
	Player string
}

// Open connects to the cluster, and reads what is to be known of it for the cells. It writes
// nothing. What is not permitted that they need is an error, all of it.
func (c ExistingCluster) Open(ctx context.Context, cells []plan.Cell) (*cluster.Provider, error) {
	if err := fit.CheckImages(c.Images); err != nil {
		return nil, fmt.Errorf("cluster.images: %w", err)
	}
	if err := c.checkPlayer(); err != nil {
		return nil, fmt.Errorf("cluster.mockImage: %w", err)
	}
	if _, err := engine.Compile(cells); err != nil { // it says what the cells observe, too
		return nil, err
	}
	api, err := existing.Connect(ctx, c.Config)
	if err != nil {
		return nil, err
	}
	on := &cluster.Provider{Cluster: api, Images: c.Images, Player: c.Player}
	some := possible(on.Use(), cells)
	if err := permitted(ctx, on, some); err != nil {
		return nil, err
	}
	wanted := existing.Wanted{Nodes: c.Nodes}
	for _, cell := range some {
		wanted.ServerGates = wanted.ServerGates || len(cell.Topology.Gates) > 0
		for _, n := range cell.Topology.Nodes {
			wanted.NodeGates = wanted.NodeGates || len(n.Gates) > 0
		}
	}
	on.Facts, err = api.Read(ctx, wanted)
	return on, err
}

// checkPlayer is an error if the image can't play those of scenarios.
func (c ExistingCluster) checkPlayer() error {
	if c.Player == "" {
		return nil
	}
	if len(c.Images) > 0 {
		return errors.New("it mocks all images, and cluster.images names some that the nodes pull: what these do is not recorded")
	}
	return fit.CheckPlayer(c.Player)
}

// possible are the cells that can run on some existing cluster that may be used so.
func possible(use fit.Use, cells []plan.Cell) (some []plan.Cell) {
	for _, cell := range cells {
		if len(use.Itself(cell)) == 0 {
			some = append(some, cell)
		}
	}
	return some
}

// permitted is an error if something is not permitted that cells need.
func permitted(ctx context.Context, on *cluster.Provider, cells []plan.Cell) error {
	needed, api := existing.Base(), on.Cluster
	accesses := on.Use().Accesses(cells)
	var names []string
	for _, a := range accesses {
		resource, _, _ := strings.Cut(a.Resource, "/")
		names = append(names, resource)
	}
	groups, err := api.Groups(names)
	if err != nil {
		return err
	}
	for _, a := range accesses {
		resource, _, _ := strings.Cut(a.Resource, "/")
		if group, served := groups[resource]; served {
			needed = append(needed, existing.Permission{Verb: a.Verb, Group: group, Resource: a.Resource})
		}
	}
	missing, err := api.Missing(ctx, needed)
	if err != nil || len(missing) == 0 {
		return err
	}
	return errors.New("the user of the kubeconfig may not do all that the cells need (skewrig docs clusters has a role that may). What is missing:" + listed(missing))
}

// listed are permissions, a line for each resource.
func listed(permissions []existing.Permission) string {
	var lines []string
	verbs := make(map[string][]string) // by resource
	for _, p := range permissions {
		of := p.Of()
		if verbs[of] == nil {
			lines = append(lines, of)
		}
		verbs[of] = append(verbs[of], p.Verb)
	}
	var text strings.Builder
	for _, of := range lines {
		text.WriteString("\n  " + of + ": " + strings.Join(verbs[of], ", "))
	}
	return text.String()
}

// ProviderCluster is the provider of cells that run on an existing cluster.
const ProviderCluster = "cluster"
