package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/reports/render"
)

type diffFlags struct {
	format       choice
	slowerFactor float64
	slowerBy     time.Duration
	exitOn       []string
}

func newDiff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Say what changed from one report to another",
		Long: `Compare two reports, each a report directory or a report.json, by the ids of
their cells. A and B may be of different releases: what is different about what
ran is told first.

  regressions   cells that were as expected and are not, or that have such a
                check, and new problems of the run as a whole
  fixes         cells that were not as expected and are
  changed       other cells with another outcome or reason, or other checks
  new, gone     cells that only one report has
  requirements  those with another verdict
  slower        cells that took longer, a busier machine aside
  subject       components, releases and digests that are not the same

What a check observed is shown, but is no change by itself: ports and counts are
in it. Two runs that saw the same have an empty diff.

Exit codes: 0 there is no regression, 1 there is one, 3 wrong usage. --exit-on
says what else is worth a 1.`,
		Example: `  skewrig diff yesterday today
  skewrig diff main.json report -o markdown > comment.md
  skewrig diff a b --exit-on any`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.diff(cmd, args[0], args[1]) },
	}
	f.format.register(cmd, "output", "o", "text", "text, markdown (for a comment on a pull request), or json", "text", "markdown", "json")
	cmd.Flags().Float64Var(&f.slowerFactor, "slower-factor", 1.5, "a cell is slower if it took this many times as long, and --slower-by longer")
	cmd.Flags().DurationVar(&f.slowerBy, "slower-by", 10*time.Second, "see --slower-factor; to start a rig that another cell started last time takes less than the default")
	cmd.Flags().StringSliceVar(&f.exitOn, "exit-on", []string{string(diff.RegressionsSection)}, "the parts of the diff that make the exit code 1 if there is something in them, as listed above; any is all but slower")
	return cmd
}

func (f *diffFlags) diff(cmd *cobra.Command, from, to string) error {
	if f.slowerFactor < 1 || f.slowerBy < 0 {
		return fmt.Errorf("--slower-factor is %v and --slower-by %s; they must be at least 1 and 0s", f.slowerFactor, f.slowerBy)
	}
	sections, err := diff.ParseSections(f.exitOn)
	if err != nil {
		return fmt.Errorf("--exit-on: %w", err)
	}
	before, err := app.ReadReport(from)
	if err != nil {
		return err
	}
	after, err := app.ReadReport(to)
	if err != nil {
		return err
	}
	d := diff.Compare(before, after, diff.Options{From: from, To: to, SlowerFactor: f.slowerFactor, SlowerSeconds: f.slowerBy.Seconds()})
	if err := f.print(cmd, d); err != nil {
		return app.Failed(err)
	}
	for _, s := range sections {
		if d.Count(s) > 0 {
			return exitCode(reports.ExitNonconforming)
		}
	}
	return nil
}

func (f *diffFlags) print(cmd *cobra.Command, d diff.Diff) error {
	switch out := cmd.OutOrStdout(); f.format.value {
	case "markdown":
		return render.DiffMarkdown(out, d)
	case "json":
		return render.DiffJSON(out, d)
	default:
		return render.DiffTerminal(out, d, render.TerminalOptions{Color: colorful(out)})
	}
}
