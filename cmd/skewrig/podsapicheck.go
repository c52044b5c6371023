package main

import (
	"errors"
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
	var to reportDir
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a Pods API server against KEP-4188",
		Long: `Call the Pods API server at a socket, such as a real machine's kubelet, and judge
its answers by the requirements of KEP-4188 that the socket alone can prove. It only
reads, but it sends 600 requests within a second or two to test the rate limit. It
starts no rig.

Exit codes: 0 all as expected, 1 a nonconformance, 2 not judged, 3 wrong usage.`,
		Example: `  sudo skewrig podsapi check --report-dir node
  skewrig podsapi check --socket ./pods/kubelet.sock -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			here, err := app.Here()
			if err != nil {
				return err
			}
			if here, err = here.Excusing(known); err != nil {
				return err
			}
			options := app.Options{Dir: to.dir, Catalog: here, Reproduce: app.Reproduce(os.Args, nil, version(), nil)}
			if to.dir != "" {
				if options.Claimed, err = to.place(cmd).Claim(app.PodsAPICells()); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, app.Failed(options.Claimed.Close())) }()
			}
			path, err := socket.find()
			if err != nil {
				return err
			}
			report, err := app.CheckPodsAPI(cmd.Context(), path, options)
			if err != nil {
				return err
			}
			// There is one cell only, so each of its checks is printed, too.
			if cell := report.Cells[0]; !out.json() && cell.Outcome != reports.NotTestable {
				if err := printResult(cmd, out, cell.Checks, printChecks); err != nil {
					return err
				}
			}
			return finish(cmd, out, report, to.dir)
		},
	}
	out.register(cmd)
	socket.register(cmd)
	registerKnown(cmd, &known)
	to.register(cmd, "", "directory to write a report to, replacing an earlier one of this check (default: no report)")
	return cmd
}

func printChecks(w io.Writer, checks []reports.Check) {
	table(w, "OUTCOME\tCHECK\tREQUIREMENT\tWHY", checks, func(c reports.Check) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s", c.Outcome.Word(), c.ID, c.Requirement, c.Reason)
	})
	fmt.Fprintln(w)
}
