package engine

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

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// Kind makes kind clusters for cells: those that want the same of one share it, unless they have to be alone.
type Kind struct {
	Run *kind.Run
	// Images are the node images, by their releases. Where it is empty, there is none.
	Images map[release.Version]string
	// Bare says that nodes have no network of their own (harness/kind, Config).
	Bare bool

	making sync.Mutex // one at a time: each keeps all cores busy

	mu   sync.Mutex
	last int                    // the number of the cluster that came last
	made map[string]*madeByKind // by the id of the cell
}

// madeByKind is a cluster, or why there is none.
type madeByKind struct {
	*Existing
	err error
}

// Unfit is why a cell can run on no kind cluster; empty if it can, and if k is nil.
func (k *Kind) Unfit(cell plan.Cell) string {
	if k == nil {
		return ""
	}
	reasons := fit.Made.Itself(cell)
	for _, v := range NodeReleases(cell) {
		if image, looked := k.Images[v]; looked && image == "" {
			reasons = append(reasons, fmt.Sprintf("there is no node image of %s: make one with skewrig build node-image %s, or name one with --node-image", v, v))
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return "it can't run on a kind cluster: " + strings.Join(reasons, "; ")
}

// NodeReleases are the releases of which a cell needs node images, its control plane's first.
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

// wants is what a cell wants of a cluster: cells that want the same can share one.
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

// groups are the cells that share clusters, in the order in which they come.
func (k *Kind) groups(cells []plan.Cell) (all []schedule.Group) {
	at := make(map[string]int)
	for i, cell := range cells {
		key := wants(cell)
		if _, there := at[key]; !there {
			at[key] = len(all)
			all = append(all, schedule.Group{})
		}
		all[at[key]].Alone = append(all[at[key]].Alone, i)
	}
	return all
}

// of is the cluster that was made for a cell.
func (k *Kind) of(cell plan.Cell) (*Existing, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	made := k.made[cell.ID]
	if made == nil {
		return nil, errors.New("no cluster was made for it")
	}
	return made.Existing, made.err
}

// besideOnKind is how many cells run at the same time on a cluster.
const besideOnKind = 3

// onKind runs the cells of a group on a cluster that is made for them, and gone afterwards.
func (b *batch) onKind(ctx context.Context, g schedule.Group) {
	var cells []plan.Cell
	for _, i := range g.All() {
		cells = append(cells, b.cells[i])
	}
	made, closeIt, err := b.Kind.make(ctx, b.Engine, cells)
	b.Kind.mu.Lock()
	if b.Kind.made == nil {
		b.Kind.made = make(map[string]*madeByKind)
	}
	for _, cell := range cells {
		b.Kind.made[cell.ID] = &madeByKind{made, err}
	}
	b.Kind.mu.Unlock()
	var running errgroup.Group
	running.SetLimit(besideOnKind)
	for _, i := range g.All() {
		running.Go(func() error {
			b.take(ctx, i, nil)
			return nil
		})
	}
	_ = running.Wait() // it has no error
	b.settle(g.All(), closeIt())
}

// settle lays on the result of the last cell that the cluster could not be ended. Then all results are final.
func (b *batch) settle(all []int, err error) {
	for at, i := range all {
		if at == len(all)-1 {
			b.results[i] = unless(err, b.results[i])
		}
		b.tell(Progress{Cell: b.cells[i], Result: &b.results[i]})
	}
}

// make makes a cluster for cells that want the same, and reads what it is. The function ends it.
func (k *Kind) make(ctx context.Context, e *Engine, cells []plan.Cell) (_ *Existing, closeIt func() error, err error) {
	k.making.Lock()
	defer k.making.Unlock()
	closeIt = func() error { return nil }
	if ctx.Err() != nil {
		return nil, closeIt, context.Cause(ctx)
	}
	m := &madeCluster{kind: k, hub: new(byNamespace)}
	config, err := k.config(m, containersOf(cells, e.Binary), cells[0].Topology)
	if err != nil {
		return nil, closeIt, err
	}
	if m.cluster, err = k.Run.New(config); err != nil {
		return nil, closeIt, err
	}
	closeIt = m.close
	if err := m.collect(config.Nodes); err != nil {
		return nil, closeIt, err
	}
	machine := watchMachine()
	defer machine.stop()
	limited, cancel := machine.withTimeout(ctx, kindLimit, fmt.Errorf("not up within %s", kindLimit))
	defer cancel()
	if err := m.cluster.Create(limited); err != nil {
		return nil, closeIt, err
	}
	if m.api, err = existing.Connect(ctx, existing.Config{Kubeconfig: m.cluster.Kubeconfig()}); err != nil {
		return nil, closeIt, err
	}
	if err := errors.Join(m.differing(ctx), m.load(ctx, cells[0].Steps)); err != nil {
		return nil, closeIt, err
	}
	read, err := m.read(ctx, m.control...)
	return &Existing{Cluster: m.api, Facts: read, made: m}, closeIt, err
}

// config is that of a cluster with a topology, whose containers are played.
func (k *Kind) config(m *madeCluster, played *Containers, t record.Topology) (kind.Config, error) {
	images, err := k.Run.TempDir()
	if err != nil {
		return kind.Config{}, err
	}
	k.mu.Lock()
	k.last++
	server := t.ControlPlane()[0]
	config := kind.Config{
		Number: k.last, ControlPlane: kind.Node{Image: k.Images[server.Version], Gates: server.Gates}, Bare: k.Bare,
		Mounted: container.RecordDir, Recorder: m.hub, Ended: m.hub.ended,
	}
	k.mu.Unlock()
	m.control, m.made = t.ControlPlane(), server
	config.Image = func(ctx context.Context, reference string) (string, error) {
		return played.archive(ctx, images, reference)
	}
	config.Up = func(ctx context.Context, node, id, reference string) {
		played.awaitUp(ctx, m.collectors[node], id, reference)
	}
	m.nodes = make(map[string]record.Node)
	for _, n := range t.Nodes {
		m.nodes[n.Name] = n
		config.Nodes = append(config.Nodes, kind.Node{Name: n.Name, Image: k.Images[n.Version], Gates: n.Gates, Config: n.Config, Newer: n.Version.Compare(server.Version) > 0})
	}
	return config, nil
}

// kindLimit is how long a cluster may take to be there.
const kindLimit = 10 * time.Minute

// containersOf are what the pods of cells run that have the same images.
func containersOf(cells []plan.Cell, binary func(context.Context, build.Target) (build.Binary, error)) *Containers {
	c := NewContainers(Played{Images: cells[0].Images}, cells[0], binary)
	for _, cell := range cells[1:] {
		c.commands = append(c.commands, cell.Commands()...)
	}
	slices.Sort(c.commands)
	c.commands = slices.Compact(c.commands)
	return c
}

// Components are what ran on the clusters, for the report.
func (k *Kind) Components() (all []reports.Component) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(k.made)) {
		if made := k.made[id]; made.Existing != nil {
			for _, c := range made.Components() {
				if !slices.Contains(all, c) {
					all = append(all, c)
				}
			}
		}
	}
	return all
}
