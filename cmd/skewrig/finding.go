package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/render"
)

func newFinding() *cobra.Command {
	var format choice
	var dir, texts string
	cmd := &cobra.Command{
		Use:   "finding [ID]",
		Short: "Show what a run found, and draft the issue that reports it",
		Long: `List the findings of a saved run by weight: defects of releases, texts that
contradict themselves, texts that are behind the code, known bugs. With the id of one,
print its evidence, or with -o issue a draft of the bug report or, of a text, of the pull
request that corrects it. Without an id, -o issue drafts one for each finding, and one
pull request to each proposal for all in which its text is behind the code.

--text names a directory with the texts of the proposals, such as a checkout of
https://github.com/kubernetes/enhancements: sentences are quoted from there.`,
		Example: `  skewrig finding --report report
  skewrig finding deleted-while-listed -o issue --text ../enhancements
  skewrig finding -o issue
  skewrig finding -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, all, err := app.Findings(dir, texts)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if all, err = pickFinding(all, args[0]); err != nil {
					return err
				}
			}
			w, one := cmd.OutOrStdout(), len(args) > 0 && format.value == "text"
			if format.value == "issue" {
				app.InWords(cmd.Context(), dir, report, all)
				return app.Failed(render.Issues(w, report, all, app.Cases(cmd.Context(), dir, report, all)))
			}
			if one || format.value != "text" { // a list has no room for it
				app.InWords(cmd.Context(), dir, report, all)
			}
			if one {
				return app.Failed(render.FindingTerminal(w, all[0], columns(w)))
			}
			return app.Failed(printFindings(w, format.value, report, all))
		},
	}
	format.register(cmd, "output", "o", "text", "text, json, markdown or issue (a draft of each)", "text", "json", "markdown", "issue")
	cmd.Flags().StringVar(&dir, "report", "report", "the report directory of a run")
	registerTexts(cmd, &texts)
	return cmd
}

// registerTexts registers the flag that names the texts of the proposals.
func registerTexts(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "text", "", "a directory with the texts of the proposals, to quote them")
}

func pickFinding(all []finding.Finding, id string) ([]finding.Finding, error) {
	var ids []string
	for _, f := range all {
		if f.ID == id {
			return []finding.Finding{f}, nil
		}
		ids = append(ids, f.ID)
	}
	return nil, fmt.Errorf("the run has no finding %s: it has %s", id, strings.Join(ids, ", "))
}

func printFindings(w io.Writer, format string, report reports.Report, all []finding.Finding) error {
	switch format {
	case "json":
		return printJSON(w, all)
	case "markdown":
		return render.Findings(w, report, all)
	}
	s := sheet{width: columns(w)}
	table(&s, "CLASS\tFINDING\tSEEN ON\tHEADLINE", all, func(f finding.Finding) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s", f.Class.Word(), f.ID, strings.Join(f.Releases, " or "), f.Headline)
	})
	return s.printTo(w)
}
