package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/record"
)

// registerRuntime registers the flag that says which container runtime nodes have. It may be more than these: what that
// means is said.
func registerRuntime(cmd *cobra.Command, runtime *choice, said string, more ...string) {
	usage := "the container runtime of all nodes: simulated, or containerd, which has real containers and takes root" + said + " (default: what scenarios say, or simulated)"
	runtime.register(cmd, "runtime", "", "", usage, slices.Concat(record.Runtimes, more)...)
}
