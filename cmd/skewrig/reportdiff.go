package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
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
	across       string
}

func newDiff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff A [B]",
		Short: "Show what changed between two reports",
		Long: `Compare two reports, each a report directory or a report.json, by the ids of
their cells. A and B may be of different releases; the differences between the
subjects come first.

  regressions   cells that were as expected and are not any more, or that have
                such a check, and new problems of the run as a whole
  fixes         cells that were not as expected and are now
  changed       other cells with another outcome or reason, or other checks
  new, gone     cells that only one report has
  requirements  requirements with another status
  slower        cells that took longer, corrected for a busier machine
  subject       components, releases and digests that differ

A different observation of a check is shown, but is no change by itself, since it
may contain ports and counts. Two runs with the same outcomes have an empty diff.

With --across AXIS=BEFORE,AFTER, cells of A that have the first value of an axis are
compared with those of B that have the second and are the same otherwise, as the same
specs on two kubelets. Without B, both are of A.

A and B may also be the directories of two sweeps: regressions are then findings
that are new or show for more fields of kinds, fixes those that are gone or show
for fewer, changed are gates of which objects were tried in only one of them.

Exit codes: 0 no regression, 1 a regression, 3 wrong usage. --exit-on selects
other sections for exit code 1.`,
		Example: `  skewrig report diff yesterday today
  skewrig report diff main.json report -o markdown > comment.md
  skewrig report diff a b --exit-on any
  skewrig report diff report --across kubelet=NEWER,OLDER`,
		Args: cobra.RangeArgs(1, 2),
		RunE: f.run,
	}
	f.format.register(cmd, "output", "o", "text", "text, markdown (for a comment on a pull request), or json", "text", "markdown", "json")
	cmd.Flags().Float64Var(&f.slowerFactor, "slower-factor", 1.5, "a cell is slower if it took this many times as long, and --slower-by longer")
	cmd.Flags().DurationVar(&f.slowerBy, "slower-by", 10*time.Second, "see --slower-factor; the default exceeds the time to start a rig, which another cell may have started last time")
	cmd.Flags().StringVar(&f.across, "across", "", "compare cells that differ in this axis: AXIS=BEFORE,AFTER (default: those of the same id)")
	cmd.Flags().StringSliceVar(&f.exitOn, "exit-on", []string{string(diff.RegressionsSection)}, "sections of the diff, as listed above, that set exit code 1 if they are not empty; any stands for all but slower")
	return cmd
}

func (f *diffFlags) run(cmd *cobra.Command, args []string) error {
	if f.slowerFactor < 1 || f.slowerBy < 0 {
		return fmt.Errorf("--slower-factor is %v and --slower-by %s; they must be at least 1 and 0s", f.slowerFactor, f.slowerBy)
	}
	sections, err := diff.ParseSections(f.exitOn)
	if err != nil {
		return fmt.Errorf("--exit-on: %w", err)
	}
	from, to := args[0], args[len(args)-1]
	if len(args) == 1 && f.across == "" {
		return errors.New("with one report, diff compares its cells along an axis (--across); otherwise name two")
	}
	if f.across == "" && app.IsSweep(from) && app.IsSweep(to) {
		return f.sweeps(cmd, from, to, sections)
	}
	before, after, err := f.reports(&from, &to)
	if err != nil {
		return err
	}
	d := diff.Compare(before, after, diff.Options{From: from, To: to, SlowerFactor: f.slowerFactor, SlowerSeconds: f.slowerBy.Seconds()})
	if err := diffFormats[f.format.value](cmd.OutOrStdout(), d); err != nil {
		return app.Failed(err)
	}
	if slices.ContainsFunc(sections, func(s diff.Section) bool { return d.Count(s) > 0 }) {
		return exitCode(reports.ExitNonconforming)
	}
	return nil
}

// reports reads the two reports, with the cells that are compared, and names them.
func (f *diffFlags) reports(from, to *string) (before, after reports.Report, err error) {
	if before, err = app.ReadReport(*from); err != nil {
		return before, after, err
	}
	if after, err = app.ReadReport(*to); err != nil || f.across == "" {
		return before, after, err
	}
	across, err := diff.ParseAcross(f.across)
	if err == nil {
		before, after, err = across.Reports(before, after)
		*from, *to = fmt.Sprintf("%s %s:%s", *from, across.Axis, across.Before), fmt.Sprintf("%s %s:%s", *to, across.Axis, across.After)
	}
	return before, after, ofFlag("across", err)
}

// diffFormats are what a diff can be printed as.
var diffFormats = map[string]func(io.Writer, diff.Diff) error{
	"text": func(w io.Writer, d diff.Diff) error {
		return render.DiffTerminal(w, d, render.TerminalOptions{Color: colorful(w), Width: columns(w)})
	},
	"markdown": render.DiffMarkdown, "json": render.JSON[diff.Diff],
}
