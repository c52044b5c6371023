package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

func newMerge() *cobra.Command {
	var out output
	var dir string
	cmd := &cobra.Command{
		Use:   "merge DIR ... --report-dir OUT",
		Short: "Join the reports of shards and of repeated runs",
		Long: `Join reports into one, with the files of their cells. Cells that are in one report
are copied; those that are in several become repetitions of one cell, which is flaky
if they disagree. A cell that ran to its end replaces one that did not.`,
		Example: `  skewrig report merge shard-1 shard-2 --report-dir report
  skewrig report merge report report-rerun --report-dir both`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := app.Merge(args, dir, app.CommandLine(os.Args))
			if err != nil {
				return err
			}
			return finish(cmd, out, report, dir)
		},
	}
	out.register(cmd)
	cmd.Flags().StringVar(&dir, "report-dir", "", "directory for the merged report; replaces an earlier report")
	_ = cmd.MarkFlagRequired("report-dir") // it exists
	return cmd
}
