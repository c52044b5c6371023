package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/sweep/show"
)

// sweeps compares two sweeps.
func (f *diffFlags) sweeps(cmd *cobra.Command, from, to string, sections []diff.Section) error {
	write, is := trendFormats[f.format.value]
	if !is {
		return fmt.Errorf("a diff of sweeps is text or json, not %s (--output)", f.format.value)
	}
	before, err := app.ReadSweep(from)
	if err != nil {
		return err
	}
	after, err := app.ReadSweep(to)
	if err != nil {
		return err
	}
	t := show.Compare(from, to, before, after)
	if err := write(t, cmd.OutOrStdout()); err != nil {
		return app.Failed(err)
	}
	if slices.ContainsFunc(sections, func(s diff.Section) bool { return t.Count(s) > 0 }) {
		return exitCode(reports.ExitNonconforming)
	}
	return nil
}

// trendFormats are what a diff of sweeps can be printed as.
var trendFormats = map[string]func(show.Trend, io.Writer) error{
	"text": show.Trend.Text,
	"json": func(t show.Trend, w io.Writer) error { return printJSON(w, t) },
}
