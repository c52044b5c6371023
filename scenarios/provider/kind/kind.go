// Package kind runs cells on kind clusters, which it creates and deletes.
package kind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/cluster"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// Provider creates kind clusters for cells. Those that want the same of a cluster share it, unless they have to be alone.
type Provider struct {
	Run *kind.Run
	// Binary finds the executables of images.
	Binary provider.Binary
	// Images are the node images, by their releases. Where it is empty, there is none.
	Images map[release.Version]string
	// Bare says that nodes have no network of their own (harness/kind, Config).
	Bare bool

	making sync.Mutex // one at a time: each keeps all cores busy

	mu       sync.Mutex
	last     int                       // the number of the cluster that came last
	clusters map[string][]*kindCluster // by the first id of their cells
}

var _ provider.Pool = (*Provider)(nil)

// Unfit implements provider.Provider.
func (p *Provider) Unfit(cell plan.Cell) string {
	reasons := fit.Made.Itself(cell)
	for _, v := range NodeReleases(cell) {
		if image, looked := p.Images[v]; looked && image == "" {
			reasons = append(reasons, fmt.Sprintf("there is no node image of %s: make one with skewrig build node-image %s, or name one with --node-image", v, v))
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return "it can't run on a kind cluster: " + strings.Join(reasons, "; ")
}

// NodeReleases returns the releases of which a cell needs node images, its control plane's first.
func NodeReleases(cell plan.Cell) (all []release.Version) {
	add := func(v release.Version) {
		if v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	for _, c := range cell.Topology.ControlPlane() {
		add(c.Version)
	}
	for _, n := range cell.Topology.Nodes {
		add(n.Version)
	}
	for _, step := range cell.Steps {
		for _, to := range step.Action.Facts().Restarts {
			add(to.Version)
		}
	}
	return all
}

// wants returns what a cell wants of a cluster: cells that want the same can share one.
func wants(cell plan.Cell) string {
	t, own := cell.Topology, ""
	if fit.Alone(cell) {
		own = cell.ID
	}
	text, err := json.Marshal([]any{t.ControlPlane(), t.Nodes, cell.Images, own})
	if err != nil {
		return cell.ID
	}
	return string(text)
}

// Groups implements provider.Pool.
func (p *Provider) Groups(cells []plan.Cell) (all []schedule.Group) {
	at := make(map[string]int)
	for i, cell := range cells {
		key := wants(cell)
		if _, known := at[key]; !known {
			at[key] = len(all)
			all = append(all, schedule.Group{})
		}
		all[at[key]].Beside = append(all[at[key]].Beside, i)
	}
	return all
}

// Start implements provider.Provider. A cell runs on what Create returns.
func (p *Provider) Start(context.Context, provider.Tenant) (provider.Session, error) {
	return nil, errors.New("no cluster was created for it")
}

// Create implements provider.Pool: it creates a cluster, and reads what it is.
func (p *Provider) Create(ctx context.Context, cells []plan.Cell) (on provider.Provider, remove func() error) {
	p.making.Lock()
	defer p.making.Unlock()
	c := &kindCluster{provider: p, router: newRouter(), sessions: make(map[*session]bool)}
	if err := c.create(ctx, cells); err != nil {
		c.failed = err
		return c, c.close
	}
	first := slices.MinFunc(cells, func(a, b plan.Cell) int { return strings.Compare(a.ID, b.ID) }).ID
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clusters == nil {
		p.clusters = make(map[string][]*kindCluster)
	}
	p.clusters[first] = append(p.clusters[first], c)
	return c, c.close
}

// kindLimit is how long a cluster may take to be ready.
const kindLimit = 10 * time.Minute

func (c *kindCluster) create(ctx context.Context, cells []plan.Cell) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	config, err := c.config(images.NewContainers(images.Played{Images: cells[0].Images}, c.provider.Binary, cells...), cells[0].Topology)
	if err != nil {
		return err
	}
	if c.kind, err = c.provider.Run.New(config); err != nil {
		return err
	}
	if err := c.collect(config.Nodes); err != nil {
		return err
	}
	machine := provider.WatchMachine(nil)
	defer machine.Stop()
	limited, cancel := machine.WithTimeout(ctx, kindLimit, fmt.Errorf("not up within %s", kindLimit))
	defer cancel()
	if err := c.kind.Create(limited); err != nil {
		return err
	}
	if c.api, err = existing.Connect(ctx, existing.Config{Kubeconfig: c.kind.Kubeconfig()}); err != nil {
		return err
	}
	control := cells[0].Topology.ControlPlane()
	if err := errors.Join(c.restartDiffering(ctx, control), c.load(ctx, cells[0].Steps)); err != nil {
		return err
	}
	c.facts, err = c.read(ctx, control...)
	return err
}

// config returns the configuration of a cluster with a topology, whose containers are played.
func (c *kindCluster) config(played *images.Containers, t record.Topology) (kind.Config, error) {
	p := c.provider
	dir, err := p.Run.TempDir()
	if err != nil {
		return kind.Config{}, err
	}
	p.mu.Lock()
	p.last++
	server := t.ControlPlane()[0]
	config := kind.Config{
		Number: p.last, ControlPlane: kind.Node{Image: p.Images[server.Version], Gates: server.Gates}, Bare: p.Bare,
		Mounted: container.RecordDir, Recorder: c.router, Ended: c.ended,
	}
	p.mu.Unlock()
	config.Image = func(ctx context.Context, reference string) (string, error) {
		return played.Archive(ctx, dir, reference)
	}
	config.Up = func(ctx context.Context, node, id, reference string) {
		played.AwaitUp(ctx, c.collectors[node], id, reference)
	}
	c.kubelets = make(map[string]release.Version)
	for _, n := range t.Nodes {
		c.kubelets[n.Name] = n.Version
		config.Nodes = append(config.Nodes, kind.Node{Name: n.Name, Image: p.Images[n.Version], Gates: n.Gates, Config: n.Config, Newer: n.Version.Compare(server.Version) > 0})
	}
	return config, nil
}

// Components implements provider.Provider: what ran on the clusters.
func (p *Provider) Components() (all []reports.Component) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(p.clusters)) {
		for _, c := range p.clusters[id] {
			for _, component := range c.Components() {
				if !slices.Contains(all, component) {
					all = append(all, component)
				}
			}
		}
	}
	return all
}

// newRouter returns the recorder of a cluster that cells share. An event is about the cell in whose namespace it happened. A
// loss that is about none may be any cell's.
func newRouter() *provider.Router {
	return &provider.Router{
		Owner: func(subject string, _ record.Payload) string {
			namespace, _, _ := strings.Cut(subject, "/")
			return cluster.SuffixOf(namespace)
		},
		Drops: func(payload record.Payload) bool {
			_, isLoss := payload.(record.ObservationLost)
			return !isLoss
		},
	}
}
