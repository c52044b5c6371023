package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "skewrig",
		Short: "Real Kubernetes components of any mix of releases, without containers",
		Long: `skewrig runs real Kubernetes components of any mix of releases and feature
gates, without containers and without root, through declarative scenarios, and
reports what they did.

Exit codes: 0 all as expected, 1 a nonconformance, 2 not judged, 3 wrong usage.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	registerLevel(root)
	root.AddCommand(newBuild(), newUp(), newList(), newPlan(), newRun(), newJudge(), newReport(), newDiff(), newTrace(), newGraduate(), newPRR(), newSimulate(), newPodsAPI(), newSchema(), newDocs())
	registerCompletions(root)
	return root
}

// version is the version of this skewrig: the module's, or the commit it was
// built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}

// output is the format of what a command prints.
type output struct{ format string }

func (o *output) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "text", "text or json")
	completeFormats(cmd, []string{"text", "json"})
}

func (o *output) check() error {
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--output is %q; it can be text or json", o.format)
	}
	return nil
}

func (o *output) json() bool { return o.format == "json" }

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
