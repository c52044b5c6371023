package app

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Up starts the rig of a cell, whose own mapping of images comes after that of played.
// If history is set, what happens is recorded there. What reaches beyond the rig must be allowed.
func Up(ctx context.Context, cell plan.Cell, played images.Played, builder *build.Builder, history record.Recorder, allowHost bool) (*rig.Rig, error) {
	played.Images = slices.Concat(played.Images, cell.Images)
	library, err := played.Library(ctx, builder)
	if err != nil {
		return nil, err
	}
	config := rig.WithContainers(ctx, rig.ClusterConfig(cell.Topology, library, history), images.NewContainers(played, builder.Binary, cell))
	config.AllowHost, config.Binary, config.Purpose = allowHost, builder.Binary, "up"
	c, err := rig.Start(ctx, cell.Topology, config)
	return c, Failed(err)
}

// UpCell is the cell whose topology is wanted: one cell of what the argument names,
// or the cluster file of kind, of which what makes no difference is reported to w. Without
// an argument, it is the newest release with one node of it and one of the release
// before.
func (c Catalog) UpCell(w io.Writer, args []string) (plan.Cell, error) {
	newest, previous := c.Releases.Pair()
	if len(args) == 0 {
		return c.onSources(plan.Cell{Topology: record.Topology{
			Version: newest, ControllerManager: true, Scheduler: true,
			Nodes: []record.Node{
				{Name: "node-a", Version: newest},
				{Name: "node-b", Version: previous},
			},
		}}), nil
	}
	if IsFile(args[0]) {
		if cell, isKind, err := kindCell(w, args[0], newest); isKind || err != nil {
			return c.onSources(cell), err
		}
	}
	cells, err := c.Select(args)
	if err != nil {
		return plan.Cell{}, err
	}
	if len(cells) != 1 {
		return plan.Cell{}, fmt.Errorf("%s selects %d cells, but up needs one: %s", args[0], len(cells), cellIDs(cells))
	}
	return cells[0], nil
}

// onSources is a cell without steps whose releases the sources stand in for.
func (c Catalog) onSources(cell plan.Cell) plan.Cell {
	t := &cell.Topology
	members := slices.Clone(t.ControlPlane())
	for i, m := range members {
		members[i].Version = c.Releases.Sources.Of(spec.Program(m.Name), m.Version)
		if members[i].Version != m.Version {
			t.Version, t.Members = members[0].Version, members
		}
	}
	for i, n := range t.Nodes {
		t.Nodes[i].Version = c.Releases.Sources.Of(spec.Program(spec.KubeletPrefix+n.Name), n.Version)
	}
	return cell
}
