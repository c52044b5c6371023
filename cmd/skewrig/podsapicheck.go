package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/podsapi/conformance"
)

func newPodsCheck() *cobra.Command {
	var out output
	var socket socketFlag
	var known deviations
	var dir string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Hold whatever serves the Pods API at a socket against KEP-4188",
		Long: `Ask whatever serves the Pods API at a socket, a real machine's kubelet too, and
judge the answers by the statements of KEP-4188 that can be judged from there. It
reads only, but it asks 600 times within a second or two, to see whether the rate is
limited. Nothing else of a rig is run.

Exit codes: 0 all as expected, 1 a nonconformance, 2 not judged, 3 wrong usage.`,
		Example: `  sudo skewrig podsapi check --report-dir report
  skewrig podsapi check --socket ./pods/kubelet.sock -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			list, err := known.load()
			if err != nil {
				return err
			}
			if dir != "" {
				if err := app.CheckReportDir(dir); err != nil {
					return err
				}
			}
			path, err := socket.find()
			if err != nil {
				return err
			}
			report, err := checkSocket(cmd, list, path)
			if err != nil {
				return app.Failed(err)
			}
			return finishCheck(cmd, out, report, dir)
		},
	}
	out.register(cmd)
	socket.register(cmd)
	known.register(cmd)
	cmd.Flags().StringVar(&dir, "report-dir", "", "where a report goes; an earlier one there is replaced (default: none is written)")
	return cmd
}

// checkSocket makes the report on what serves a socket.
func checkSocket(cmd *cobra.Command, list deviationList, socket string) (reports.Report, error) {
	began := time.Now()
	record, err := conformance.Observe(cmd.Context(), socket)
	if err != nil {
		return reports.Report{}, err
	}
	cell := reports.Cell{
		ID: conformance.Cell, Scenario: conformance.Cell, KEP: "KEP-4188", Checks: conformance.Judge(record),
		Started: began, DurationSeconds: time.Since(began).Seconds(),
	}
	a, err := list.assembler(nil, nil)
	if err != nil {
		return reports.Report{}, err
	}
	report, err := a.assemble([]ranCell{{1, cell}})
	report.Reproduce.Components = []reports.Component{{
		Name: "server of the Pods API", Version: "unknown",
		Source: "whatever serves " + record.Path + "; the API doesn't tell its version", Digest: "unknown",
	}}
	return report, err
}

// finishCheck prints a report, writes it if a directory is named, and turns it into
// an exit code. What each check came to is printed, too: there is one cell only.
func finishCheck(cmd *cobra.Command, out output, report reports.Report, dir string) error {
	if cell := report.Cells[0]; !out.json() && cell.Outcome != reports.NotTestable {
		if err := printChecks(cmd.OutOrStdout(), cell.Checks); err != nil {
			return app.Failed(err)
		}
	}
	if dir != "" {
		if err := app.ClearReport(dir); err != nil {
			return err
		}
		return finish(cmd, out, report, dir, nil)
	}
	if err := printReport(cmd, out, report, dir); err != nil {
		return app.Failed(err)
	}
	if code := reports.ExitCode(report); code != 0 {
		return exitCode(code)
	}
	return nil
}

func printChecks(w io.Writer, checks []reports.Check) error {
	err := table(w, "OUTCOME\tCHECK\tSTATEMENT\tWHY", checks, func(c reports.Check) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s", c.Outcome, c.ID, c.Requirement, c.Reason)
	})
	fmt.Fprintln(w)
	return err
}
