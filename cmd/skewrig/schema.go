package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/docs/schemas"
)

var _ = register(lookUp, newSchema)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(schemas.Names(), "|"),
		Short: "Print a JSON Schema of skewrig's formats",
		Long: `Print a JSON Schema (2020-12):

  report     report.json
  plan       plan.json
  record     a line of history.jsonl (docs/architecture.md)
  diff       the output of skewrig report diff -o json
  findings   the output of skewrig report findings -o json
  rehearsal  rehearsal.json, the report of a rehearsal
  scenario   a scenario file, for editors
  config     skewrig.yaml, the catalog of your own repository
  provider   a file of skewrig run --provider-config

docs/schemas has the same schemas.`,
		Example:   `  skewrig schema scenario > .vscode/skewrig-scenario.json`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: schemas.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			schema, err := schemas.Get(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s", schema)
			return app.Failed(err)
		},
	}
}
