package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// run is a control plane that a plan, or the search for objects, runs on.
type run struct {
	Config

	cluster *cluster.Cluster
	server  *server
	history *record.History
	plan    trial.Plan
	began   map[law.Phase]time.Time
	// unserved are resources that an API server does not serve since it changed.
	unserved []string
	// restless is true if a phase ended before all objects were at rest.
	restless bool

	mu      sync.Mutex
	answers map[string][]law.Answer // by the name of the item
}

// start starts a control plane, with the namespace for objects. It has to be closed.
func (cfg Config) start(ctx context.Context, p trial.Plan, out Output) (*run, error) {
	config, err := cfg.cluster(ctx, p.Transition, out)
	if err != nil {
		return nil, err
	}
	c, err := cluster.New(ctx, config)
	if err != nil {
		return nil, err
	}
	r := &run{Config: cfg, cluster: c, history: out.History, plan: p, answers: make(map[string][]law.Answer), began: make(map[law.Phase]time.Time)}
	if r.server, err = newServer(c.RESTConfig()); err == nil {
		err = makeNamespace(ctx, c)
	}
	if err == nil && !p.Transition.HasNode() {
		err = makeNode(ctx, c)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return r, nil
}

// Run runs a plan on a control plane of its own. That a component ends by itself, or does not start after the change,
// is something that is seen. Items of a random plan that the API server refuses are left out.
func (cfg Config) Run(ctx context.Context, p trial.Plan, out Output) (seen trial.Seen, err error) {
	r, err := cfg.start(ctx, p, out)
	if err != nil {
		return seen, err
	}
	bound, cancel := r.cluster.Bind(ctx)
	defer cancel()
	exit, failed := exitOf(ctx, r.cluster.Context(), r.phases(bound))
	err = r.cluster.Close()
	if failed != nil {
		return seen, errors.Join(failed, err)
	}
	seen = trial.Seen{Course: law.Course{Began: r.began, Ended: time.Now(), Unserved: r.unserved}, Plan: r.plan, Namespace: namespace, Answers: r.answers, Restless: r.restless, Exit: exit}
	if seen.Panics, err = panics(out.LogDir, append(p.Transition.Components(), string(build.Etcd))); err != nil {
		return seen, err
	}
	out.History.End()
	seen.Timeline, seen.Metrics = timeline.Of(out.History.Events()), trial.Metrics(out.History.Events())
	if unseen := trial.Unseen(seen); len(unseen) > 0 && exit == nil {
		return seen, fmt.Errorf("%d objects were never seen, %s %s the first", len(unseen), unseen[0].Kind, unseen[0].Name)
	}
	return seen, out.History.Err()
}

// exitOf is how a component ended by itself, while it ran or before it was ready, if that is why a plan failed or why
// its rig ended. Otherwise it is nil, and why the plan failed is returned.
func exitOf(ctx, rig context.Context, failed error) (*trial.Exit, error) {
	if cause := context.Cause(rig); cause != nil { // also if the plan has not noticed
		failed = cause
	}
	exit, is := errors.AsType[*process.ExitError](failed)
	if !is || ctx.Err() != nil {
		return nil, failed
	}
	component, _, _ := strings.Cut(exit.Name, " ") // its version follows
	return &trial.Exit{Component: component, Started: exit.Ready, State: exit.State, Text: exit.Error()}, nil
}

// phases makes the objects, changes the components, mutates the objects, and changes the components back.
func (r *run) phases(ctx context.Context) error {
	for _, p := range []struct {
		phase law.Phase
		do    func(context.Context) error
	}{{law.On, r.make}, {law.Off, r.change}, {law.Mutated, r.mutateAll}, {law.Again, r.changeBack}} {
		r.began[p.phase] = time.Now()
		r.tell("phase %s, %d objects", p.phase, len(r.plan.Items))
		if err := p.do(ctx); err != nil {
			return err
		}
		if err := r.rest(ctx, r.began[p.phase]); err != nil {
			return err
		}
		if err := r.scrape(ctx); err != nil {
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
