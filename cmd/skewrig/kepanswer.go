package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/keps"
	"github.com/skewrig/skewrig/keps/show"
	"github.com/skewrig/skewrig/reports"
)

type kepAnswerFlags struct {
	binaries
	output
	milestone, texts, dir, earlier, shard string
	reports                               []string
	parallel                              int
}

func newKEPAnswer() *cobra.Command {
	var f kepAnswerFlags
	cmd := &cobra.Command{
		Use:   "answer [KEP | GATE]",
		Short: "Answer the questionnaire of KEPs by sweeps of their gates, without a ledger",
		Long: `Turn the gates of an enhancement, or of all of a milestone, on, off and on again, go to the release
before and back, and answer the production readiness questionnaire by what that shows. The
objects are made as skewrig sweep makes them, and judged by its laws. Each answer is shown,
contradicted, partly, not tried, or not reachable on a rig, with the reason.

--text names a checkout of https://github.com/kubernetes/enhancements: what a proposal answers
itself is compared. Without it, an argument is the name of a gate.

The report directory gets both sweeps, the answers as JSON, a page, and for each proposal its
questionnaire with a draft of what it lacks. Sweeps of the same gates that are there are not run
again.

Exit codes: 0 nothing is contradicted, 1 an answer is contradicted, 2 not judged, 3 nothing was started.`,
		Example: `  skewrig kep answer GRPCContainerProbeTLS
  skewrig kep answer KEP-4939 --text ../enhancements
  skewrig kep answer --milestone v1.37 --text ../enhancements --report-dir answers`,
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	registerParallel(cmd, &f.parallel)
	cmd.Flags().StringVar(&f.milestone, "milestone", "", "answer for all proposals with this milestone, such as v1.37, on its newest release")
	cmd.Flags().StringVar(&f.texts, "text", "", "a directory with the proposals: a checkout of kubernetes/enhancements")
	cmd.Flags().StringVar(&f.dir, "report-dir", "answers", "directory for the sweeps and the answers")
	cmd.Flags().StringVar(&f.earlier, "baseline", "", "the answers.json of an earlier run: say which answers changed")
	cmd.Flags().StringArrayVarP(&f.reports, "report", "f", nil,
		"the directory of a saved report: if a proposal has a ledger, its answers from there are compared (repeatable)")
	cmd.Flags().StringVar(&f.shard, "shard", "", "sweep one part of the fields, such as 2/4")
	return cmd
}

func (f *kepAnswerFlags) run(cmd *cobra.Command, args []string) error {
	shard, err := parseShard(f.shard)
	if err := errors.Join(err, checkParallel(f.parallel), f.check(args)); err != nil {
		return err
	}
	builder, _, err := f.open(cmd)
	if err != nil {
		return err
	}
	ask := app.KEPs{Milestone: f.milestone, Earlier: f.earlier, Reports: f.reports, Shard: shard, Dir: f.dir, Parallel: f.parallel}
	if err := f.releases(cmd, builder, &ask); err != nil {
		return err
	}
	if ask.Proposals, err = f.proposals(cmd, args, ask); err != nil {
		return err
	}
	p := newProgress(news(cmd))
	defer p.close()
	builder.Progress = tellBuild(cmd, p)
	began := time.Now()
	ask.Tell = func(what string) { fmt.Fprintf(news(cmd), "%4.0fs  %s\n", time.Since(began).Seconds(), what) }
	m, err := ask.Run(cmd.Context(), builder)
	p.close()
	if err != nil {
		return err
	}
	if err := printResult(cmd, f.output, m, func(w io.Writer, m show.Milestone) { m.Text(w) }); err != nil {
		return err
	}
	if slices.ContainsFunc(m.Results, keps.Result.IsContradicted) {
		return exitCode(reports.ExitNonconforming)
	}
	return nil
}

// check is an error if the arguments do not say what to answer.
func (f *kepAnswerFlags) check(args []string) error {
	switch {
	case len(args) == 0 && f.milestone == "":
		return errors.New("name a KEP, a gate, or a milestone (--milestone)")
	case len(args) > 0 && f.milestone != "":
		return errors.New("either name a KEP or a gate, or a milestone (--milestone)")
	case f.milestone != "" && f.texts == "":
		return errors.New("the proposals of a milestone are read from a checkout of kubernetes/enhancements: add --text DIR")
	}
	return nil
}

// releases are that of the milestone, or the newest one, and the one before.
func (f *kepAnswerFlags) releases(cmd *cobra.Command, builder *build.Builder, ask *app.KEPs) (err error) {
	word := "newest"
	if f.milestone != "" {
		word = f.milestone
	}
	if ask.Release, ask.ReleaseAPI, err = app.Gates(cmd.Context(), builder, word); err != nil {
		return err
	}
	minor := ask.Release.Version.Minor()
	if ask.Before, ask.BeforeAPI, err = app.Gates(cmd.Context(), builder, fmt.Sprintf("v1.%d", minor-1)); err != nil {
		return err
	}
	oldest := fmt.Sprintf("v1.%d", minor-3) // that a kubelet may be of (version skew policy)
	if ask.Nodes, ask.NodesAPI, err = app.Gates(cmd.Context(), builder, oldest); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "left out: kubelets of %s: %v\n", oldest, err)
	}
	return nil
}

// proposals are those that are asked for.
func (f *kepAnswerFlags) proposals(cmd *cobra.Command, args []string, ask app.KEPs) ([]keps.KEP, error) {
	if f.texts == "" {
		k, is := ask.Gate(args[0])
		if !is {
			return nil, fmt.Errorf("%s has no feature gate %s; a KEP is read from a checkout of kubernetes/enhancements: add --text DIR", ask.Release.Version, args[0])
		}
		return []keps.KEP{k}, nil
	}
	all, err := app.ReadKEPs(f.texts)
	if len(all) == 0 {
		return nil, errors.Join(fmt.Errorf("%s has no kep.yaml (--text)", f.texts), err)
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "left out: %v\n", err)
	}
	if f.milestone != "" {
		return keps.Of(all, f.milestone), nil
	}
	k, is := keps.Find(all, args[0])
	if !is {
		return nil, fmt.Errorf("%s has no KEP %s (--text)", f.texts, args[0])
	}
	return []keps.KEP{k}, nil
}
