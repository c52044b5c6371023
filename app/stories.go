package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/show"
	"github.com/skewrig/skewrig/sweep/story"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Stories is a sweep of ordinary objects: what their owners do, beside what else varies, on a release that does not change.
type Stories struct {
	Version release.Version
	// Dimensions are what varies. If unset, all that story.Dimensions has.
	Dimensions []string
	// Budget is how long after its start it begins with batches of stories. If unset, it runs all.
	Budget time.Duration
	// Shard is the part that is swept. If unset, all is.
	Shard reports.Shard
	// Dir is the directory for what it leaves, which is made. That of an earlier sweep is replaced, or, with Resume, continued.
	Dir    string
	Resume bool
	// Parallel is how many batches run at the same time.
	Parallel int
	// Tell is called with what the sweep does. If unset, that is not reported.
	Tell func(string)
}

// The files of the directory of such a sweep, beside those of every sweep.
const (
	storiesFile = "stories.json"
	storiesRuns = "batches" // the report of each few batches
)

var storiesDir = ownDir{of: "a sweep of stories", files: []string{storiesFile, storiesRuns, sweptShown, sweptAlone, sweptDrafts}}

// ReadStories reads what such a sweep came to.
func ReadStories(dir string) (r story.Result, err error) {
	return r, readJSONBelow(dir, storiesFile, &r)
}

// Run runs all batches, and each finding again alone.
func (s Stories) Run(ctx context.Context, builder *build.Builder) (story.Result, error) {
	began := time.Now()
	state := story.Result{Version: s.Version, Dimensions: s.Dimensions, Shard: s.Shard, Partial: true, Batches: []story.BatchResult{}, Findings: []story.Finding{}}
	if s.Resume {
		had, err := ReadStories(s.Dir)
		if err != nil {
			return state, fmt.Errorf("no sweep to resume: %w", err)
		}
		if had.Version != s.Version || !slices.Equal(had.Dimensions, s.Dimensions) || had.Shard != s.Shard {
			return state, fmt.Errorf("%s is another sweep: --resume needs the same release, dimensions and shard", s.Dir)
		}
		had.Findings, had.NotConfirmed, had.Partial, had.Left = slices.Concat(had.Findings, had.NotConfirmed), nil, true, nil
		state = had
	} else if err := storiesDir.clear(s.Dir); err != nil {
		return state, err
	}
	here, err := HereOn(builder.Releases())
	if err != nil {
		return state, err
	}
	r := storiesRun{Stories: s, builder: builder, here: here, all: story.Stories(s.Dimensions), state: &state}
	if err := r.batches(ctx, began); err != nil {
		return state, Failed(err)
	}
	if err := r.confirm(ctx); err != nil {
		return state, Failed(err)
	}
	state.Findings, state.NotConfirmed = story.Split(state.Findings)
	state.Partial = false
	return state, Failed(errors.Join(r.write(), r.drafts()))
}

// storiesRun is a sweep that runs.
type storiesRun struct {
	Stories

	builder *build.Builder
	here    Catalog
	all     []story.Story
	state   *story.Result
}

func (r storiesRun) report(format string, args ...any) {
	if r.Tell != nil {
		r.Tell(fmt.Sprintf(format, args...))
	}
}

func (r storiesRun) write() error { return writeJSON(filepath.Join(r.Dir, storiesFile), r.state) }

// batches runs those that did not run, as long as the budget lasts.
func (r storiesRun) batches(ctx context.Context, began time.Time) error {
	var mine []story.Batch
	for n, b := range story.Batches(r.all) {
		ran := slices.ContainsFunc(r.state.Batches, func(had story.BatchResult) bool { return had.ID == b.ID })
		if !ran && r.Shard.Has(n) {
			mine = append(mine, b)
		}
	}
	for some := range slices.Chunk(mine, max(r.Parallel, 1)) {
		if r.Budget > 0 && time.Since(began) > r.Budget {
			for _, b := range some {
				r.state.Left = append(r.state.Left, b.ID)
			}
			continue
		}
		r.report("%s", titles(some))
		dir := path.Join(storiesRuns, fmt.Sprintf("%04d", len(r.state.Batches)+1))
		err := r.run(ctx, dir, some, 1, func(b story.Batch, cell reports.Cell, records []*timeline.Timeline) {
			of := story.BatchResult{ID: b.ID, Stories: len(b.Stories)}
			if cell.Outcome == reports.HarnessError || cell.Outcome == reports.Unknown || len(records) == 0 {
				of.Error = cell.Reason
			}
			for _, t := range records {
				of.See(t)
				r.state.Findings = story.Merge(r.state.Findings, story.Judge(b, t))
			}
			r.state.Batches = append(r.state.Batches, of)
		})
		if err := errors.Join(err, r.write()); err != nil {
			return err
		}
	}
	return nil
}

func titles(batches []story.Batch) string {
	var all []string
	for _, b := range batches {
		all = append(all, fmt.Sprintf("%s (%d stories)", strings.TrimPrefix(b.ID, "sweep/"), len(b.Stories)))
	}
	return strings.Join(all, ", ")
}

// run runs batches as scenarios, and calls seen with the records of each.
func (r storiesRun) run(ctx context.Context, dir string, batches []story.Batch, repeat int, seen func(story.Batch, reports.Cell, []*timeline.Timeline)) error {
	var scenarios []string
	for _, b := range batches {
		text, err := b.Scenario(r.Version)
		if err != nil {
			return err
		}
		file := filepath.Join(r.Dir, scenarioFile(b.ID))
		if _, err := files.MkdirBelow(r.Dir, sweptShown, 0o755); err != nil {
			return err
		}
		if err := files.WriteBytes(file, 0o644, text); err != nil {
			return err
		}
		scenarios = append(scenarios, file)
	}
	cells, err := r.here.Select(scenarios)
	if err != nil {
		return err
	}
	report, err := Run(ctx, cells, Options{
		Dir: filepath.Join(r.Dir, dir), Binary: r.builder.Binary, Pending: r.builder.Pending, Catalog: r.here, Repeat: repeat, Parallel: r.Parallel,
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	for _, b := range batches {
		n := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.Scenario == b.ID })
		if n < 0 {
			return fmt.Errorf("%s did not run", b.ID)
		}
		var all []*timeline.Timeline
		for _, run := range report.Cells[n].EachRun() {
			events, err := record.ReadBelow(filepath.Join(r.Dir, dir), path.Join(run.Dir, reports.HistoryFile))
			if err != nil {
				return err
			}
			all = append(all, timeline.Of(events))
		}
		seen(b, report.Cells[n], all)
	}
	return nil
}

// aloneOf is how many stories of a finding run again alone, as long as none confirms it.
const aloneOf = 2

// again is a story of a finding that runs again alone, and, unless it was seen as soon as its objects were there, without the
// act after which it was seen.
type again struct {
	finding, found int
	alone, control story.Batch
}

// confirm runs the first story of each finding alone, and then the next one of those that this did not confirm.
func (r storiesRun) confirm(ctx context.Context) error {
	for range aloneOf {
		var all []again
		var batches []story.Batch
		for i, f := range r.state.Findings {
			j, is := f.Unconfirmed()
			if !is {
				continue
			}
			s, is := r.storyOf(f.Found[j])
			if !is {
				continue // a component, beside several stories
			}
			one := again{finding: i, found: j}
			var controlled bool
			one.alone, one.control, controlled = story.Alone(s, f.Found[j], len(all))
			batches = append(batches, one.alone)
			if controlled {
				batches = append(batches, one.control)
			}
			all = append(all, one)
		}
		if len(batches) == 0 {
			return nil
		}
		r.report("findings: %d, each looked for again alone", len(all))
		if err := r.runAgain(ctx, all, batches); err != nil {
			return err
		}
	}
	return nil
}

// storyOf is the story that shows a finding. It is false if a component does, beside several stories.
func (r storiesRun) storyOf(of story.Found) (s story.Story, is bool) {
	n := slices.IndexFunc(r.all, func(s story.Story) bool { return s.ID() == of.StoryID() })
	if n < 0 {
		return s, false
	}
	return r.all[n], true
}

func (r storiesRun) runAgain(ctx context.Context, all []again, batches []story.Batch) error {
	dir := path.Join(sweptAlone, fmt.Sprintf("%02d", len(r.state.Batches)+all[0].found))
	err := r.run(ctx, dir, batches, times, func(b story.Batch, _ reports.Cell, records []*timeline.Timeline) {
		n := slices.IndexFunc(all, func(one again) bool { return one.alone.ID == b.ID || one.control.ID == b.ID })
		f := r.state.Findings[all[n].finding]
		found, rate := &f.Found[all[n].found], new(trial.Rate)
		isAlone := all[n].alone.ID == b.ID
		for _, t := range records {
			rate.Runs++
			seen, is := f.In(b, t)
			if is {
				rate.Red++
			}
			if is && isAlone {
				found.Object, found.Detail = seen.Object, seen.Detail
			}
		}
		if isAlone {
			found.Alone, found.Scenario = rate, b.ID
		} else {
			found.Control = rate
		}
	})
	return errors.Join(err, r.write())
}

// drafts writes the draft of an issue for each finding.
func (r storiesRun) drafts() error {
	if err := os.RemoveAll(filepath.Join(r.Dir, sweptDrafts)); err != nil {
		return err
	}
	if len(r.state.Findings) > 0 {
		if _, err := files.MkdirBelow(r.Dir, sweptDrafts, 0o755); err != nil {
			return err
		}
	}
	for i, f := range r.state.Findings {
		of := f.Found[slices.IndexFunc(f.Found, story.Found.Confirmed)]
		s, is := r.storyOf(of)
		if !is || of.Scenario == "" {
			continue // a story that there was once
		}
		d := show.StoryDraft{Finding: f, Version: r.Version, Story: s.In(story.Namespace(0), r.Version), Found: of, Scenario: scenarioFile(of.Scenario)}
		if of.Control != nil {
			d.Control = scenarioFile(of.Scenario + story.ControlSuffix)
		}
		if err := files.Write(filepath.Join(r.Dir, sweptDrafts, fmt.Sprintf("finding-%d.md", i+1)), 0o644, d.Write); err != nil {
			return err
		}
	}
	return nil
}
