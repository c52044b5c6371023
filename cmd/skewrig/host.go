package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/process"
)

// registerAllowHost registers the flag that lets scenarios reach beyond their rigs.
func registerAllowHost(cmd *cobra.Command, allowed *bool) {
	cmd.Flags().BoolVar(allowed, strings.TrimPrefix(app.AllowHost, "--"), false,
		"let scenarios use this machine: paths, programs and addresses in flags and config, real hostPath directories, other addresses than the rig's, privileged real pods")
}

// warnUnconfined says before the user's own scenarios run that the kernel can't confine components.
func warnUnconfined(cmd *cobra.Command, args []string, allowed bool) {
	if !allowed && !process.Confines() && slices.ContainsFunc(args, app.IsFile) {
		fmt.Fprintln(cmd.ErrOrStderr(), "This kernel can't confine components to their rig (that takes Landlock, of Linux 5.19 or newer): run no scenario of a stranger")
	}
}
