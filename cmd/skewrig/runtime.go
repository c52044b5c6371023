package main

import (
	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/record"
)

// registerRuntime registers the flag that says which container runtime nodes have.
func registerRuntime(cmd *cobra.Command, runtime *choice) {
	runtime.register(cmd, "runtime", "", "", "the container runtime of all nodes: simulated, or containerd, which has real containers and takes root (default: what scenarios say, or simulated)", record.Runtimes...)
}
