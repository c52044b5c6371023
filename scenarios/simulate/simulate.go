// Package simulate plays cells in the virtual time of the models, and judges
// what happens there by the same checks. It shows what a scenario amounts to in
// no time, and where a release does something else than the model says; it is no
// evidence of what any release does.
package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/model/world"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// ErrNotModelled marks what the models have no notion of.
var ErrNotModelled = errors.New("the models don't cover it")

// Cell plays a cell and returns the record of it, and what its checks make of
// that. A cell that the models can't play is not applicable, with the reason.
func Cell(ctx context.Context, cell plan.Cell, program *check.Program) ([]record.Event, reports.Cell) {
	p := &play{cell: cell, program: program, tracker: check.NewTracker()}
	err := p.run(ctx)
	result := reports.Cell{ID: cell.ID, Scenario: cell.Scenario, KEP: cell.Area, Axes: cell.Axes}
	if errors.Is(err, ErrNotModelled) {
		result.Outcome, result.Reason = reports.NotApplicable, err.Error()
		return nil, result
	}
	p.append("engine", "", ended(err))
	verdict := check.Judge(ctx, program, p.events)
	result.Outcome, result.Reason, result.Checks = verdict.Outcome, verdict.Reason, verdict.Checks
	return p.events, result.Settled()
}

// As is a cell with another watchdog: a release, or watchdog.Text for what is
// written about it. If it is empty, or the cell has none, it is the same cell.
func As(cell plan.Cell, behaves string) plan.Cell {
	g := cell.Topology.Garden
	if behaves == "" || g == nil || g.Watchdog == "" {
		return cell
	}
	other := *g
	other.Watchdog = release.Version(behaves)
	cell.Topology.Garden = &other
	return cell
}

func ended(err error) record.CellEnded {
	if err == nil {
		return record.CellEnded{}
	}
	return record.CellEnded{Error: err.Error(), Rig: !errors.Is(err, errUnmet)}
}

// play is a cell while it is played.
type play struct {
	action.Rig // nil: of what modelled leaves out, nothing is done

	cell    plan.Cell
	program *check.Program
	world   *world.World
	events  []record.Event
	tracker *check.Tracker

	began   time.Time
	sampled time.Time // when the ages of leases were recorded last
	nodes   []string  // the zone of each node
	faults  faults
	step    int            // that is taken
	cluster map[string]any // the Cluster on the seed; nil if there is none
}

func (p *play) run(ctx context.Context) error {
	if err := p.begin(); err != nil {
		return err
	}
	for _, step := range p.cell.Steps {
		p.append("engine", step.Name, record.StepStarted{Number: step.Number, Name: step.Name, Action: step.Action.Describe()})
		p.step = step.Number
		err := errKind
		if slices.Contains(modelled, step.Action.Facts().Needs) {
			err = step.Action.Run(ctx, p) // the models take no time
		}
		done := record.StepDone{Number: step.Number}
		if err != nil {
			done.Error, done.Unmet = err.Error(), errors.Is(err, errUnmet)
		}
		p.append("engine", step.Name, done)
		if err != nil {
			return fmt.Errorf("step %d (%s): %w", step.Number, step.Action.Describe(), err)
		}
	}
	return nil
}

// append records something that happens at the world's time.
func (p *play) append(source, subject string, payload record.Payload) {
	data, err := json.Marshal(payload)
	if err != nil {
		return // none of the payloads holds what has no JSON
	}
	p.events = append(p.events, record.Event{
		Seq: len(p.events) + 1, At: p.now(), Source: source, Kind: payload.EventKind(), Subject: subject, Data: data,
	})
}

func (p *play) now() time.Time {
	if p.world == nil {
		return p.began
	}
	return p.world.Now()
}

const (
	// moment is how often it is looked at what happened. Nothing in the models
	// depends on it.
	moment = 50 * time.Millisecond
	// sampleEvery is how often the ages of leases are recorded, as a rig does.
	sampleEvery = time.Second
)

// pass lets a moment pass.
func (p *play) pass() {
	next := p.world.Now().Add(moment)
	p.world.RunUntil(next)
	if p.world.Now().Sub(p.sampled) >= sampleEvery {
		p.sampled = p.world.Now()
		p.recordAges()
	}
}

// errUnmet marks that a condition was not met in time.
var errUnmet = errors.New("the scenario can't go on")

// Wait implements action.Rig.
func (p *play) Wait(ctx context.Context, condition string, within time.Duration) error {
	var last error
	for end := p.world.Now().Add(within); !p.world.Now().After(end); p.pass() {
		if condition == "" {
			continue
		}
		var met bool
		if met, last = p.tracker.Until(ctx, p.program, p.step, p.events); met {
			return nil
		}
		if expr.IsTooCostly(last) || ctx.Err() != nil {
			break
		}
	}
	if condition == "" {
		return nil
	}
	return fmt.Errorf("%w: not within %s until %s: %w", errUnmet, within, condition, errors.Join(p.tracker.Explain(p.program, p.step, last)))
}

// Watch implements action.Rig.
func (p *play) Watch(ctx context.Context, checks action.Checks) error {
	step := p.step
	began := p.world.Now()
	for _, c := range checks.Checks {
		p.append("engine", c.ID, record.CheckOpened{Step: step})
	}
	watching := p.tracker.Watch(ctx, p.program, checks, p.events)
	for pending := checks.Checks; len(pending) > 0; {
		watching.Advance(ctx, p.events)
		watched := p.world.Now().Sub(began)
		var left []action.Check
		for _, c := range pending {
			if !watching.Decided(c.ID) && watched < time.Duration(c.Span) {
				left = append(left, c)
				continue
			}
			p.append("engine", c.ID, record.CheckClosed{Step: step, Watched: watched.Seconds()})
		}
		if pending = left; len(pending) > 0 {
			p.pass()
		}
	}
	return nil
}
