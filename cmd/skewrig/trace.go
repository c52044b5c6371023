package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
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
			if err := printTrace(cmd.OutOrStdout(), out, traced); err != nil {
				return app.Failed(err)
			}
			return traceCode(traced)
		},
	}
	out.register(cmd)
	cmd.Flags().StringVar(&kep, "kep", "", "only the requirements of this ledger, such as KEP-4939")
	return cmd
}

func printTrace(w io.Writer, out output, traced []reports.Traced) error {
	if out.json() {
		return printJSON(w, traced)
	}
	var rows []reports.Traced
	count := make(map[reports.TraceStatus]int)
	for _, status := range reports.TraceStatuses() {
		for _, t := range traced {
			if t.Status == status {
				rows = append(rows, t)
				count[status]++
			}
		}
	}
	err := table(w, "STATUS\tCHECKS\tREQUIREMENT\tWHY", rows, func(t reports.Traced) string {
		return fmt.Sprintf("%s\t%d\t%s\t%s", t.Status, t.Checks, t.ID, cmp.Or(t.Excluded, t.Manual))
	})
	var totals []string
	for _, status := range reports.TraceStatuses() {
		if count[status] > 0 {
			totals = append(totals, fmt.Sprintf("%d %s", count[status], status))
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "\n%d requirements: %s\n", len(rows), strings.Join(totals, ", "))
	}
	return err
}

func traceCode(traced []reports.Traced) error {
	is := func(wanted func(reports.TraceStatus) bool) bool {
		return slices.ContainsFunc(traced, func(t reports.Traced) bool { return wanted(t.Status) })
	}
	switch {
	case is(func(s reports.TraceStatus) bool { return s == reports.Refuted }):
		return exitCode(reports.ExitNonconforming)
	case is(func(s reports.TraceStatus) bool { return !s.Settled() }):
		return exitCode(reports.ExitNotJudged)
	default:
		return nil
	}
}
