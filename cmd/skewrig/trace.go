package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
)

func newTrace() *cobra.Command {
	var out output
	var kep string
	cmd := &cobra.Command{
		Use:   "trace DIR ...",
		Short: "Show which requirements the checks of runs prove",
		Long: `For each requirement of the ledgers, show whether the runs in the report
directories prove it, refute it, or don't test it, and why. A requirement without a
check is listed with the reason from the ledger.

Exit codes: 0 no requirement is open, 1 one is refuted, 2 one is untested or
unjudged, or the ledger and the checks contradict each other.`,
		Example: `  skewrig run '**' && skewrig trace report
  skewrig trace report --kep KEP-4939`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			traced, err := app.Trace(args, kep)
			if err != nil {
				return err
			}
			if err := printResult(cmd, out, traced, printTrace); err != nil {
				return err
			}
			return exit(traceCode(traced))
		},
	}
	out.register(cmd)
	cmd.Flags().StringVar(&kep, "kep", "", "only the requirements of this ledger, such as KEP-4939")
	return cmd
}

func printTrace(w io.Writer, traced []reports.Traced) {
	var rows []reports.Traced
	var totals []string
	for _, status := range reports.TraceStatuses() {
		before := len(rows)
		for _, t := range traced {
			if t.Status == status {
				rows = append(rows, t)
			}
		}
		if count := len(rows) - before; count > 0 {
			totals = append(totals, fmt.Sprintf("%d %s", count, status))
		}
	}
	table(w, "STATUS\tCHECKS\tREQUIREMENT\tWHY", rows, func(t reports.Traced) string {
		return fmt.Sprintf("%s\t%d\t%s\t%s", t.Status, t.Checks, t.ID, cmp.Or(t.Excluded, t.Manual))
	})
	fmt.Fprintf(w, "\n%d requirements: %s\n", len(rows), strings.Join(totals, ", "))
}

func traceCode(traced []reports.Traced) (code int) {
	for _, t := range traced {
		switch {
		case t.Status == reports.Refuted:
			return reports.ExitNonconforming
		case !t.Status.Settled():
			code = reports.ExitNotJudged
		}
	}
	return code
}
