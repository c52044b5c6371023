package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// Terms are what a cell may do on a cluster.
type Terms struct {
	Cluster *existing.Cluster
	Facts   facts.Cluster
	Fit     fit.Fit
	Numbers *Numbers
	// Own means that the cluster was created for the cells: all of it may be in their records.
	Own bool
	// Stays means that what the cell leaves is deleted with the cluster.
	Stays bool
	// Player is an image that plays those of the cell. If unset, nodes have them, or pull them.
	Player string
	// Containers has the status of containers recorded as what happened to them.
	Containers bool
	// Join is called before anything is recorded. What it returns is called last. It may be unset.
	Join func(*Session) (leave func())
	// Prepare is called when the cell's namespaces exist. It may be unset.
	Prepare func(context.Context) error
}

// Session is what a cell has on a cluster.
type Session struct {
	tenant     provider.Tenant
	terms      Terms
	api        *existing.Cluster
	fit        fit.Fit
	names      provider.Names
	player     *player // nil: nodes have the images of the cell, or pull them
	namespaces []string
	outputs    *outputs // nil: containers are not played
	watch      func(context.Context) (stop func(), err error)
	pause      func() // ends the watch that began last
	leave      func()
	ctx        context.Context //nolint:containedctx // ends when what the cell runs on is lost
	lose       context.CancelCauseFunc
}

var _ provider.Session = (*Session)(nil)

// Open creates the namespaces of a cell, and begins to record what is in them. If it is interrupted, they are deleted, or the
// error says which are not.
func Open(ctx context.Context, t provider.Tenant, terms Terms) (_ *Session, err error) {
	if len(terms.Fit.Reasons) > 0 {
		return nil, errors.New(terms.Fit.Reason())
	}
	s := &Session{tenant: t, terms: terms, api: terms.Cluster, fit: terms.Fit, pause: func() {}, leave: func() {}}
	s.ctx, s.lose = context.WithCancelCause(context.WithoutCancel(ctx))
	ctx, cancel := provider.Bind(ctx, s)
	defer cancel()
	if err := s.setNames(); err != nil {
		return nil, err
	}
	t.History.Rewrite(s.rewriting())
	if terms.Join != nil {
		s.leave = terms.Join(s)
	}
	s.introduce()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, name := range fit.Namespaces(t.Cell) {
		s.namespaces = append(s.namespaces, s.names.Namespace(name))
	}
	making, grouped := errgroup.WithContext(ctx)
	for _, name := range s.namespaces {
		making.Go(func() error { return s.api.MakeNamespace(grouped, name) })
	}
	if err := making.Wait(); err != nil {
		return nil, err
	}
	if terms.Prepare != nil {
		if err := terms.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	return s, s.observe(ctx)
}

// setNames gives the cell's namespaces and nodes their names in the cluster.
func (s *Session) setNames() (err error) {
	s.names = provider.Names{Suffix: fmt.Sprintf("-skewrig-%s-%04d", s.api.Run(), s.terms.Numbers.Add(1)), Node: s.nodeName}
	if s.tenant.Cell.Topology.Scheduler && !s.terms.Own { // all nodes that were created for a cell are its own
		s.names.Confine = s.confine
	}
	if s.terms.Player == "" {
		return nil
	}
	if s.player, err = newPlayer(s.terms.Player, rand.Text(), s.tenant.Cell.Images); err == nil {
		s.names.Container = s.player.send
	}
	return err
}

// nodeName returns the node of the cluster that a node of the cell is.
func (s *Session) nodeName(name string) string { return cmp.Or(s.fit.Nodes[name].Name, name) }

// introduce records what runs there, with those of the gates that the cell names.
func (s *Session) introduce() {
	known := s.tenant.Cell.Topology.ControlPlane()
	if !s.terms.Own {
		known = known[:1]
	}
	for _, c := range known {
		s.tenant.History.Append("cluster", c.Name, ComponentOf(c, s.terms.Facts))
	}
	for _, n := range s.tenant.Cell.Topology.Nodes {
		s.tenant.History.Append("cluster", "kubelet/"+n.Name, KubeletOf(s.fit.Nodes[n.Name], n.Gates))
	}
}

// observe begins to record what is in the cell's namespaces.
func (s *Session) observe(ctx context.Context) error {
	resources, err := s.api.Resources(fit.Observed(s.tenant.Cell))
	if err != nil {
		return err
	}
	what := existing.Watched{
		Namespaces: s.namespaces, Resources: resources, Recorder: record.Recorder(s.tenant.History), Whole: s.terms.Own, Seen: watched.NewSeen(),
		Waits: s.player != nil, Containers: s.terms.Containers,
	}
	if s.player != nil {
		s.outputs = newOutputs(s.api, s.tenant.History)
		what.Recorder = s.outputs
	}
	for _, node := range s.tenant.Cell.Topology.Nodes {
		what.Nodes = append(what.Nodes, s.nodeName(node.Name))
	}
	s.watch = func(ctx context.Context) (func(), error) { return s.api.Watch(ctx, what) }
	return s.Resume(ctx)
}

// Pause ends the watch, until Resume.
func (s *Session) Pause() { s.pause() }

// Resume begins the watch, and returns when it has seen what is there.
func (s *Session) Resume(ctx context.Context) error {
	stop, err := s.watch(ctx)
	if err == nil {
		s.pause = stop
	}
	return err
}

// SuffixOf returns the suffix of the name of a cell's namespace. It is empty for a namespace that is no cell's.
func SuffixOf(namespace string) string { return suffixes.FindString(namespace) }

var suffixes = regexp.MustCompile(`-skewrig-[^-]+-[0-9]{4}$`)

// Namespaces returns the names that the cell's namespaces have in the cluster.
func (s *Session) Namespaces() []string { return s.namespaces }

// Lose ends the session with the cause that what the cell runs on is lost.
func (s *Session) Lose(why error) { s.lose(why) }

// Context implements provider.Session.
func (s *Session) Context() context.Context { return s.ctx }

// Names implements provider.Session.
func (s *Session) Names() provider.Names { return s.names }

// Endpoint implements provider.Session. A cluster has one API server.
func (s *Session) Endpoint(string) (*rest.Config, error) { return s.api.RESTConfig(), nil }

// EnsureNamespace implements provider.Session. All that a cell names exist.
func (s *Session) EnsureNamespace(context.Context, string) error { return nil }

// Settle implements provider.Session.
func (s *Session) Settle(ctx context.Context) error {
	if s.outputs == nil {
		return nil
	}
	return s.outputs.merger.Settle(ctx)
}

// Close ends the watch, and deletes the cell's namespaces.
func (s *Session) Close() (err error) {
	s.pause()
	if s.outputs != nil {
		s.outputs.close()
	}
	if !s.terms.Stays {
		err = s.api.DeleteNamespaces(context.WithoutCancel(s.ctx), s.namespaces)
	}
	s.lose(nil)
	s.leave()
	return err
}
