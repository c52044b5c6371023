package app

import (
	"runtime"
	"slices"

	"github.com/skewrig/skewrig/scenarios/plan"
)

// Parallel is the default number of cells that run at the same time. It follows the cores
// and the memory: a rig keeps a core busy while it starts, and is mostly idle afterwards.
func Parallel() int {
	return max(1, min(2*runtime.NumCPU()+1, int(Host().MemoryBytes/rigMemory)))
}

// rigMemory is what a rig may need, in bytes.
const rigMemory = 1 << 30

// rigInstances is how many inotify instances a rig has room for whose nodes have real containers: a
// control plane has eight, and each such node has six.
const rigInstances = 20

// within is how many of some cells run at the same time, where so many are to: no more than this machine
// has inotify instances for, without which no kubelet of a node with real containers starts. It is at least 1.
func within(cells []plan.Cell, parallel, instances int) int {
	if instances > 0 && slices.ContainsFunc(cells, plan.HasContainers) {
		parallel = min(parallel, instances/rigInstances)
	}
	return max(parallel, 1)
}
