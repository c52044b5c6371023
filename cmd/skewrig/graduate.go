package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/ledger/criteria"
	"github.com/skewrig/skewrig/scenarios/saved"
)

func newGraduate() *cobra.Command {
	var stage, format string
	var dirs []string
	var strict bool
	cmd := &cobra.Command{
		Use:   "graduate KEP",
		Short: "Judge what an enhancement lacks for its next stage",
		Long: `Hold saved runs against what the next stage of an enhancement asks for: the
criteria of its own text, and those that the KEP template has for all. Each is
met, unmet, or needs a person. What contradicts a criterion is shown with its
cell, what was never run with the command that would. All reports that are named
count, an older failure too.

Exit codes: 0 all is met, but for what needs a person; 1 a cell contradicts a
criterion (a known deviation is one), or with --strict one needs a person;
2 evidence is missing, or a report can't be read; 3 wrong usage.`,
		Example: `  skewrig graduate kep-4939 --stage beta --report report
  skewrig graduate kep-5999 --stage stable --report monday --report tuesday -o markdown`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			print, err := graduationFormat(format)
			if err != nil {
				return err
			}
			if !slices.Contains(graduation.Stages(), stage) {
				return fmt.Errorf("--stage is %q; it can be one of %s", stage, strings.Join(graduation.Stages(), ", "))
			}
			on, err := gather(args[0], dirs)
			if err != nil {
				return err
			}
			result := graduation.Judge(on.enhancement, stage, on.runs, on.planned)
			if err := print(cmd.OutOrStdout(), result); err != nil {
				return app.Failed(err)
			}
			if code := result.ExitCode(strict); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "", "the stage to reach: alpha, beta or stable")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, markdown or json")
	completeFormats(cmd, []string{"text", "markdown", "json"})
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 also where a criterion needs a person")
	registerReports(cmd, &dirs)
	return cmd
}

func registerReports(cmd *cobra.Command, dirs *[]string) {
	cmd.Flags().StringArrayVar(dirs, "report", []string{"report"}, "the report directory of a run; may be given several times")
}

func graduationFormat(format string) (func(io.Writer, graduation.Result) error, error) {
	switch format {
	case "text":
		return render.Graduation, nil
	case "markdown":
		return render.GraduationMarkdown, nil
	case "json":
		return func(w io.Writer, r graduation.Result) error { return printJSON(w, r) }, nil
	}
	return nil, fmt.Errorf("--output is %q; it can be text, markdown or json", format)
}

// grounds are what an enhancement is judged by.
type grounds struct {
	enhancement  graduation.Enhancement
	requirements []reports.Requirement
	runs         []evidence.Run
	planned      []evidence.Planned
}

// gather reads what an enhancement is judged by. A report that can't be read is
// not the user's mistake: evidence that is absent is red.
func gather(kep string, dirs []string) (on grounds, err error) {
	if on.requirements, err = ledger.Requirements(); err != nil {
		return on, err
	}
	all, err := criteria.Enhancements(on.requirements)
	if err != nil {
		return on, err
	}
	if on.enhancement, err = criteria.Find(all, kep); err != nil {
		return on, err
	}
	cells, err := catalog.Cells()
	if err != nil {
		return on, err
	}
	on.planned = saved.Planned(cells)
	var mistakes []error
	for _, dir := range dirs {
		report, err := app.ReadReport(dir)
		var run evidence.Run
		if err == nil {
			run, err = saved.Run(dir, report, on.enhancement.Concerns)
		}
		mistakes = append(mistakes, err)
		on.runs = append(on.runs, run)
	}
	return on, app.Failed(errors.Join(mistakes...))
}
