package main

import (
	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports/render"
)

func newPRR() *cobra.Command {
	var format choice
	var dirs []string
	cmd := &cobra.Command{
		Use:   "prr KEP",
		Short: "Answer the production readiness questionnaire from saved runs",
		Long: `Print the production readiness questionnaire of an enhancement as Markdown, under
the headings of the KEP template: what cells show, their steps, and how to
reproduce them. Every statement has a cell as evidence. A question that no run can
answer, or that no run has answered, is marked Open.

Exit codes: 0 printed, 2 a report can't be read, 3 wrong usage.`,
		Example: `  skewrig prr kep-4939 --report report > prr.md
  skewrig prr kep-5999 --report report -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			answers, err := app.PRR(args[0], dirs)
			if err != nil {
				return err
			}
			if format.value == "json" {
				return app.Failed(printJSON(cmd.OutOrStdout(), answers))
			}
			return app.Failed(render.PRR(cmd.OutOrStdout(), answers))
		},
	}
	format.register(cmd, "output", "o", "markdown", "markdown or json", "markdown", "json")
	registerReports(cmd, &dirs)
	return cmd
}
