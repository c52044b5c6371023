package app

import (
	"os"
	"slices"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// BothRuntimes is instead of a container runtime that cells run on each, and are compared.
const BothRuntimes = "both"

// OnRuntime returns cells whose nodes have a container runtime, or that of their scenarios if it is
// unset. On both, each cell is two. It is an error if this machine can't have nodes that they need: all that is missing.
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
