package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/render"
)

var _ = register(lookFurther, newKEP)

func newKEP() *cobra.Command {
	return newParent(&cobra.Command{
		Use:   "kep",
		Short: "Show what runs prove of a KEP, and what its next stage lacks",
		Long: `Show which sentences of a KEP saved runs prove, what the KEP lacks for its next stage,
answer its production readiness questionnaire, and write the ledger of another KEP.`,
		Example: `  skewrig kep status
  skewrig kep graduate kep-4939 --stage beta`,
	}, false, newStatus(), newKEPAnswer(), newGraduate(), newPRR(), newLedger())
}

func newGraduate() *cobra.Command {
	var stage, format choice
	var dirs []string
	var strict bool
	formats := map[string]func(io.Writer, graduation.Result) error{
		"text": func(w io.Writer, r graduation.Result) error {
			return fitted(w, func(s io.Writer) error { return render.Graduation(s, r) })
		},
		"markdown": render.GraduationMarkdown, "json": printJSON[graduation.Result],
	}
	cmd := &cobra.Command{
		Use:   "graduate KEP",
		Short: "Show what an enhancement lacks for its next stage",
		Long: `Judge saved runs by the criteria of the next stage of an enhancement: those of
its own text and those of the KEP template. Each criterion is one of: contradicted,
by a cell that is shown; without evidence, with the command that produces it;
ambiguous, if the text also asks for the opposite, which its authors must mend; in
need of a person; met. All reports that you name count, older failures too.

Exit codes: 0 every criterion is met, ambiguous, or needs a person; 1 a cell
contradicts a criterion (also by a known deviation), or with --strict a criterion
is ambiguous or needs a person; 2 evidence is missing, or a report can't be read; 3
wrong usage.`,
		Example: `  skewrig kep graduate kep-4939 --stage beta
  skewrig kep graduate kep-5999 --stage stable -f monday -f tuesday -o markdown`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := app.Graduate(args[0], stage.value, dirs)
			if err != nil {
				return err
			}
			if err := formats[format.value](cmd.OutOrStdout(), result); err != nil {
				return app.Failed(err)
			}
			return exit(result.ExitCode(strict))
		},
	}
	stage.register(cmd, "stage", "", "", "the stage to reach: alpha, beta or stable", graduation.Stages()...)
	_ = cmd.MarkFlagRequired("stage") // it exists
	format.register(cmd, "output", "o", "text", "text, markdown or json", "text", "markdown", "json")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 also if a criterion is ambiguous or needs a person")
	registerReports(cmd, &dirs)
	return cmd
}

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
		Example: `  skewrig kep prr kep-4939 > prr.md
  skewrig kep prr kep-5999 -f monday -o json`,
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
