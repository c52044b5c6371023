package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Existing is a cluster that others run. Each cell has namespaces of its own there, which
// are gone afterwards, and nothing else is changed.
type Existing struct {
	Cluster *existing.Cluster
	// Facts are what was read of it.
	Facts facts.Cluster
	// Images are patterns of images that its nodes can pull, of those that scenarios have fake
	// servers for.
	Images []string
	// Player is an image that plays those of the cells (package images), as its nodes can pull it.
	// If unset, they pull images as the scenarios name them.
	Player string

	made *madeCluster // nil: others made it
	last atomic.Int64 // the number of the cell that came last
}

// fit is how a cell fits the cluster.
func (e *Existing) fit(cell plan.Cell) fit.Fit {
	if e.made != nil {
		return fit.OfMade(cell.Topology, e.Facts)
	}
	return e.Use().Of(cell, e.Facts, e.Images)
}

// Use is how cells may use it.
func (e *Existing) Use() fit.Use {
	return fit.Use{Containers: e.Player != ""}
}

// unfit is why a cell can't run there; empty if it can, and if e is nil.
func (e *Existing) unfit(cell plan.Cell) string {
	if e == nil {
		return ""
	}
	return e.fit(cell).Reason()
}

// runOnExisting runs a cell on an existing cluster. Also if it is interrupted, its
// namespaces are gone when it returns, or the error says which are not.
func (e *Existing) runOnExisting(ctx context.Context, r *run) (err error) {
	cluster := e.Cluster
	on := e.fit(r.cell)
	if len(on.Reasons) > 0 {
		return errors.New(on.Reason())
	}
	if r.names, err = e.names(r.cell, on); err != nil {
		return err
	}
	r.history.Rewrite(e.rewriting(r.names, r.cell, on))
	ground, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	defer lose(nil)
	r.ground = ground
	if e.made != nil {
		r.made = e.made
		defer e.made.hub.join(r.names.suffix, guest{history: r.history, ended: r.endedByItself(lose)})()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ground, func() { cancel(context.Cause(ground)) })()

	e.introduce(r, on)
	var namespaces []string
	for _, name := range fit.Namespaces(r.cell) {
		namespaces = append(namespaces, r.names.namespace(name))
		r.namespaces[name] = true
	}
	if e.made == nil || !fit.Alone(r.cell) { // what is the cell's alone is gone after it
		defer func() {
			err = errors.Join(err, cluster.DeleteNamespaces(context.WithoutCancel(ctx), namespaces))
		}()
	}
	making, grouped := errgroup.WithContext(ctx)
	for _, name := range namespaces {
		making.Go(func() error { return cluster.MakeNamespace(grouped, name) })
	}
	if err := making.Wait(); err != nil {
		return err
	}
	if e.made != nil {
		if err := e.made.without(ctx, fit.Absent(r.cell), namespaces); err != nil {
			return err
		}
	}
	recorder := record.Recorder(r.history)
	if r.names.player != nil {
		outputs := newOutputs(cluster, r.history)
		defer outputs.close()
		recorder, r.settle = outputs, outputs.merger.Settle
	}
	if err := e.watch(ctx, r, namespaces, recorder); err != nil {
		return err
	}
	defer func() { r.watching.pause() }()
	if r.objects[""], err = newObjects(cluster.RESTConfig(), ""); err != nil {
		return err
	}
	return r.steps(ctx)
}

// names are those of a cell's namespaces and nodes in the cluster.
func (e *Existing) names(cell plan.Cell, on fit.Fit) (names, error) {
	n := names{
		suffix: fmt.Sprintf("-skewrig-%s-%04d", e.Cluster.Run(), e.last.Add(1)),
		// All nodes that are made for a cell are its own.
		scheduled: cell.Topology.Scheduler && e.made == nil, played: make(map[string]string),
	}
	for _, node := range cell.Topology.Nodes {
		n.nodes = append(n.nodes, node.Name)
		n.played[node.Name] = on.Nodes[node.Name].Name
	}
	if e.Player == "" {
		return n, nil
	}
	var err error
	n.player, err = newPlayer(e.Player, rand.Text(), cell.Images)
	return n, err
}

// introduce records what runs there, with those of the gates that the cell names.
func (e *Existing) introduce(r *run, on fit.Fit) {
	for _, c := range e.introduced(r.cell.Topology) {
		r.history.Append("cluster", c.Name, componentOf(c, e.Facts))
	}
	for _, n := range r.cell.Topology.Nodes {
		r.history.Append("cluster", "kubelet/"+n.Name, kubeletOf(on.Nodes[n.Name], n.Gates))
	}
}

// introduced are the components of a control plane that are known.
func (e *Existing) introduced(t record.Topology) []record.Component {
	all := t.ControlPlane()
	if e.made == nil {
		return all[:1]
	}
	return all
}

// componentOf is what a record says of a component of the control plane.
func componentOf(c record.Component, is facts.Cluster) record.ComponentStarted {
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

// kubeletOf is what a record says of the kubelet of a node, with those of the gates that are named.
func kubeletOf(n facts.Node, named release.Gates) record.ComponentStarted {
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

// watching is the watch of what is in the namespaces of a cell.
type watching struct {
	begin func(context.Context) (stop func(), err error)
	stop  func() // until it has stopped, and then nothing
}

// pause ends the watch, until goOn.
func (w *watching) pause() { w.stop() }

// goOn begins the watch, and returns when it has seen what is there.
func (w *watching) goOn(ctx context.Context) error {
	stop, err := w.begin(ctx)
	if err == nil {
		w.stop = stop
	}
	return err
}

// endedByItself has a record say that a component has ended without a request. That is the end of the cell, unless its
// expressions look at it.
func (r *run) endedByItself(lose func(error)) func(component string, end kind.End) {
	return func(component string, end kind.End) {
		for _, c := range r.cell.Topology.ControlPlane() {
			if record.Program(c.Name) == component {
				component = c.Name
			}
		}
		r.history.Append("cluster", component, stoppedBy(end))
		if !slices.Contains(r.cell.Topology.MayEnd, component) {
			lose(fmt.Errorf("%s %s, and nobody had asked it to", component, end))
		}
	}
}

// watch records what is in the namespaces of a cell.
func (e *Existing) watch(ctx context.Context, r *run, namespaces []string, recorder record.Recorder) error {
	resources, err := e.Cluster.Resources(fit.Observed(r.cell))
	if err != nil {
		return err
	}
	what := existing.Watched{
		Namespaces: namespaces, Resources: resources, Recorder: recorder, Whole: e.made != nil, Seen: watched.NewSeen(), Waits: r.names.player != nil,
		Containers: e.made == nil && (e.Player != "" || fit.ReadsContainers(r.cell)),
	}
	for _, node := range r.names.nodes {
		what.Nodes = append(what.Nodes, r.names.node(node))
	}
	r.watching = &watching{begin: func(ctx context.Context) (func(), error) { return e.Cluster.Watch(ctx, what) }, stop: func() {}}
	return r.watching.goOn(ctx)
}

// Components are what runs there, of what was read, for the report.
func (e *Existing) Components() (all []reports.Component) {
	add := func(name, version string) {
		c := reports.Component{Name: name, Version: version, Source: ofExisting}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	add(record.APIServer, e.Facts.Version)
	for _, n := range e.Facts.Nodes {
		add("kubelet", n.Version)
	}
	slices.SortFunc(all, func(a, b reports.Component) int { return strings.Compare(a.Name+" "+a.Version, b.Name+" "+b.Version) })
	return all
}
