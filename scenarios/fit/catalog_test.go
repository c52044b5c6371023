package fit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/lint"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// onCluster reports whether a cell can run on some existing cluster that may be used so.
func onCluster(use fit.Use) func(plan.Cell) bool {
	return func(cell plan.Cell) bool { return len(use.Itself(cell)) == 0 }
}

// TestTheCatalogOnRealContainers: the documentation says how many cells of the catalog can run in each way.
func TestTheCatalogOnRealContainers(t *testing.T) {
	t.Parallel()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range cells {
		if cells[i].Topology, err = lint.Needs(cell); err != nil {
			t.Fatal(err)
		}
	}
	count := func(can func(plan.Cell) bool) (n int) {
		for _, cell := range cells {
			if can(cell) {
				n++
			}
		}
		return n
	}
	containerd := count(func(cell plan.Cell) bool {
		on := plan.OnRuntime([]plan.Cell{cell}, record.Containerd)[0]
		return plan.HasContainers(on) && plan.Untestable(on) == ""
	})
	text, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("| cells of the catalog that can run, of %d | %d | %d | %d, and %d without a mock image |",
		len(cells), containerd, count(onCluster(fit.Made)), count(onCluster(fit.Use{Containers: true})), count(onCluster(fit.Use{})))
	if !strings.Contains(string(text), want) {
		t.Errorf("docs/clusters.md does not say: %s", want)
	}
}

// TestAPlayerImageIsForTheWire: cells that read it need one on a cluster of the user's.
func TestAPlayerImageIsForTheWire(t *testing.T) {
	t.Parallel()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, cell := range cells {
		switch cell.Scenario {
		case "kep-4939/e2e/tls-probe-plaintext-server", "kep-5999/e2e/http2-probe-h2c-server":
			seen++
			if onCluster(fit.Use{})(cell) || !onCluster(fit.Use{Containers: true})(cell) {
				t.Errorf("%s fits without a player image, or does not with one", cell.ID)
			}
		}
	}
	if seen == 0 {
		t.Error("none of the cells is in the catalog")
	}
}
