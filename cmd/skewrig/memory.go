package main

import (
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// relaxGC raises GOGC, capped by a memory limit of 1 GiB, unless the environment sets them: the components beside
// skewrig need the processor, and rarely the memory. This spares a tenth of what skewrig itself takes in a run.
func relaxGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(1 << 30)
	}
}

// minMemory is how much memory skewrig may use on any machine, in bytes.
const minMemory = 4 << 30

// boundMemory has Go end this process when it wants more than so many bytes. The scripts of simulated containers run
// in it, and what some of them (awk) do to a text can't be bounded one by one. What a rig runs ends then, as it does
// whenever skewrig is killed.
func boundMemory(bytes uint64) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_DATA, &limit) == nil {
		limit.Cur = min(limit.Max, bytes)
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &limit) // a kernel without it goes on without the bound
	}
}
