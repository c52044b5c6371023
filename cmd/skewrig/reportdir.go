package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

// reportDir are the flags that say where a report goes, and what may be replaced there.
type reportDir struct {
	dir   string
	force bool
}

func (f *reportDir) register(cmd *cobra.Command, value, usage string) {
	cmd.Flags().StringVar(&f.dir, "report-dir", value, usage)
	cmd.Flags().BoolVar(&f.force, "force", false, "replace a report of other cells in the report directory")
}

// place returns the directory of the report. A report that it replaces is reported.
func (f *reportDir) place(cmd *cobra.Command) app.Place {
	return app.Place{Dir: f.dir, Force: f.force, Tell: func(what string) { fmt.Fprintln(news(cmd), what) }}
}
