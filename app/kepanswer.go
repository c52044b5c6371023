package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/keps"
	"github.com/skewrig/skewrig/keps/show"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/engine"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// KEPs answers the production readiness questionnaire of proposals, from two sweeps of their gates.
type KEPs struct {
	// Release is the release that has the gates, with its types, and Before the one to which it is rolled back.
	Release, Before       gated.Release
	ReleaseAPI, BeforeAPI *apitypes.API
	// Nodes is the oldest release that a kubelet beside the release may be of. If unset, none is tried.
	Nodes    gated.Release
	NodesAPI *apitypes.API
	// Proposals are what is asked, and Milestone what they have in common. If Milestone is unset, they were named.
	Proposals []keps.KEP
	Milestone string
	// Earlier is the file of answers of an earlier run, with which they are compared. If unset, they are not.
	Earlier string
	// Reports are directories of saved runs, from which ledgers of the proposals answer beside the sweeps. If unset, they don't.
	Reports []string
	// Shard is the part of the sweeps that runs. If unset, all.
	Shard reports.Shard
	// Dir is the directory for the sweeps and the answers. Sweeps of the same gates that are there are continued.
	Dir      string
	Parallel int
	// Tell is called with what is done. If unset, that is not reported.
	Tell func(string)
}

// kepsDir is the directory of answers.
var kepsDir = ownDir{of: "answers", files: append(keps.Sweeps(), show.JSONFile, show.BadgeFile, show.PageFile, show.Answers)}

// ReadKEPs reads the proposals of a checkout. If it can't read some, it returns the others with the error.
func ReadKEPs(dir string) ([]keps.KEP, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return keps.Read(files.DirFS(dir, files.MaxText))
}

// Run runs the sweeps and writes the answers.
func (k KEPs) Run(ctx context.Context, builder *build.Builder) (show.Milestone, error) {
	if err := kepsDir.only(k.Dir); err != nil {
		return show.Milestone{}, err
	}
	m := show.Milestone{Name: k.Milestone, Release: k.Release.Version, Before: k.Before.Version, Shard: k.Shard}
	evidence := keps.Evidence{Release: k.Release}
	if err := k.sweepAll(ctx, builder, &evidence); err != nil {
		return m, err
	}
	var err error
	if evidence.Declared, err = builder.Metrics(ctx, k.Release.Version); err != nil {
		return m, Failed(fmt.Errorf("reading the metrics of %s: %w", k.Release.Version, err))
	}
	for _, p := range k.Proposals {
		m.Results = append(m.Results, keps.Answers(p, evidence))
	}
	if len(k.Reports) > 0 {
		if err := withLedgers(m.Results, k.Reports); err != nil {
			return m, err
		}
	}
	m.Results = keps.WorstFirst(m.Results)
	if k.Earlier != "" {
		var earlier show.Milestone
		if err := readJSON(k.Earlier, &earlier); err != nil {
			return m, err
		}
		m.Changes = keps.Changed(earlier.Results, m.Results)
	}
	return m, Failed(k.write(m))
}

// sweepAll runs the sweeps at the same time. One that is there is not run again.
func (k KEPs) sweepAll(ctx context.Context, builder *build.Builder, e *keps.Evidence) error {
	var todo []kepSweep
	var targets []build.Target
	for _, s := range k.sweeps(e) {
		if *s.into = k.continued(&s); *s.into == nil {
			todo, targets = append(todo, s), append(targets, s.targets()...)
		}
	}
	if _, err := Build(ctx, builder, onceEach(targets), nil); err != nil { // a sweep beside a compiler sees components that are slow
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, s := range todo {
		all.Go(func() error {
			r, err := s.Run(ctx, builder)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Dir, err)
			}
			*s.into = &r
			return nil
		})
	}
	return all.Wait()
}

// kepSweep is a sweep in a directory below that of the answers.
type kepSweep struct {
	Sweep

	name string
	into **trial.Result
}

// sweeps are those for which there are gates.
func (k KEPs) sweeps(e *keps.Evidence) []kepSweep {
	sweep := Sweep{
		Config: engine.Config{Release: k.Release, API: k.ReleaseAPI, Metrics: keps.Metrics(k.Proposals)},
		At:     keps.Places(k.Release, k.Proposals), Seed: 1, Parallel: k.Parallel, Shard: k.Shard,
	}
	off, back, nodes := sweep, sweep, sweep
	off.Gates, back.Gates = keps.Unlocked(k.Release, k.Proposals), keps.Gates(k.Release, k.Proposals)
	back.To, back.ToAPI = k.Before.Version, k.BeforeAPI
	if k.Nodes.Version != "" {
		nodes.Gates = keps.OfPods(k.Release, k.Proposals)
	}
	nodes.To, nodes.ToAPI, nodes.At = k.Nodes.Version, k.NodesAPI, []string{trial.Kubelet}
	return reports.Only([]kepSweep{{off, keps.OffSweep, &e.Off}, {back, keps.BackSweep, &e.Back}, {nodes, keps.NodesSweep, &e.Nodes}},
		func(s kepSweep) bool { return len(s.Gates) > 0 })
}

// continued sets where a sweep is, and returns the result that is there. If it is nil, the sweep has to run, and continues what is there
// of the same.
func (k KEPs) continued(s *kepSweep) *trial.Result {
	s.Dir = filepath.Join(k.Dir, s.name)
	if k.Tell != nil {
		s.Tell = func(what string) { k.Tell(s.name + ": " + what) }
	}
	had := new(trial.Result)
	s.Resume = readJSONBelow(s.Dir, sweptFile, had) == nil && had.IsSame(s.result())
	if !s.Resume || had.Partial {
		return nil
	}
	return had
}

// write writes the answers, the page, and for each proposal a page and a file in Markdown.
func (k KEPs) write(m show.Milestone) error {
	out := func(name string, write func(io.Writer) error) error {
		return files.Write(filepath.Join(k.Dir, name), 0o644, write)
	}
	if err := os.RemoveAll(filepath.Join(k.Dir, show.Answers)); err != nil { // of an earlier run
		return err
	}
	if _, err := files.MkdirBelow(k.Dir, show.Answers, 0o755); err != nil {
		return err
	}
	errs := []error{
		writeJSON(filepath.Join(k.Dir, show.JSONFile), m), writeJSON(filepath.Join(k.Dir, show.BadgeFile), m.Badge()),
		out(show.PageFile, m.Page),
	}
	for _, r := range m.Results {
		errs = append(errs,
			out(show.PageOf(r), func(w io.Writer) error { return m.Proposal(w, r) }),
			out(show.File(r), func(w io.Writer) error { return m.Markdown(w, r) }),
		)
	}
	return errors.Join(errs...)
}

// Gate is the proposal of a gate alone, without a text.
func (k KEPs) Gate(name string) (keps.KEP, bool) {
	for _, g := range k.Release.Gates {
		if strings.EqualFold(g.Name, name) {
			return keps.KEP{Title: g.Name, Gates: []keps.Gate{{Name: g.Name}}}, true
		}
	}
	return keps.KEP{}, false
}
