package app

import "runtime"

// Parallel is the default of how many control planes start at the same time. It follows the
// cores and the memory: a rig keeps a core busy while it starts, and is mostly idle afterwards.
func Parallel() int {
	return max(1, min(2*runtime.NumCPU()+1, int(Host().MemoryBytes/rigMemory)))
}

// rigMemory is what rigs may need where one starts, in bytes: three run there once they are up.
const rigMemory = 3 << 30
