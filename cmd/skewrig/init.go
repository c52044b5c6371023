package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/scenarios/own"
)

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Make a catalog of your own, with a first scenario for your pod",
		Long: `Make a catalog in the working directory: ` + own.File + `, a scenario that upgrades the
node of a pod and takes it back, and its control, in which the pod's server becomes
unhealthy. FILE is the manifest of the pod, or of a Deployment, whose template is the
pod. Its ports and protocols are those of its probes; gates that its fields need are
on. Without FILE, the pod is a sample. No file is overwritten.

skewrig docs own-catalog is the guide.`,
		Example: `  skewrig init
  skewrig init ./pod.yaml && skewrig plan`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			manifest := ""
			if len(args) > 0 {
				manifest = args[0]
			}
			files, err := app.Init(manifest)
			for _, name := range files {
				fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", name)
			}
			if err == nil {
				fmt.Fprint(cmd.OutOrStdout(), "\nNext: skewrig list, skewrig plan, skewrig run\n")
			}
			return err
		},
	}
}
