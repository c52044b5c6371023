// Package engine runs cells: it starts what a plan describes on a provider, takes the plan's steps, and leaves a record. It is
// the one place that joins providers and checks.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/lint"
	"github.com/skewrig/skewrig/scenarios/oracle"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// Engine runs cells.
type Engine struct {
	// Binary finds the executable of a component. Builder.Binary does.
	Binary provider.Binary
	// Pending reports whether a component is still being built, so that Binary would wait for
	// it. Other cells begin first then. If unset, none is.
	Pending func(build.Target) bool
	// Dir is the report directory. Each cell has Dir/cells/<cell id>.
	Dir string
	// Parallel is how many cells run at the same time that have a control plane of their
	// own, if it is more than one: then three times as many do that share one. If unset, one
	// cell runs at a time.
	Parallel int
	// Isolate gives each cell a control plane of its own. If unset, cells share one where
	// they can't notice.
	Isolate bool
	// AllowHost lets cells reach beyond their rigs, as cluster.Config.AllowHost says. If unset, they can't.
	AllowHost bool
	// Shuffle begins the cells in a random order that it decides. If unset, the longest begin
	// first.
	Shuffle uint64
	// Warm keeps control planes up for the next run. Then no cell runs again alone. If unset,
	// each run has its own.
	Warm *rig.Warm
	// Unexpected says which results are not as expected. Those of cells that shared a
	// control plane are trusted only if they come out again without. If unset, none.
	Unexpected func(reports.Cell) bool
	// Provider is what the cells run on. If unset, each has a rig.
	Provider provider.Provider
	// Keep is called with the rig of a cell whose result is Unexpected, before the rig is
	// taken down, and with what of the result is known then. The record has ended, and what is
	// found when the rig is taken down makes the cell a harness-error. A cell that shares a
	// control plane runs again alone first. It may be unset.
	Keep func(context.Context, reports.Cell, *rig.Rig)
	// FailFast ends a cell with the first check that does not hold, if that is
	// all there is to learn: a mutant that is found. What comes later is unknown.
	// If unset, a cell goes on.
	FailFast bool
	// TempDir is where rigs keep their data while they run. If unset, the
	// system's directory for temporary files.
	TempDir string
	// Progress is called when a cell starts, when it takes a step, and when it is
	// judged, by one goroutine at a time. It may be unset.
	Progress func(Progress)

	telling sync.Mutex
}

// Progress is news of one cell.
type Progress struct {
	Cell plan.Cell
	// Step is the step that is begun. If unset, the news is of the whole cell.
	Step *plan.Step
	// Result is what the cell came to. If unset, it is not over.
	Result *reports.Cell
}

func (e *Engine) tell(p Progress) {
	e.telling.Lock()
	defer e.telling.Unlock()
	if e.Progress != nil {
		e.Progress(p)
	}
}

// unless returns a result as it is, or with an error of the rig.
func unless(err error, r reports.Cell) reports.Cell {
	if err == nil {
		return r
	}
	r.Outcome, r.Reason = reports.HarnessError, err.Error()
	return r.Settled()
}

func (e *Engine) unexpected(r reports.Cell) bool { return e.Unexpected != nil && e.Unexpected(r) }

// Compile compiles the expressions of all cells, and reports all mistakes. It adds to
// the topologies of the cells what their expressions need.
func Compile(cells []plan.Cell) ([]*check.Program, error) {
	programs := make([]*check.Program, len(cells))
	var mistakes []error
	for i, cell := range cells {
		program, err := check.Compile(cell)
		needs, unknown := lint.Needs(cell)
		cells[i].Topology, programs[i] = needs, program
		mistakes = append(mistakes, err, unknown)
	}
	return programs, strict.Join(mistakes...)
}

// provider returns what the cells run on.
func (e *Engine) provider() provider.Provider {
	if e.Provider != nil {
		return e.Provider
	}
	return &rig.Provider{Binary: e.Binary, ReportDir: e.Dir, AllowHost: e.AllowHost, TempDir: e.TempDir}
}

// place is where a cell runs.
type place struct {
	provider.Provider
	// barrier is where it meets the cells that change the same control plane. It is nil if there are none.
	barrier *schedule.Barrier
}

// cell runs a cell at a place.
func (e *Engine) cell(ctx context.Context, cell plan.Cell, program *check.Program, at place) reports.Cell {
	if ctx.Err() != nil {
		return notRun(cell, program, context.Cause(ctx).Error())
	}
	if why := at.Unfit(cell); why != "" {
		return excused(cell, program, reports.NotTestable, why)
	}
	started := time.Now()
	events, err := e.runCell(ctx, cell, program, at, CellDir(e.Dir, cell.ID))
	late, cancel := check.Grace(ctx)
	defer cancel()
	r := unless(err, result(late, cell, program, events))
	r.Started = started.UTC().Truncate(time.Millisecond)
	r.DurationSeconds = time.Since(started).Round(time.Millisecond).Seconds()
	return r.Settled()
}

// kepName is how people write what an id's first segment names: KEP-4939. An
// area that is no KEP stays as it is.
func kepName(area string) string {
	if number, isKEP := strings.CutPrefix(area, "kep-"); isKEP {
		return "KEP-" + number
	}
	return area
}

// CellDir is where a cell leaves its files below a report directory.
func CellDir(dir, id string) string {
	return filepath.Join(dir, filepath.FromSlash(reports.RunDir(id, 1)))
}

// SharedDir is where a cell left its files that ran again on a control plane of its own.
func SharedDir(dir, id string) string { return filepath.Join(dir, "shared", filepath.FromSlash(id)) }

// NotRun returns the results of cells that were not run, and why: each of their
// checks is unknown.
func NotRun(cells []plan.Cell, reason string) ([]reports.Cell, error) {
	programs, err := Compile(cells)
	if err != nil {
		return nil, err
	}
	var results []reports.Cell
	for i, cell := range cells {
		results = append(results, notRun(cell, programs[i], reason))
	}
	return results, nil
}

func notRun(cell plan.Cell, program *check.Program, reason string) reports.Cell {
	r := result(context.Background(), cell, program, nil)
	r.Outcome, r.Reason, r.Unfinished = reports.Unknown, "not run: "+reason, true
	return r
}

// excused is the result of a cell that can't run: nothing was started for it.
func excused(cell plan.Cell, program *check.Program, outcome reports.Outcome, why string) reports.Cell {
	r := result(context.Background(), cell, program, nil)
	for i := range r.Checks {
		r.Checks[i].Outcome, r.Checks[i].Reason = outcome, why
	}
	r.Outcome, r.Reason = outcome, why
	return r.Settled()
}

// History reads the record of a run of a cell, given by its number, below a report directory.
func History(dir, id string, number int) ([]record.Event, error) {
	return record.ReadBelow(dir, path.Join(reports.RunDir(id, number), reports.HistoryFile))
}

// Rejudge judges the saved histories of the runs of cells that have a number again. Each result
// has an outcome, as that of a run.
func Rejudge(ctx context.Context, dir string, number int, cells []plan.Cell) ([]reports.Cell, error) {
	programs, err := Compile(cells)
	if err != nil {
		return nil, err
	}
	var results []reports.Cell
	var failures []error
	for i, cell := range cells {
		events, err := History(dir, cell.ID, number)
		if errors.Is(err, os.ErrNotExist) {
			results = append(results, notRun(cell, programs[i], "it has no history"))
			continue
		}
		planned, planErr := record.ReadPlanBelow(dir, path.Join(reports.RunDir(cell.ID, number), reports.PlanData))
		if err := errors.Join(err, planErr); err != nil {
			failures = append(failures, err)
			continue
		}
		r, err := sameScenario(cell, result(ctx, cell, programs[i], events), planned, events)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("judging %s: %w", cell.ID, context.Cause(ctx))
		}
		failures = append(failures, err)
		results = append(results, r.Settled())
	}
	return results, errors.Join(failures...)
}

// result judges a history and puts the verdict in the report's form.
func result(ctx context.Context, cell plan.Cell, program *check.Program, events []record.Event) reports.Cell {
	verdict := check.Judge(ctx, program, events)
	always, observed := oracle.Look(cell, events)
	verdict.Checks = append(verdict.Checks, check.Trusted(events, always)...)
	r := reports.Cell{
		ID: cell.ID, Scenario: cell.Scenario, File: cell.File, KEP: kepName(cell.Area), Axes: cell.Axes,
		Outcome: verdict.Outcome, Reason: verdict.Reason, Checks: verdict.Checks,
		Observed: observed, Leases: reports.LeasesOf(events), Unfinished: check.Interrupted(events),
		Reference: slices.ContainsFunc(cell.Topology.Nodes, func(n record.Node) bool { return n.Version == release.Reference }),
	}
	for _, c := range verdict.Checks {
		if c.Requirement != "" {
			r.Requirements = append(r.Requirements, c.Requirement)
		}
	}
	return r
}
