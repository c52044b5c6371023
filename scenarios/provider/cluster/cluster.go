// Package cluster runs cells on an existing cluster. Each cell has namespaces of its own there, which are deleted afterwards,
// and nothing else is changed.
package cluster

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// Provider is a cluster that was there before. It is not changed, but for namespaces of its own.
type Provider struct {
	Cluster *existing.Cluster
	// Facts are what was read of it.
	Facts facts.Cluster
	// Images are patterns of images that its nodes can pull, of those that scenarios have fake
	// servers for.
	Images []string
	// Player is an image that plays those of the cells (package images), as its nodes can pull it.
	// If unset, they pull images as the scenarios name them.
	Player string

	last Numbers
}

// Numbers counts the cells on a cluster, each of which has names of its own.
type Numbers struct{ atomic.Int64 }

var _ provider.Provider = (*Provider)(nil)

// Use returns how cells may use it.
func (p *Provider) Use() fit.Use { return fit.Use{Containers: p.Player != ""} }

// Unfit implements provider.Provider.
func (p *Provider) Unfit(cell plan.Cell) string { return Unfit(p.fit(cell)) }

func (p *Provider) fit(cell plan.Cell) fit.Fit { return p.Use().Of(cell, p.Facts, p.Images) }

// Unfit returns why a cell that fits a cluster so can't run there. It is empty if it can.
func Unfit(f fit.Fit) string {
	if len(f.Reasons) == 0 {
		return ""
	}
	return "it can't run on this cluster: " + f.Reason()
}

// Start implements provider.Provider.
func (p *Provider) Start(ctx context.Context, t provider.Tenant) (provider.Session, error) {
	s, err := Open(ctx, t, Terms{
		Cluster: p.Cluster, Facts: p.Facts, Fit: p.fit(t.Cell), Numbers: &p.last, Player: p.Player,
		Containers: p.Player != "" || fit.ReadsContainers(t.Cell),
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Components implements provider.Provider.
func (p *Provider) Components() []reports.Component { return Components(p.Facts) }

// Components returns what runs on a cluster, of what was read of it.
func Components(read facts.Cluster) (all []reports.Component) {
	add := func(name, version string) {
		c := reports.Component{Name: name, Version: version, Source: ofExisting}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	add(record.APIServer, read.Version)
	for _, n := range read.Nodes {
		add("kubelet", n.Version)
	}
	slices.SortFunc(all, func(a, b reports.Component) int { return strings.Compare(a.Name+" "+a.Version, b.Name+" "+b.Version) })
	return all
}

// ComponentOf returns what a record says of a component of the control plane.
func ComponentOf(c record.Component, is facts.Cluster) record.ComponentStarted {
	for _, controller := range is.Controllers {
		if controller.Name == record.Program(c.Name) {
			return running(controller.Version, controller.Gates, c.Gates)
		}
	}
	started := running(is.Version, is.Gates, c.Gates)
	if c.Emulates() {
		started.EmulatedVersion, started.MinCompatibilityVersion = release.Version(is.Emulated), c.MinCompatibilityVersion
	}
	return started
}

// KubeletOf returns what a record says of the kubelet of a node, with those of the gates that are named.
func KubeletOf(n facts.Node, named release.Gates) record.ComponentStarted {
	return running(n.Version, n.Gates, named)
}

// running is the same of any component.
func running(version string, has facts.Gates, named release.Gates) record.ComponentStarted {
	gates := make(release.Gates)
	for name := range named {
		gates[name] = has.Set[name]
	}
	return record.ComponentStarted{Version: release.Version(version), Source: ofExisting, Gates: gates}
}

// ofExisting is the source of components that skewrig did not start.
const ofExisting = "existing cluster"
