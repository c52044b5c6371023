package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/scenarios/own"
)

var _ = register(startHere, newInit)

func newInit() *cobra.Command {
	var pod string
	var kep ledgerFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a catalog of your own, with a first scenario",
		Long: `Write a catalog into the working directory: ` + own.File + `, a scenario that upgrades the
node of a pod and takes it back, and its control, in which the pod's server becomes
unhealthy. --pod is the manifest of the pod, or of a Deployment, whose template is the
pod. Its ports and protocols are those of its probes; gates that its fields need are
on. Without it, the pod is a sample. With --kep, write what skewrig kep ledger writes.
No file is overwritten.

skewrig docs own-catalog is the guide.`,
		Example: `  skewrig init
  skewrig init --pod ./pod.yaml && skewrig run --dry-run
  skewrig init --kep README.md --gate GRPCContainerProbeTLS`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if kep.readme == "" && (kep.gate != "" || kep.object != "") {
				return errors.New("--gate and --object go with --kep")
			}
			if kep.readme != "" {
				return kep.write(cmd)
			}
			return printWritten(cmd)(app.Init(pod))
		},
	}
	cmd.Flags().StringVar(&pod, "pod", "", "the manifest of a pod or a Deployment")
	cmd.Flags().StringVar(&kep.readme, "kep", "", "the README of a KEP; takes --gate")
	kep.register(cmd)
	cmd.MarkFlagsMutuallyExclusive("pod", "kep")
	cmd.MarkFlagsRequiredTogether("kep", "gate")
	return cmd
}

// printWritten prints which files a catalog has that was written, and what to do next.
func printWritten(cmd *cobra.Command) func(files []string, err error) error {
	return func(files []string, err error) error {
		for _, name := range files {
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", name)
		}
		if err == nil {
			fmt.Fprint(cmd.OutOrStdout(), "\nNext: skewrig list, skewrig run --dry-run, skewrig run\n")
		}
		return err
	}
}

// ledgerFlags say for which KEP a catalog is written.
type ledgerFlags struct{ readme, gate, object string }

func (f *ledgerFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.gate, "gate", "", "the feature gate of the KEP")
	cmd.Flags().StringVar(&f.object, "object", "", "the manifest of an object that uses the feature (default: a sample pod, which does not)")
}

func (f *ledgerFlags) write(cmd *cobra.Command) error {
	return printWritten(cmd)(app.Scaffold(f.readme, f.gate, f.object))
}

func newLedger() *cobra.Command {
	var f ledgerFlags
	cmd := &cobra.Command{
		Use:   "ledger KEP.md --gate NAME",
		Short: "Write the ledger of a KEP, with first scenarios that run as they are",
		Long: `Write a catalog into the working directory for the KEP whose README this is, in the format of
kubernetes/enhancements: a ledger with its sentences by line, the criteria of its graduation
and the questions of its production-readiness review; and scenarios around an object that
uses the feature: the gate is turned off and on, all is upgraded, rolled back and upgraded,
nodes are older, one API server is older, and a control plane with the gate off is compared
with the release before. No file is overwritten.

skewrig docs keps is the guide.`,
		Example: `  skewrig kep ledger README.md --gate GRPCContainerProbeTLS --object ./deployment.yaml && skewrig run`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.readme = args[0]
			return f.write(cmd)
		},
	}
	f.register(cmd)
	_ = cmd.MarkFlagRequired("gate") // it exists
	return cmd
}
