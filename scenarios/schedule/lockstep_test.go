package schedule

import (
	"slices"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestLockstepGroups(t *testing.T) {
	t.Parallel()
	off := action.Restart{Component: "kube-apiserver", Gates: release.Gates{"A": false}}
	on := action.Restart{Component: "kube-apiserver", Gates: release.Gates{"A": true}}
	cell := func(id string, actions ...action.Action) plan.Cell {
		c := plan.Cell{ID: id}
		for _, a := range actions {
			c.Steps = append(c.Steps, plan.Step{Action: a})
		}
		return c
	}
	cleanup := cell("cleanup", off)
	cleanup.Steps[0].Run = record.Cleanup
	older := cell("older", off)
	older.Topology.Version = "v1.89.3"
	mayEnd := cell("may-end", off)
	mayEnd.Topology.MayEnd = []string{"kube-apiserver"}
	cells := []plan.Cell{
		cell("on", on),
		cell("off-on", off, action.Wait{}, on),
		cell("off", off),
		cell("off-too", action.Wait{}, off, action.Checks{}),
		cell("off-off", off, off),
		cell("metrics", off, action.Scrape{Component: "kube-apiserver"}),
		cell("own-metrics", off, action.Scrape{Component: "kubelet/a"}),
		cell("watched", action.Stop{Component: "kube-apiserver", Within: 1}),
		cleanup, older, mayEnd,
	}
	var got [][]string
	for _, g := range Groups(cells, 4) {
		var ids []string
		for _, i := range g.InStep {
			ids = append(ids, cells[i].ID)
		}
		got = append(got, ids)
	}
	slices.SortFunc(got, slices.Compare)
	want := [][]string{
		{"cleanup"}, {"may-end"}, {"metrics"}, {"off", "off-too", "own-metrics", "off-off"}, {"off-on"}, {"older"}, {"on"}, {"watched"},
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("lockstep groups %q, want %q", got, want)
	}
	if alone := Groups([]plan.Cell{cells[2], cells[3]}, 1); len(alone) != 2 {
		t.Errorf("groups %+v, want one each where only one cell runs at a time", alone)
	}
}
