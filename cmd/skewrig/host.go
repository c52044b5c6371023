package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

// registerAllowHost registers the flag that lets scenarios reach beyond their rigs.
func registerAllowHost(cmd *cobra.Command, allowed *bool) {
	cmd.Flags().BoolVar(allowed, strings.TrimPrefix(app.AllowHost, "--"), false,
		"let scenarios use this machine: paths, programs and addresses in flags and config, real hostPath directories, other addresses than the rig's, privileged real pods")
}
