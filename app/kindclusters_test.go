package app

import (
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestNodeImagesThatAreNotUsed: a node image is of a release that a cell needs which can run on a kind cluster.
func TestNodeImagesThatAreNotUsed(t *testing.T) {
	t.Parallel()
	topology := record.Topology{Version: "v1.90.1", ControllerManager: true, Scheduler: true, Nodes: []record.Node{{Name: "node-a", Version: "v1.89.3"}}}
	cells := []plan.Cell{{ID: "a", Topology: topology}}
	reboots := plan.Cell{ID: "b", Topology: topology, Steps: []plan.Step{{Number: 1, Kind: "reboot", Action: action.Reboot("node-a")}}}
	reboots.Topology.Version = "v1.88.4"
	for _, c := range []struct {
		images []string
		want   string
	}{
		{nil, ""},
		{[]string{"v1.90.1=a", "v1.89.3=b"}, ""},
		{[]string{"v1.88.4=c", "v1.90.1=a", "d"}, "--node-image d: write RELEASE=IMAGE, for example " + string(release.Newest) + "=kindest/node:" + string(release.Newest) + "\n" +
			"--node-image v1.88.4=c is of a release that no selected cell needs; the cells need [v1.90.1 v1.89.3]"},
	} {
		got := ""
		if err := (KindClusters{NodeImages: c.images}).CheckUsed(append(cells, reboots)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: said\n%s\nwant\n%s", c.images, got, c.want)
		}
	}
}
