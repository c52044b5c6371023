package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

func newScaffold() *cobra.Command {
	var gate, object string
	cmd := &cobra.Command{
		Use:   "scaffold KEP.md --gate NAME",
		Short: "Make a catalog for a KEP, with first scenarios that run as they are",
		Long: `Make a catalog in the working directory for the KEP whose README this is, in the format of
kubernetes/enhancements: a ledger with its sentences by line, the criteria of its graduation
and the questions of its production-readiness review; and scenarios around an object that
uses the feature: the gate is turned off and on, all is upgraded, rolled back and upgraded,
nodes are older, one API server is older, and a control plane with the gate off is compared
with the release before. No file is overwritten.

skewrig docs kep is the guide.`,
		Example: `  skewrig scaffold README.md --gate GRPCContainerProbeTLS --object ./deployment.yaml && skewrig run`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := app.Scaffold(args[0], gate, object)
			for _, name := range files {
				fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", name)
			}
			if err == nil {
				fmt.Fprint(cmd.OutOrStdout(), "\nNext: skewrig list, skewrig plan, skewrig run\n")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&gate, "gate", "", "the feature gate of the KEP")
	cmd.Flags().StringVar(&object, "object", "", "the manifest of an object that uses the feature (default: a sample pod, which does not)")
	_ = cmd.MarkFlagRequired("gate") // the flag is there
	return cmd
}
