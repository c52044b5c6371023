package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/sweep/trial"
)

// run is a control plane that a plan, or the search for objects, runs on.
type run struct {
	Config

	cluster *cluster.Cluster
	server  *server
	history *record.History
	plan    trial.Plan
	began   map[trial.Phase]time.Time
	// unserved are resources that an API server does not serve since it changed.
	unserved []string

	mu      sync.Mutex
	answers map[string][]trial.Answer // by the name of the item
}

// start starts a control plane, with the namespace for objects. It has to be closed.
func (cfg Config) start(ctx context.Context, p trial.Plan, out Output) (*run, error) {
	c, err := cluster.New(ctx, cfg.cluster(p.Turn, out))
	if err != nil {
		return nil, err
	}
	r := &run{Config: cfg, cluster: c, history: out.History, plan: p, answers: make(map[string][]trial.Answer), began: make(map[trial.Phase]time.Time)}
	if r.server, err = newServer(c.RESTConfig()); err == nil {
		err = makeNamespace(ctx, c)
	}
	if err == nil && !p.Turn.HasNode() {
		err = makeNode(ctx, c)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return r, nil
}

// Run runs a plan on a control plane of its own. A component that ends by itself is something that is seen. Items
// of a random plan that the API server refuses are left out.
func (cfg Config) Run(ctx context.Context, p trial.Plan, out Output) (seen trial.Seen, err error) {
	r, err := cfg.start(ctx, p, out)
	if err != nil {
		return seen, err
	}
	bound, cancel := r.cluster.Bind(ctx)
	defer cancel()
	failed := r.phases(bound)
	died := r.cluster.Context().Err() != nil && ctx.Err() == nil
	err = r.cluster.Close()
	if failed != nil && !died {
		return seen, errors.Join(failed, err)
	}
	seen = trial.Seen{Plan: r.plan, Namespace: namespace, Began: r.began, Ended: time.Now(), Answers: r.answers, Unserved: r.unserved, Died: died}
	if seen.Panics, err = panics(out.LogDir, append(p.Turn.Components(), string(build.Etcd))); err != nil {
		return seen, err
	}
	if died && len(seen.Panics) == 0 {
		seen.Panics = []trial.Panic{{Component: "a component", At: "it ends by itself", Text: failed.Error()}}
	}
	out.History.End()
	seen.Timeline = timeline.Of(out.History.Events())
	if unseen := trial.Unseen(seen); len(unseen) > 0 && !died {
		return seen, fmt.Errorf("%d objects were never seen, %s %s the first", len(unseen), unseen[0].Kind, unseen[0].Name)
	}
	return seen, out.History.Err()
}

// phases makes the objects, changes the components, touches the objects, and changes the components back.
func (r *run) phases(ctx context.Context) error {
	for _, p := range []struct {
		phase trial.Phase
		do    func(context.Context) error
	}{{trial.On, r.make}, {trial.Off, r.change}, {trial.Touched, r.touchAll}, {trial.Again, r.changeBack}} {
		r.began[p.phase] = time.Now()
		r.tell("phase %s, %d objects", p.phase, len(r.plan.Items))
		if err := p.do(ctx); err != nil {
			return err
		}
		if err := r.quiet(ctx); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many objects are written at the same time.
const atOnce = 16

func each(ctx context.Context, items []trial.Item, do func(context.Context, trial.Item) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, i := range items {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// What is written within still is looked at for at most limit.
const (
	still = 3 * time.Second
	limit = 15 * time.Second
)

// quiet waits until no object is written for a while, but not for long.
func (r *run) quiet(ctx context.Context) error {
	return r.wait(ctx, still, limit, 0, record.ObjectObserved{})
}

// A controller manager that starts asks for all that it watches, which takes this many requests at least. One that
// finds no API server meanwhile ends.
const beginning = 100

// started waits until a component that was started has begun to work.
func (r *run) started(ctx context.Context, component string) error {
	if record.Program(component) != record.ControllerManager {
		return nil
	}
	return r.wait(ctx, time.Second, limit, beginning, record.LinkRequest{})
}

// wait waits until a number of events of a kind came, and then none for a while, but not for longer than a limit.
func (r *run) wait(ctx context.Context, none, limit time.Duration, number int, kind record.Payload) error {
	until := time.Now().Add(limit)
	first := r.events(kind)
	for before := first; time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(none):
		}
		now := r.events(kind)
		if now == before && now-first >= number {
			return nil
		}
		before = now
	}
	return nil
}

func (r *run) events(kind record.Payload) (n int) {
	for _, e := range r.history.Events() {
		if e.Kind == kind.EventKind() {
			n++
		}
	}
	return n
}
