package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/scenarios/plan"
)

// listed is a cell as `list --output json` prints it.
type listed struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	Scenario string            `json:"scenario"`
	Control  string            `json:"control,omitempty"`
	Axes     map[string]string `json:"axes"`
	File     string            `json:"file"`
	// Unfit says why the releases can't run it, if they can't.
	Unfit string `json:"unfit,omitempty"`
}

var _ = register(startHere, newList)

func newList() *cobra.Command {
	var out output
	var b binaries
	cmd := &cobra.Command{
		Use:   "list [PATTERN | FILE ...]",
		Short: "List the cells that can be run",
		Long: `List all cells of the catalog, or the selected ones. A PATTERN is a glob over cell
ids: * matches within a segment, ** across segments. The beginning of ids, such as
kep-4939/skew, selects all below it. A FILE is a scenario of your own.`,
		Example: `  skewrig list
  skewrig list kep-4939`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"**"}
			}
			cells, err := b.selected(cmd, args)
			if err != nil {
				return err
			}
			return printResult(cmd, out, describeCells(cells), printListed)
		},
	}
	out.register(cmd)
	b.registerReleases(cmd)
	return cmd
}

func printListed(w io.Writer, cells []listed) {
	table(w, "CELL\tSHOWS", cells, func(c listed) string {
		if c.Unfit != "" {
			return c.ID + "\tnot applicable: " + c.Unfit
		}
		return c.ID + "\t" + c.Title
	})
}

func describeCells(cells []plan.Cell) []listed {
	all := make([]listed, 0, len(cells))
	for _, c := range cells {
		l := listed{ID: c.ID, Title: c.Title, Scenario: c.Scenario, Control: c.Control, Axes: c.Axes, File: c.File, Unfit: c.Unfit}
		all = append(all, l)
	}
	return all
}
