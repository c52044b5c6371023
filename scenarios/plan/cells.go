package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// defaultWithin is how long a wait step waits that doesn't say.
const defaultWithin = behavior.Duration(time.Minute)

// defaultMetrics is what a scrape step reads that doesn't say.
const defaultMetrics = "/metrics"

// Cells returns the cells of scenarios, in the order of the files and, within a
// file, of its combinations. Two cells with the same id are an error: their
// results could not be told apart.
func Cells(files []*spec.File) ([]Cell, error) {
	var (
		cells    []Cell
		problems []error
	)
	first := make(map[string]string)
	for _, f := range files {
		for _, c := range f.Combinations {
			cell, err := newCell(f, c)
			if err != nil {
				problems = append(problems, fmt.Errorf("planning %s of %s: %w", cell.ID, f.Path, err))
				continue
			}
			if other, taken := first[cell.ID]; taken {
				problems = append(problems, fmt.Errorf("%s and %s both have a cell %s", other, f.Path, cell.ID))
				continue
			}
			first[cell.ID] = f.Path
			cells = append(cells, cell)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return cells, nil
}

func newCell(f *spec.File, c spec.Combination) (Cell, error) {
	s := c.Scenario
	area, _, _ := strings.Cut(s.ID, "/")
	cell := Cell{
		ID: s.ID, Scenario: s.ID, Area: area, Title: s.Title, Control: s.Control,
		File: f.Path, Text: f.Text, Images: s.Images, Places: places(f, s),
	}
	for _, axis := range c.Axes {
		cell.ID += "/" + axis.Name + ":" + axis.Value
		cell.Axes = append(cell.Axes, AxisValue(axis))
	}
	if err := cellid.Check(cell.ID); err != nil {
		return cell, err
	}
	var err error
	if cell.Topology, err = newTopology(s.Topology); err != nil {
		return cell, err
	}
	cell.Steps, err = newSteps(f, c)
	cell.Topology.Links = links(cell.Steps)
	for i := range cell.Topology.Nodes {
		cell.Topology.Nodes[i].OwnClock = setsClockOf(cell.Steps, cell.Topology.Nodes[i].Name)
	}
	return cell, err
}

// links returns the links that the steps need. Simulated nodes have theirs
// without it.
func links(steps []Step) []spec.Link {
	var all []spec.Link
	for _, step := range steps {
		if fault, is := step.Action.(Fault); is && fault.Link.To != spec.Runtime && spec.Program(fault.Link.From) != "" && !slices.Contains(all, fault.Link) {
			all = append(all, fault.Link)
		}
	}
	slices.SortFunc(all, func(a, b spec.Link) int { return strings.Compare(a.String(), b.String()) })
	return all
}

func newTopology(t spec.Topology) (Topology, error) {
	version, err := spec.ResolveVersion(t.ControlPlane.Version)
	if err != nil {
		return Topology{}, err
	}
	topology := Topology{
		Version: version, Gates: t.ControlPlane.Gates.Clone(),
		ControllerManager: t.ControlPlane.ControllerManager == nil || *t.ControlPlane.ControllerManager,
		Scheduler:         t.ControlPlane.Scheduler == nil || *t.ControlPlane.Scheduler,
	}
	for _, n := range t.Nodes {
		version, err := spec.ResolveNode(n.Version)
		if err != nil {
			return Topology{}, err
		}
		topology.Nodes = append(topology.Nodes, Node{Name: n.Name, Version: version, Gates: n.Gates.Clone(), Standalone: n.Standalone})
	}
	if m := t.ControlPlane.NodeMonitor; m != nil {
		topology.NodeMonitor = NodeMonitor{Period: scale(t, time.Duration(m.Period)), Grace: scale(t, time.Duration(m.Grace))}
	}
	topology.LeaseNodes = newLeaseNodes(t)
	topology.Garden, err = newGarden(t)
	return topology, err
}

// newSteps numbers the steps and follows what is in force at each of them. A
// step that is not for this combination leaves a gap in the numbers, so that a
// step has the same number in all cells.
func newSteps(f *spec.File, c spec.Combination) ([]Step, error) {
	s := c.Scenario
	rig, conflicts := spec.NewRig(s.Topology)
	var steps []Step
	for i, step := range s.Steps {
		if step.Skipped {
			continue
		}
		at := "steps[" + strconv.Itoa(i) + "]"
		action, err := newAction(f, &c, i, rig)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		conflicts = append(conflicts, rig.Do(step)...)
		steps = append(steps, Step{
			Number: i + 1, Name: spec.StepName(i, step), Line: f.Position(at).Line,
			Kind: step.Kind(), Run: step.Run, Action: action, Components: running(rig),
		})
	}
	// A decoded file has no conflicts. One that was put together otherwise may.
	var problems []error
	for _, c := range conflicts {
		problems = append(problems, fmt.Errorf("%s: %s", c.Field, c.Message))
	}
	return steps, errors.Join(problems...)
}

func running(rig *spec.Rig) []Component {
	var components []Component
	for _, c := range rig.Components() {
		if c.Running {
			components = append(components, Component{Name: c.Name, Version: c.Version, Gates: c.Gates})
		}
	}
	return components
}

// newAction returns what step i does to a rig as it is before the step.
func newAction(f *spec.File, c *spec.Combination, i int, rig *spec.Rig) (Action, error) {
	step := c.Scenario.Steps[i]
	switch {
	case step.Patch != nil:
		ref, err := spec.ParseObjectRef(step.Patch.Object)
		merge, _ := clone(step.Patch.Merge).(map[string]any)
		return Patch{Object: ref, Merge: merge, Rejected: step.Rejected}, err
	case step.StaticPod != nil:
		pod, _ := clone(step.StaticPod.Pod).(map[string]any)
		return StaticPod{Node: step.StaticPod.Node, Pod: pod, Remove: step.StaticPod.Remove}, nil
	case step.Delete != "":
		ref, err := spec.ParseObjectRef(step.Delete)
		return Delete{Object: ref}, err
	case step.Restart != nil:
		return newRestart(*step.Restart, rig)
	case step.Start != nil:
		return newRestart(*step.Start, rig)
	case step.Stop != "":
		return Stop{Component: step.Stop}, nil
	case step.Kill != "":
		return Stop{Component: step.Kill, Kill: true}, nil
	case step.Wait != nil:
		return Wait{Until: step.Wait.Until, Within: cmp.Or(step.Wait.Within, defaultWithin)}, nil
	case step.Scrape != nil:
		return Scrape{Component: step.Scrape.Component, Path: cmp.Or(step.Scrape.Path, defaultMetrics)}, nil
	case step.Log != nil:
		return Log(*step.Log), nil
	case step.PodsAPI != nil:
		return newPodsAPI(*step.PodsAPI), nil
	case step.Cut != nil:
		return Fault{Link: spec.ParseLink(step.Cut.From), Fault: step.Cut.Fault()}, nil
	case step.Slow != nil:
		return Fault{Link: spec.ParseLink(step.Slow.From), Fault: step.Slow.Fault()}, nil
	case step.Answer != nil:
		return Fault{Link: spec.ParseLink(step.Answer.From), Fault: step.Answer.Fault()}, nil
	case step.Heal != "":
		return Fault{Link: spec.ParseLink(step.Heal)}, nil
	case step.Clock != nil:
		return newClock(*step.Clock), nil
	case step.Checks != nil:
		return newChecks(f, c, i, rig)
	default:
		return newApply(step), nil
	}
}

// defaultEvery is how often a poll asks that does not say it.
const defaultEvery = behavior.Duration(time.Millisecond)

func newPodsAPI(p spec.PodsAPI) PodsAPI {
	return PodsAPI{
		Node: p.Node, Call: p.Call, Pod: p.Pod, UID: p.UID, Fields: p.Fields, Of: p.Of,
		Every: cmp.Or(p.Every, defaultEvery), Times: p.Times, Pause: p.Pause,
	}
}

func newApply(step spec.Step) Apply {
	apply := Apply{File: step.File, Rejected: step.Rejected}
	for _, object := range step.Manifests() {
		copied, _ := clone(object).(map[string]any)
		apply.Objects = append(apply.Objects, copied)
	}
	return apply
}

func newRestart(change spec.Restart, rig *spec.Rig) (Restart, error) {
	before, _ := rig.Component(change.Component)
	restart := Restart{
		Component: change.Component, Gates: change.Gates.Clone(),
		Unset: slices.Clone(change.Unset), Stopped: !before.Running,
	}
	if change.Version == "" {
		return restart, nil
	}
	var err error
	restart.Version, err = spec.ResolveVersion(change.Version)
	return restart, err
}

// newChecks returns those checks of step i that are for the rig as it is.
func newChecks(f *spec.File, combination *spec.Combination, i int, rig *spec.Rig) (Checks, error) {
	var checks Checks
	for j, c := range combination.Scenario.Steps[i].Checks {
		applies, err := rig.Applies(c.When, combination.Axes)
		if err != nil {
			return checks, fmt.Errorf("check %s: %w", c.ID, err)
		}
		if !applies {
			continue
		}
		check := Check{
			ID: c.ID, Requirement: c.Requirement, Observe: c.Observe, Must: c.Must,
			Line: f.Position(fmt.Sprintf("steps[%d].checks[%d]", i, j)).Line,
		}
		if c.Is != nil {
			check.Is = clone(*c.Is)
		}
		if err := setMode(&check, c, &combination.Scenario); err != nil {
			return checks, fmt.Errorf("check %s: %w", c.ID, err)
		}
		checks.Checks = append(checks.Checks, check)
	}
	return checks, nil
}

// setMode sets when a check must hold, and for how long it is watched.
func setMode(check *Check, c spec.Check, s *spec.Scenario) (err error) {
	switch {
	case c.Eventually != 0:
		check.Mode, check.Span = Eventually, time.Duration(c.Eventually)
	case c.Always != nil:
		check.Mode = Always
		check.Span, err = s.Length(*c.Always)
	case c.Never != nil:
		check.Mode = Never
		check.Span, err = s.Length(*c.Never)
	case c.AtMost != nil:
		check.Mode, check.Times = AtMost, c.AtMost.Times
		check.Span, err = s.Length(c.AtMost.Span())
	default:
		check.Mode = Now
	}
	return err
}

// clone copies a JSON value, so that cells which run at the same time don't
// share the manifests of a file.
func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for key, v := range value {
			copied[key] = clone(v)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, v := range value {
			copied[i] = clone(v)
		}
		return copied
	default:
		return value
	}
}
