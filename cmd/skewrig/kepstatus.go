package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

// notAKEP is an error if an argument that should name a directory is a KEP.
func notAKEP(args []string) error {
	for _, arg := range args {
		if kep := aKEP.FindStringSubmatch(arg); kep != nil && !exists(arg) {
			return fmt.Errorf("%s is no report directory: did you mean --kep KEP-%s?", arg, kep[1])
		}
	}
	return nil
}

func newStatus() *cobra.Command {
	var out output
	var kep, texts string
	var dirs []string
	cmd := &cobra.Command{
		Use:   "status [DIR ...]",
		Short: "Show which requirements of KEPs the checks of runs prove",
		Long: `For each requirement of the ledgers, show whether the runs in the report
directories prove it, refute it, or don't test it, and why. A requirement without a
check is listed with the reason from the ledger.

--text names a directory with the texts of the proposals, such as a checkout of
https://github.com/kubernetes/enhancements. It lists each sentence that is new, changed
or gone since the ledger was written, with the requirements that it belonged to, and
adds to each requirement its sentences, word for word (with --output json). Without
--report, only the texts are compared then.

Exit codes: 0 no requirement is open and no text has changed, 1 a requirement is
refuted, 2 one is untested or unjudged, the ledger and the checks contradict each
other, or a text has changed.`,
		Example: `  skewrig run '**' && skewrig kep status
  skewrig kep status --kep KEP-4939
  skewrig kep status --text ../enhancements`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notAKEP(args); err != nil {
				return err
			}
			dirs := dirsOr(dirs, args)
			if texts != "" && len(args) == 0 && !cmd.Flags().Changed("report") {
				dirs = nil
			}
			found, err := app.Trace(dirs, kep, texts)
			if err != nil {
				return err
			}
			if err := printResult(cmd, out, found, printTrace); err != nil {
				return err
			}
			return exit(traceCode(found))
		},
	}
	out.register(cmd)
	registerReports(cmd, &dirs)
	cmd.Flags().StringVar(&kep, "kep", "", "only the requirements of this ledger, such as KEP-4939")
	cmd.Flags().StringVar(&texts, "text", "", "a directory with the texts of the proposals, to compare the ledgers with")
	return cmd
}

func printTrace(w io.Writer, found app.Traces) {
	if len(found.Runs) > 0 {
		printTraced(w, found.Requirements)
	}
	for _, text := range found.Texts {
		fmt.Fprintf(w, "\n%s: %d sentences in %s, %d differences from the ledger\n", text.KEP, text.Sentences, text.Document, len(text.Drift))
		if len(text.Drift) == 0 {
			continue
		}
		table(w, "CHANGE\tLINE\tREQUIREMENTS\tSENTENCE", text.Drift, func(c ledger.Change) string {
			return fmt.Sprintf("%s\t%d\t%s\t%s", c.Kind, c.Line, cmp.Or(strings.Join(c.Statements, " "), "-"), c.Text)
		})
	}
}

func printTraced(w io.Writer, traced []reports.Traced) {
	var rows []reports.Traced
	var totals []string
	for _, status := range reports.TraceStatuses() {
		before := len(rows)
		for _, t := range traced {
			if t.Status == status {
				rows = append(rows, t)
			}
		}
		if count := len(rows) - before; count > 0 {
			totals = append(totals, fmt.Sprintf("%d %s", count, status))
		}
	}
	table(w, "STATUS\tCHECKS\tREQUIREMENT\tWHY", rows, func(t reports.Traced) string {
		return fmt.Sprintf("%s\t%d\t%s\t%s", t.Status, t.Checks, t.ID, cmp.Or(t.Excluded, t.Manual))
	})
	fmt.Fprintf(w, "\n%d requirements: %s\n", len(rows), strings.Join(totals, ", "))
}

func traceCode(found app.Traces) (code int) {
	for _, text := range found.Texts {
		if len(text.Drift) > 0 {
			code = reports.ExitNotJudged
		}
	}
	for _, t := range found.Requirements {
		switch {
		case t.Status == reports.Refuted:
			return reports.ExitNonconforming
		case !t.Status.Settled():
			code = reports.ExitNotJudged
		}
	}
	return code
}
