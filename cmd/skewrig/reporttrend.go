package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
)

// trended is a worst case with the report that it is of.
type trended struct {
	Report string `json:"report"`
	reports.WorstCase
}

func newTrend() *cobra.Command {
	var out output
	var dirs []string
	cmd := &cobra.Command{
		Use:   "trend [DIR ...]",
		Short: "Show how many statements hold in every skew cell, by release and run",
		Long: `For each enhancement, and each release in it, count the statements that every cell of
the saved runs proves, among those with a combination of releases that Kubernetes
supports. The cells that keep it from being all are listed with --output json; the first
is printed. A release is the newest one of a cell.`,
		Example: `  skewrig report trend
  skewrig report trend report-v1.36 report-v1.37 -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all := []trended{}
			for _, dir := range dirsOr(dirs, args) {
				report, err := app.ReadReport(dir)
				if err != nil {
					return err
				}
				for _, w := range reports.WorstCases(report) {
					all = append(all, trended{dir, w})
				}
			}
			return printResult(cmd, out, all, printTrend)
		},
	}
	out.register(cmd)
	registerReports(cmd, &dirs)
	return cmd
}

func printTrend(w io.Writer, all []trended) {
	table(w, "ENHANCEMENT\tRELEASE\tPROVED\tREPORT\tBLOCKED BY", all, func(t trended) string {
		return fmt.Sprintf("%s\t%s\t%d of %d\t%s\t%s", t.KEP, cmp.Or(t.Release, "all"), t.Proved, t.Of, t.Report, cmp.Or(t.KeptBy(), "-"))
	})
}
