package app

import (
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	simulated := []plan.Cell{{Topology: record.Topology{Nodes: []record.Node{{Name: "a"}}}}}
	real := plan.OnRuntime(simulated, record.Containerd)
	for _, c := range []struct {
		cells                     []plan.Cell
		parallel, instances, want int
	}{
		{simulated, 17, 128, 17},
		{real, 17, 128, 6},
		{real, 5, 128, 5},
		{real, 5, 10, 1},
		{real, 5, 0, 5},
		{simulated, 0, 128, 1},
	} {
		if got := within(c.cells, c.parallel, c.instances); got != c.want {
			t.Errorf("%d of %d with %d instances, of nodes on %q: want %d", got, c.parallel, c.instances, c.cells[0].Topology.Nodes[0].Runtime, c.want)
		}
	}
}
