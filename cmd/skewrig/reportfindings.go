package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/render"
)

// findingsFlags say of which saved run findings are shown, and which.
type findingsFlags struct{ dir, texts string }

func (f *findingsFlags) register(cmd *cobra.Command) {
	registerReport(cmd, &f.dir, "f")
	registerTexts(cmd, &f.texts)
}

// read returns the report, and the finding that an argument names or all of them.
func (f *findingsFlags) read(args []string) (reports.Report, []finding.Finding, error) {
	report, all, err := app.Findings(f.dir, f.texts)
	if err == nil && len(args) > 0 {
		all, err = pickFinding(all, args[0])
	}
	if err != nil && len(args) > 0 {
		if _, unread := app.ReadReport(args[0]); unread == nil {
			err = fmt.Errorf("%s is a report, and no finding: did you mean -f %s?", args[0], args[0])
		}
	}
	return report, all, err
}

func newFindings() *cobra.Command {
	var f findingsFlags
	var format choice
	cmd := &cobra.Command{
		Use:   "findings [ID]",
		Short: "List what a run found, or show the evidence of one finding",
		Long: `List the findings of a saved run by weight: defects of releases, texts that
contradict themselves, texts that are outdated, known bugs. With the id of one,
print its evidence. skewrig report issue drafts the report of it.`,
		Example: `  skewrig report findings
  skewrig report findings deleted-while-listed --text ../enhancements
  skewrig report findings -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format.value == "issue" {
				return f.printIssues(cmd, args)
			}
			return printFindings(cmd, &f, format.value, args)
		},
	}
	// issue is what the name of skewrig report issue was.
	format.register(cmd, "output", "o", "text", "text, json or markdown", "text", "json", "markdown", "issue")
	f.register(cmd)
	return cmd
}

func newIssue() *cobra.Command {
	var f findingsFlags
	cmd := &cobra.Command{
		Use:   "issue [ID]",
		Short: "Draft the issue that reports a finding, or one for each",
		Long: `Draft the bug report of a finding or, of an outdated text, the pull request that corrects it.
Without an id, draft one for each finding, and one pull request to each proposal for all in
which its text is outdated.`,
		Example: `  skewrig report issue
  skewrig report issue deleted-while-listed --text ../enhancements`,
		Args: cobra.MaximumNArgs(1),
		RunE: f.printIssues,
	}
	f.register(cmd)
	return cmd
}

func (f *findingsFlags) printIssues(cmd *cobra.Command, args []string) error {
	report, all, err := f.read(args)
	if err != nil {
		return err
	}
	app.InWords(cmd.Context(), f.dir, report, all)
	return app.Failed(render.Issues(cmd.OutOrStdout(), report, all, app.Cases(cmd.Context(), f.dir, report, all)))
}

// registerTexts registers the flag that names the texts of the proposals.
func registerTexts(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "text", "", "a checkout of https://github.com/kubernetes/enhancements, or a directory with copies of proposals, to quote them")
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

// printFindings prints all findings, or the one that an argument names.
func printFindings(cmd *cobra.Command, f *findingsFlags, format string, args []string) error {
	report, all, err := f.read(args)
	if err != nil {
		return err
	}
	w, one := cmd.OutOrStdout(), len(args) > 0
	if one || format != "text" { // a list has no room for it
		app.InWords(cmd.Context(), f.dir, report, all)
	}
	switch {
	case format == "json":
		return app.Failed(printJSON(w, all))
	case format == "markdown":
		return app.Failed(render.Findings(w, report, all))
	case one:
		return app.Failed(render.FindingTerminal(w, all[0], columns(w)))
	}
	s := sheet{width: columns(w)}
	table(&s, "CLASS\tFINDING\tSEEN ON\tHEADLINE", all, func(f finding.Finding) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s", f.Class.Word(), f.ID, strings.Join(f.Releases, " or "), f.Headline)
	})
	return app.Failed(s.printTo(w))
}
