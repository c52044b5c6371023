package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
)

var _ = register("", newSimulate)

func newSimulate() *cobra.Command {
	var out output
	var against, as string
	cmd := &cobra.Command{
		Use:   "simulate PATTERN | FILE ...",
		Short: "Simulate lease scenarios with models, in virtual time",
		Long: `Simulate scenarios with models of nodes, of the node-lifecycle controller and of
dependency-watchdog, in virtual time, and evaluate the same checks. Minutes take
milliseconds; no component starts. The outcomes are predictions of models, and no
evidence of what a release does. Cells with kubelets, and steps that the models
don't cover, are not applicable.

With --as, dependency-watchdog behaves as another release, or as its documentation
says (text). With --report, the outcome of each check is compared with a run.

Exit codes: 0 simulated, 1 a check has another outcome than in the run.`,
		Example: `  skewrig simulate 'dwd/**'
  skewrig simulate 'dwd/**' --as text
  skewrig run 'dwd/**' --report-dir dwd && skewrig simulate 'dwd/**' --report dwd`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			played, err := planning(cmd.Context(), func() ([]app.Simulated, error) { return app.Simulate(cmd.Context(), args, as, against) })
			if err != nil {
				return err
			}
			if err := printResult(cmd, out, played, printSimulated); err != nil {
				return err
			}
			if slices.ContainsFunc(played, func(s app.Simulated) bool { return len(s.Against) > 0 }) {
				return exitCode(reports.ExitNonconforming)
			}
			return nil
		},
	}
	out.register(cmd)
	cmd.Flags().StringVar(&as, "as", "", "the behavior of dependency-watchdog: text, or a release (default: the cell's)")
	cmd.Flags().StringVar(&against, "report", "", "the directory of a saved report to compare with")
	return cmd
}

func printSimulated(w io.Writer, played []app.Simulated) {
	table(w, "MODEL\tCELL\tREASON", played, func(s app.Simulated) string {
		return fmt.Sprintf("%s\t%s\t%s", s.Outcome, s.ID, s.Reason)
	})
	for _, s := range played {
		for _, c := range s.Checks {
			if ran, is := s.Against[c.ID]; is {
				fmt.Fprintf(w, "\n%s\n  check %s: model %s, run %s\n    expected  %s\n    observed  %s\n",
					s.ID, c.ID, c.Outcome, ran, c.Expected, cmp.Or(c.Observed, c.Reason))
			}
		}
	}
	fmt.Fprintf(w, "\n%d cells, simulated by models: no evidence of what a release does\n", len(played))
}
