package main

import (
	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

func newJudge() *cobra.Command {
	var out output
	var known string
	cmd := &cobra.Command{
		Use:   "judge DIR [FILE ...]",
		Short: "Judge a saved run again, with today's checks",
		Long: `Judge the records in a report directory again, with the checks of this skewrig's
catalog and of the given scenario files, and replace the report and its page.
Nothing runs.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := app.Known(known)
			if err != nil {
				return err
			}
			report, err := app.Judge(args[0], args[1:], list)
			if err != nil {
				return err
			}
			return finish(cmd, out, report, args[0])
		},
	}
	out.register(cmd)
	registerKnown(cmd, &known)
	return cmd
}
