package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
)

func newPodsCheck() *cobra.Command {
	var out output
	var socket socketFlag
	var known string
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
			list, err := app.Known(known)
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
			report, err := app.CheckPodsAPI(cmd.Context(), path, app.Options{Dir: dir, Known: list, Reproduce: app.Reproduce(os.Args, nil, version(), nil)})
			if err != nil {
				return err
			}
			return finishCheck(cmd, out, report, dir)
		},
	}
	out.register(cmd)
	socket.register(cmd)
	registerKnown(cmd, &known)
	cmd.Flags().StringVar(&dir, "report-dir", "", "where a report goes; an earlier one there is replaced (default: none is written)")
	return cmd
}

// finishCheck prints a report and turns it into an exit code. What each check came
// to is printed, too: there is one cell only.
func finishCheck(cmd *cobra.Command, out output, report reports.Report, dir string) error {
	if cell := report.Cells[0]; !out.json() && cell.Outcome != reports.NotTestable {
		if err := printChecks(cmd.OutOrStdout(), cell.Checks); err != nil {
			return app.Failed(err)
		}
	}
	return finish(cmd, out, report, dir)
}

func printChecks(w io.Writer, checks []reports.Check) error {
	err := table(w, "OUTCOME\tCHECK\tSTATEMENT\tWHY", checks, func(c reports.Check) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s", c.Outcome, c.ID, c.Requirement, c.Reason)
	})
	fmt.Fprintln(w)
	return err
}
