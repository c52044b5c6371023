package app

import "runtime"

// Parallel is the default number of cells that run at the same time. It follows the cores
// and the memory: a rig keeps a core busy while it starts, and is mostly idle afterwards.
func Parallel() int {
	return max(1, min(2*runtime.NumCPU()+1, int(Host().MemoryBytes/rigMemory)))
}

// rigMemory is what a rig may need, in bytes.
const rigMemory = 1 << 30
