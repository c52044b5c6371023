package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/simulate"
)

// simulated is a cell as the models played it, beside what a run saw of it.
type simulated struct {
	// Model is always true: this is no evidence of what any release does.
	Model bool `json:"model"`
	reports.Cell
	// Against is what a run made of each check that came out otherwise, by the
	// check's id. Empty without a run.
	Against map[string]reports.Outcome `json:"against,omitempty"`
}

func newSimulate() *cobra.Command {
	var out output
	var against, as string
	cmd := &cobra.Command{
		Use:   "simulate PATTERN | FILE ...",
		Short: "Play scenarios with leases in the models' own time, and start nothing",
		Long: `Play scenarios in the virtual time of the models of nodes, of the
node-lifecycle controller and of dependency-watchdog, and judge them by the same
checks. Minutes take milliseconds. What comes out is what the models say, and no
evidence of what any release does. Cells with kubelets, and steps that the models
have no notion of, are not applicable.

With --as, dependency-watchdog behaves as another release, or as the text that
describes it says. With --against, the outcome of each check is compared with that of a run.

Exit codes: 0 it was played, 1 a check came out otherwise than in the run.`,
		Example: `  skewrig simulate 'dwd/**'
  skewrig simulate 'dwd/**' --as text
  skewrig run 'dwd/**' && skewrig simulate 'dwd/**' --against report`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if _, err := release.Parse(as); err != nil && as != "" && as != watchdog.Text {
				return fmt.Errorf("--as is %q: %w, or %s", as, err, watchdog.Text)
			}
			played, err := play(args, as, against)
			if err != nil {
				return err
			}
			return printSimulated(cmd.OutOrStdout(), out, played)
		},
	}
	out.register(cmd)
	cmd.Flags().StringVar(&as, "as", "", "how dependency-watchdog behaves: text, or a release (default: the cell's)")
	cmd.Flags().StringVar(&against, "against", "", "the report directory of a run to compare with")
	return cmd
}

func play(args []string, as, against string) ([]simulated, error) {
	cells, err := app.Select(args)
	if err != nil {
		return nil, err
	}
	ran := make(map[string]reports.Cell)
	if against != "" {
		report, err := app.ReadReport(against)
		if err != nil {
			return nil, err
		}
		for _, c := range report.Cells {
			ran[c.ID] = c
		}
	}
	var played []simulated
	for _, cell := range cells {
		program, err := check.Compile(cell)
		if err != nil {
			return nil, err
		}
		_, result := simulate.Cell(simulate.As(cell, as), program)
		played = append(played, simulated{Model: true, Cell: result, Against: otherwise(result, ran[cell.ID])})
	}
	return played, nil
}

// otherwise are the outcomes of a run's checks that are not the model's.
func otherwise(model, run reports.Cell) map[string]reports.Outcome {
	outcomes := make(map[string]reports.Outcome)
	for _, c := range run.Checks {
		outcomes[c.ID] = c.Outcome
	}
	different := make(map[string]reports.Outcome)
	for _, c := range model.Checks {
		if ran, has := outcomes[c.ID]; has && held(ran) != held(c.Outcome) {
			different[c.ID] = ran
		}
	}
	return different
}

// held reports whether a check held, known deviations aside.
func held(o reports.Outcome) bool { return o == reports.Pass || o == reports.UnexpectedPass }

func printSimulated(w io.Writer, out output, played []simulated) error {
	if out.json() {
		if err := printJSON(w, played); err != nil {
			return app.Failed(err)
		}
		return simulatedCode(played)
	}
	err := table(w, "MODEL\tCELL\tREASON", played, func(s simulated) string {
		return fmt.Sprintf("%s\t%s\t%s", s.Outcome, s.ID, s.Reason)
	})
	for _, s := range played {
		for _, c := range s.Checks {
			if ran, is := s.Against[c.ID]; is {
				fmt.Fprintf(w, "\n%s\n  check %s: the model says %s, the run %s\n    expected  %s\n    observed  %s\n",
					s.ID, c.ID, c.Outcome, ran, c.Expected, cmp.Or(c.Observed, c.Reason))
			}
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "\n%d cells, played by the models: no evidence of what any release does\n", len(played))
	}
	if err != nil {
		return app.Failed(err)
	}
	return simulatedCode(played)
}

func simulatedCode(played []simulated) error {
	for _, s := range played {
		if len(s.Against) > 0 {
			return exitCode(reports.ExitNonconforming)
		}
	}
	return nil
}
