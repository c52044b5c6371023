package app

import (
	"os"
	"slices"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// BothRuntimes has each cell run on both container runtimes, and compares the two.
const BothRuntimes = "both"

// OnRuntime returns the cells with a container runtime on their nodes; if runtime is unset, with that of their scenarios.
// With BothRuntimes, there are two of each. It is an error if this machine can't have nodes that they need: all that is
// missing.
func OnRuntime(cells []plan.Cell, runtime string) ([]plan.Cell, error) {
	switch runtime {
	case "":
	case BothRuntimes:
		both, err := onBoth(cells)
		if err != nil {
			return nil, err
		}
		cells = both
	default:
		cells = plan.OnRuntime(cells, runtime)
	}
	if !slices.ContainsFunc(cells, plan.HasContainers) {
		return cells, nil
	}
	return cells, containerd.LookUp(os.TempDir()).Check()
}

// onBoth returns each cell on both runtimes.
func onBoth(cells []plan.Cell) ([]plan.Cell, error) {
	differences, err := catalog.RealDifferences()
	return plan.OnBoth(cells, differences), err
}
