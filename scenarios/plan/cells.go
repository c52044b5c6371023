package plan

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Cells returns the cells of scenarios, in the order of the files and, within a
// file, of its combinations. Two cells with the same id are an error: their
// results could not be distinguished.
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

// Parts returns the cells of a file that has problems, with what of them could be decoded. More may be wrong with that.
func Parts(f *spec.File) (cells []Cell) {
	for _, c := range f.Combinations {
		cell, _ := newCell(f, c) // what is wrong with it is reported
		cells = append(cells, cell)
	}
	return cells
}

func newCell(f *spec.File, c spec.Combination) (Cell, error) {
	s := c.Scenario
	area, _, _ := strings.Cut(s.ID, "/")
	cell := Cell{
		Scenario: s.ID, Area: area, Title: s.Title, Control: s.Control,
		File: f.Path, Text: f.Text, Axes: c.Axes, Cells: len(f.Combinations), Images: s.Images, Uses: f.Uses(c), Places: places(f, s), FlagPlaces: flagPlaces(f, s), Outside: outside(f, s),
	}
	cell.ID = idOf(s.ID, c.Axes)
	if s.Compare != nil && !maps.Equal(s.Compare.Partner(f.Releases, c.Axes), c.Axes) {
		cell.Compare, cell.With, cell.CompareLine = s.Compare, idOf(s.ID, s.Compare.Partner(f.Releases, c.Axes)), f.Position("compare").Line
	}
	rig, conflicts := spec.NewRig(s.Topology, c.Axes, f.Releases)
	cell.Topology = newTopology(s.Topology, rig)
	var err error
	cell.Steps, err = newSteps(f, c, rig, conflicts)
	if cell.Unfit = strings.Join(c.Unfit, "; "); cell.Unfit != "" {
		err = nil // it is a consequence
	}
	if wrong := cellid.Check(cell.ID); wrong != nil {
		err = wrong
	}
	cell.Topology.Links, cell.Topology.Inspected = links(cell), inspected(cell)
	for i := range cell.Topology.Nodes {
		cell.Topology.Nodes[i].OwnClock = setsClockOf(cell.Steps, cell.Topology.Nodes[i].Name)
	}
	return cell, err
}

// idOf is the id of a cell: the scenario's with the values of its axes.
func idOf(scenario string, axes map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		scenario += "/" + name + ":" + axes[name]
	}
	return scenario
}

// inspected are the components whose requests a fault of the cell may be about.
func inspected(cell Cell) (all []string) {
	for _, step := range cell.Steps {
		if from := step.Action.Facts().Inspects; from != "" && !slices.Contains(all, from) {
			all = append(all, from)
		}
	}
	return all
}

// links returns the links that a cell needs: those that its steps make faulty or lead
// elsewhere, and those of what connects to several API servers in turn. Simulated nodes have
// those that can be faulty without it.
func links(cell Cell) (all []spec.Link) {
	add := func(l spec.Link) {
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	lead := func(from string) {
		if from != spec.Watchdog { // which has one anyway
			add(spec.Link{From: from, To: spec.APIServer})
		}
	}
	for _, step := range cell.Steps {
		for _, link := range step.Action.Facts().Links {
			add(link)
		}
	}
	for _, c := range initial(cell.Topology) {
		if len(c.Via) > 1 {
			lead(c.Name)
		}
	}
	if l := cell.Topology.LeaseNodes; l != nil && len(l.Via) > 1 {
		lead(spec.LeasingNodes)
	}
	slices.SortFunc(all, func(a, b spec.Link) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// newTopology returns a topology with the releases of the rig at its beginning.
func newTopology(t spec.Topology, rig *spec.Rig) record.Topology {
	topology := record.Topology{Version: rig.Servers()[0].Version, Gates: rig.Servers()[0].Gates, TimeScale: t.TimeScale}
	addControlPlane(&topology, rig.ControlPlane())
	topology.PeerProxy = t.ControlPlane.PeerProxy
	etcd, _ := rig.Component(spec.Etcd)
	topology.Etcd = etcd.Settings
	for _, n := range t.Nodes {
		c, _ := rig.Component(spec.KubeletPrefix + n.Name)
		topology.Nodes = append(topology.Nodes, record.Node{
			Name: n.Name, Version: c.Version, Gates: c.Gates, Via: n.Via, Settings: c.Settings, Standalone: n.Standalone, Defaults: n.Defaults,
			Runtime: runtimeOf(n.Runtime), RuntimeHandlers: n.RuntimeHandlers, Endpoints: n.Endpoints,
		})
	}
	if m := t.ControlPlane.NodeMonitor; m != nil {
		topology.NodeMonitor = record.NodeMonitor{Period: scale(t, time.Duration(m.Period)), Grace: scale(t, time.Duration(m.Grace))}
	}
	topology.LeaseNodes = newLeaseNodes(t)
	watchdog, _ := rig.Component(spec.Watchdog)
	topology.Garden = newGarden(t, watchdog.Version)
	return topology
}

// addControlPlane says in a topology what its control plane is, one by one if it has more than
// one of each.
func addControlPlane(t *record.Topology, components []spec.Component) {
	var members []record.Component
	for _, c := range components {
		t.ControllerManager = t.ControllerManager || spec.Program(c.Name) == spec.ControllerManager
		t.Scheduler = t.Scheduler || spec.Program(c.Name) == spec.Scheduler
		members = append(members, inForce(c))
	}
	if !reflect.DeepEqual(members, t.ControlPlane()) {
		t.Members = members
	}
}

// inForce is a component as a plan has it.
func inForce(c spec.Component) record.Component {
	return record.Component{Name: c.Name, Version: c.Version, Gates: c.Gates, Via: c.Via, Settings: c.Settings}
}

// newSteps numbers the steps and follows what is in force at each of them. A
// step that is not for this combination leaves a gap in the numbers, so that a
// step has the same number in all cells. One that can't be planned is left out.
func newSteps(f *spec.File, c spec.Combination, rig *spec.Rig, conflicts []spec.Conflict) ([]Step, error) {
	var steps []Step
	var problems []error
	for i, step := range c.Scenario.Steps {
		if step.Skipped {
			continue
		}
		at := "steps[" + strconv.Itoa(i) + "]"
		act, err := newAction(f, c, i, rig)
		if err != nil {
			problems = append(problems, fmt.Errorf("step %d: %w", i+1, err))
		}
		if act == nil {
			continue
		}
		conflicts = append(conflicts, rig.Do(step)...)
		steps = append(steps, Step{
			Number: i + 1, Name: spec.StepName(i, step), Line: f.Position(at).Line,
			Kind: step.Kind, Run: step.Run, Via: step.Via, Refusable: step.Refusable, Action: act, Components: running(rig),
		})
	}
	// A decoded file has no conflicts. One that was put together otherwise may.
	for _, c := range conflicts {
		problems = append(problems, fmt.Errorf("%s: %s", c.Field, c.Message))
	}
	return steps, errors.Join(problems...)
}

func running(rig *spec.Rig) []record.Component {
	var components []record.Component
	for _, c := range rig.Components() {
		if c.Running {
			components = append(components, inForce(c))
		}
	}
	return components
}

// newAction returns what step i does to a rig as it is before the step.
func newAction(f *spec.File, c spec.Combination, i int, rig *spec.Rig) (action.Action, error) {
	step := c.Scenario.Steps[i]
	switch act := step.Action.(type) {
	case action.Planner:
		return act.Plan(action.Scene{
			Scenario: &c.Scenario, Step: step, Name: spec.StepName(i, step), Rig: rig,
			Line: func(part string) int { return f.Position(fmt.Sprintf("steps[%d].%s%s", i, step.Kind, part)).Line },
		})
	case action.Action:
		return act, nil
	default:
		return nil, fmt.Errorf("no such action: %T", step.Action)
	}
}
