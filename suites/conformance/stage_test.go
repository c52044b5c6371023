package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// stage makes some cells make noise from before the quiet cells begin until those have ended.
// No cell begins before the nodes of all cells have started.
type stage struct {
	absent, silent, quiet sync.WaitGroup // cells that have not started, made noise, or ended
	set, begun, over      chan struct{}  // each is closed when there are none of these
}

// newStage is a stage for so many cells that make noise, and so many that do not.
func newStage(loud, quiet int) *stage {
	s := &stage{set: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{})}
	s.absent.Add(loud + quiet)
	s.silent.Add(loud)
	s.quiet.Add(quiet)
	for wait, done := range map[*sync.WaitGroup]chan struct{}{&s.absent: s.set, &s.silent: s.begun, &s.quiet: s.over} {
		go func() { wait.Wait(); close(done) }()
	}
	return s
}

// makesNoise is a cell with a last step that makes noise.
func (s *stage) makesNoise(cell plan.Cell, n noise) plan.Cell {
	return withLast(cell, plan.Step{Name: "noise", Action: loud{noise: n, stage: s}})
}

// amidNoise is a cell that waits for the noise first, and says when it has ended.
func (s *stage) amidNoise(cell plan.Cell) plan.Cell {
	cell.Steps = append([]plan.Step{{Name: "noise", Action: cue{"wait for the noise of others", func(ctx context.Context) error {
		s.absent.Done()
		return await(ctx, s.begun)
	}}}}, cell.Steps...)
	return withLast(cell, plan.Step{Name: "ended", Run: record.Cleanup, Action: cue{"say that it has ended", func(context.Context) error {
		s.quiet.Done()
		return nil
	}}})
}

// withLast is a cell with one more step.
func withLast(cell plan.Cell, step plan.Step) plan.Cell {
	step.Number = cell.Steps[len(cell.Steps)-1].Number + 1
	cell.Steps = append(slices.Clip(cell.Steps), step)
	return cell
}

// cue is an action between the cells of a stage, which does nothing to the rig.
type cue struct {
	text string
	run  func(context.Context) error
}

// Describe implements action.Action.
func (c cue) Describe() string { return c.text }

// Run implements action.Action.
func (c cue) Run(ctx context.Context, _ action.Rig) error { return c.run(ctx) }

// Facts implements action.Action.
func (cue) Facts() action.Facts {
	return action.Facts{Needs: action.NeedsNothing, Reach: action.ReachOwn}
}

// loud is the action of a cell that makes noise. It reaches as far as what it does.
type loud struct {
	noise noise
	stage *stage
}

// Describe implements action.Action.
func (loud) Describe() string { return "make noise until the others have ended" }

// Facts implements action.Action.
func (l loud) Facts() action.Facts {
	f := action.Facts{Needs: action.NeedsNothing}
	for _, a := range l.noise(1) {
		f.Reach = max(f.Reach, action.ReachOf(a))
	}
	return f
}

// Run implements action.Action.
func (l loud) Run(ctx context.Context, rig action.Rig) error {
	l.stage.absent.Done()
	if err := await(ctx, l.stage.set); err != nil {
		return err
	}
	for round := 0; ; round++ {
		for _, a := range l.noise(round) {
			if err := a.Run(ctx, rig); err != nil {
				return fmt.Errorf("round %d, %s: %w", round, a.Describe(), err)
			}
		}
		if round == 0 {
			l.stage.silent.Done()
		}
		select {
		case <-l.stage.over:
			return nil
		default:
		}
	}
}

// await waits for the other cells of a stage.
func await(ctx context.Context, others <-chan struct{}) error {
	select {
	case <-others:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the cells beside it: %w", context.Cause(ctx))
	}
}
