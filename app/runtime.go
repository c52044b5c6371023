package app

import (
	"os"
	"slices"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// OnRuntime returns cells whose nodes have a container runtime, or that of their scenarios if it is
// unset. It is an error if this machine can't have nodes that they need: all that is missing.
func OnRuntime(cells []plan.Cell, runtime string) ([]plan.Cell, error) {
	if runtime != "" {
		cells = plan.OnRuntime(cells, runtime)
	}
	if !slices.ContainsFunc(cells, plan.HasContainers) {
		return cells, nil
	}
	return cells, containerd.LookUp(os.TempDir()).Check()
}
