package main

import (
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/reports/render"
)

func newReport() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Print a saved report in another format",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := app.ReadReport(args[0])
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if format.value == "html" {
				return app.Failed(page.Write(w, app.Page(args[0], report)))
			}
			return app.Failed(formats[format.value](w, report))
		},
	}
	cmd.AddCommand(newMerge())
	format.register(cmd, "output", "o", "text", "text, json, junit, markdown, html (the page), findings (deviations only), track-record (known regressions), matrix (probes by releases and gates), or openmetrics (for dashboards)",
		append(slices.Sorted(maps.Keys(formats)), "html")...)
	return cmd
}

// formats are what a report can be printed as, the page aside.
var formats = map[string]func(io.Writer, reports.Report) error{
	"text": func(w io.Writer, r reports.Report) error {
		return render.Terminal(w, r, render.TerminalOptions{Color: colorful(w)})
	},
	"json": render.JSON[reports.Report], "junit": render.JUnit, "markdown": render.Markdown,
	"findings": render.Findings, "track-record": render.TrackRecord, "matrix": render.MatrixMarkdown,
	"openmetrics": render.OpenMetrics,
}
