package app

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/sweep/engine"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Sweep is what a sweep is of. Of its Config, Cluster and Binary are set by Run.
type Sweep struct {
	engine.Config

	// At are the places that change, as trial.Places has them. If unset, all.
	At []string
	// To is the release that components run as meanwhile, and ToAPI its types. If unset, gates are
	// turned off instead.
	To    release.Version
	ToAPI *apitypes.API
	// Budget is how long it goes on with random plans, and Seed what these are made from. If there is no
	// budget, there are none.
	Budget time.Duration
	Seed   uint64
	// Shard is the part that is swept, of several that JoinSweeps joins. If unset, all is.
	Shard reports.Shard
	// Known are findings that were seen before: they are not looked for again, and no news.
	Known []trial.Finding
	// Dir is the directory for what it leaves, which is made. That of an earlier sweep is replaced, or,
	// with Resume, gone on with.
	Dir    string
	Resume bool
	// Parallel is how many scenarios run at the same time that look for findings again, and half of it how many plans.
	Parallel int
}

// targets are the components that it takes.
func (s Sweep) targets() []build.Target {
	all := []build.Target{{Component: build.Etcd, Version: release.Etcd}}
	for _, t := range s.result().Transitions {
		add := func(name string, v release.Version) {
			all = append(all, build.Target{Component: build.Component(record.Program(name)), Version: v})
		}
		for _, name := range t.Components() {
			add(name, s.Release.Version)
		}
		for _, name := range t.At {
			if t.To != "" && !t.Emulates {
				add(name, t.To)
			}
		}
	}
	return onceEach(all)
}

// Run compiles what it takes, runs it, looks for what it found again, and writes what it came to.
func (s Sweep) Run(ctx context.Context, builder *build.Builder) (trial.Result, error) {
	if _, err := Build(ctx, builder, s.targets(), nil); err != nil {
		return trial.Result{}, err
	}
	began := time.Now()
	library, err := images.Played{}.Library(ctx, builder)
	if err != nil {
		return trial.Result{}, Failed(err)
	}
	s.Binary = builder.Binary
	s.Cluster = rig.ClusterConfigs(library)
	state, err := s.begin(ctx)
	if err != nil {
		return trial.Result{}, err
	}
	if err := s.small(ctx, state); err != nil {
		return state.Result, Failed(err)
	}
	if err := s.random(ctx, state, began.Add(s.Budget)); err != nil {
		return state.Result, Failed(err)
	}
	state.Findings, state.Known = trial.New(state.Findings, s.Known)
	s.tell("findings: %d, each looked for again with its gates alone", len(state.Findings))
	if err := state.write(s.Dir); err != nil { // also if what follows fails
		return state.Result, Failed(err)
	}
	err = errors.Join(s.shrink(ctx, state), s.confirm(ctx, builder, state))
	state.Partial = err != nil
	return state.Result, Failed(errors.Join(err, state.write(s.Dir), writeSweepPages(s.Dir, state.Result, state.alone)))
}

func (s Sweep) tell(format string, args ...any) {
	if s.Tell != nil {
		s.Tell(fmt.Sprintf(format, args...))
	}
}

// swept is a sweep that goes on.
type swept struct {
	trial.Result

	uses  []trial.Use
	plans map[int]trial.Plan // by number
	tried trial.Tried
	lacks func(trial.Use) trial.Lack // what the other release lacks
}

// result is what it comes to before anything ran.
func (s Sweep) result() trial.Result {
	return trial.Result{
		Version: s.Release.Version, To: s.To, Seed: s.Seed, Gates: s.On().Names(), Bare: s.Bare(), Kinds: s.Kinds, Shard: s.Shard, Partial: true,
		Asked:       s.Metrics,
		Transitions: trial.Transitions(s.At, s.Release.Version, s.To),
		Plans:       []trial.PlanResult{}, Tried: []trial.Tally{}, Findings: []trial.Finding{},
	}
}

// begin finds the objects, or goes on with those of an earlier sweep.
func (s Sweep) begin(ctx context.Context) (*swept, error) {
	state := &swept{plans: make(map[int]trial.Plan), tried: trial.NewTried()}
	state.Result = s.result()
	if s.To != "" {
		state.lacks = engine.Lacks(s.To, s.ToAPI)
	}
	if s.Resume {
		return state, state.read(s.Dir)
	}
	if err := sweptDir.clear(s.Dir); err != nil {
		return nil, err
	}
	out, done, err := s.output("objects")
	if err != nil {
		return nil, Failed(err)
	}
	state.uses, state.Reached, err = s.Reach(ctx, out)
	state.Settable = s.settableOf(state.Reached)
	return state, Failed(errors.Join(err, done(), state.write(s.Dir)))
}

// settableOf are those of the gates of fields, and of what they are in, that can be set. A marker may name others.
func (s Sweep) settableOf(reached []trial.Coverage) (all []string) {
	for _, g := range s.Release.Gates {
		if !g.Locked && slices.ContainsFunc(reached, func(r trial.Coverage) bool { return slices.Contains(slices.Concat(r.Gates, r.Under), g.Name) }) {
			all = append(all, g.Name)
		}
	}
	return all
}

// output is where a control plane leaves what it does, below the directory.
func (s Sweep) output(name string) (engine.Output, func() error, error) {
	out, err := createRecord(s.Dir, path.Join(sweptPlans, name), 0o644)
	return engine.Output{History: out.history, LogDir: out.logs}, out.close, err
}

// small runs the plans in which objects use one field and are mutated once: some at the same time, and taken into account in
// their order, which says what is named with what.
func (s Sweep) small(ctx context.Context, state *swept) (err error) {
	plans := state.todo(trial.Small(state.Transitions, state.Gates, state.OfShard(state.uses), state.lacks)...)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, (s.Parallel+1)/2)) // a plan has more objects than a cell
	ran := make([]chan ranPlan, len(plans))
	for n := range ran {
		ran[n] = make(chan ranPlan, 1)
	}
	go func() {
		for n, p := range plans {
			group.Go(func() error {
				defer close(ran[n])
				one, err := s.run(ctx, p)
				if err == nil {
					ran[n] <- one
				}
				return err
			})
		}
	}()
	for n := range ran {
		if one, is := <-ran[n]; is {
			err = errors.Join(err, state.add(one, s.Dir))
		}
	}
	return errors.Join(group.Wait(), err)
}

// random runs random plans until a time.
func (s Sweep) random(ctx context.Context, state *swept, until time.Time) error {
	source := trial.Source{Seed: s.Seed, Transitions: state.Transitions, Gates: state.Gates, Uses: state.uses, Lacks: state.lacks}
	for n := len(state.Transitions) + 1; time.Now().Before(until); n++ {
		if err := context.Cause(ctx); err != nil { // also if no plan has anything to run
			return err
		}
		if !state.HasRandom(n) {
			continue
		}
		for _, p := range state.todo(source.Random(n, state.tried)) {
			ran, err := s.run(ctx, p)
			if err == nil {
				err = state.add(ran, s.Dir)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// todo are those of some plans that have objects and did not run before.
func (s *swept) todo(plans ...trial.Plan) (todo []trial.Plan) {
	for _, p := range plans {
		s.tried.Add(p)
		s.plans[p.Number] = p
		ran := slices.ContainsFunc(s.Plans, func(ran trial.PlanResult) bool { return ran.Number == p.Number })
		if len(p.Items) > 0 && !ran {
			todo = append(todo, p)
		}
	}
	return todo
}

// ranPlan is what a plan came to.
type ranPlan struct {
	trial.PlanResult

	tried trial.Plan // without what the API server refused
	found []trial.Finding
	saw   trial.Witnessed
}

// add adds what a plan came to.
func (s *swept) add(ran ranPlan, dir string) error {
	s.Plans = append(s.Plans, ran.PlanResult)
	s.Tried = trial.Tallies(s.Tried, ran.tried)
	s.Findings = trial.Merge(s.Findings, ran.found)
	s.Witnessed = s.With(ran.saw)
	return s.write(dir)
}

// run runs a plan.
func (s Sweep) run(ctx context.Context, p trial.Plan) (ran ranPlan, _ error) {
	if err := context.Cause(ctx); err != nil { // those that wait for their turn
		return ran, err
	}
	s.tell("plan %d: %s", p.Number, p)
	began := time.Now()
	ran.Plan = p
	if err := s.judged(ctx, p, &ran); err != nil {
		return ran, fmt.Errorf("plan %d (%s): %w", p.Number, p, err)
	}
	ran.Objects, ran.Seconds, ran.Found = len(ran.tried.Items), time.Since(began).Round(time.Second/10).Seconds(), []string{}
	for _, f := range ran.found {
		ran.Found = append(ran.Found, f.Signature())
	}
	return ran, nil
}

// passes is how often a plan runs at most.
const passes = 4

// judged runs a plan, and again without what is written without end, if that has to be: then it is the last run that
// says what else there is.
func (s Sweep) judged(ctx context.Context, p trial.Plan, ran *ranPlan) error {
	for pass := range passes {
		name := fmt.Sprintf("%03d", p.Number)
		if pass > 0 {
			name += fmt.Sprintf("-%d", pass+1)
			s.tell("plan %d, without what is written without end", p.Number)
		}
		seen, err := s.plan(ctx, name, p)
		if err != nil {
			return err
		}
		ran.Unsettled, ran.saw = seen.Unsettled(), ran.saw.With(seen.Witnessed())
		if pass == 0 {
			ran.tried = seen.Plan
		}
		found := trial.Judge(seen)
		rest, again := seen.Again(found)
		if !again {
			ran.found = trial.Merge(ran.found, found)
			return nil
		}
		ran.found = trial.Merge(ran.found, trial.WithoutEnd(found))
		p = rest
	}
	return nil
}

// plan runs a plan in a directory of its own.
func (s Sweep) plan(ctx context.Context, name string, p trial.Plan) (trial.Seen, error) {
	out, done, err := s.output(name)
	if err != nil {
		return trial.Seen{}, err
	}
	seen, err := s.Config.Run(ctx, p, out)
	return seen, errors.Join(err, done())
}
