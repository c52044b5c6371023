package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func newPlan() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "plan [PATTERN | FILE ...]",
		Short: "Print the steps of a run and start nothing",
		Example: `  skewrig plan 'kep-4939/skew/**'
  skewrig plan ./mine.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cells, err := app.Select(args)
			if err != nil {
				return err
			}
			return printResult(cmd, out, cells, printPlans)
		},
	}
	out.register(cmd)
	return cmd
}

func printPlans(w io.Writer, cells []plan.Cell) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, plan.Print(cell))
	}
}
