package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/recall"
	"github.com/skewrig/skewrig/sweep/story"
)

type recallFlags struct {
	binaries
	output
	dir        string
	dimensions []string
	releases   []string
	budget     time.Duration
	parallel   int
}

var _ = register(lookFurther, newRecall)

func newRecall() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use:   "recall LIST.tsv",
		Short: "Say which of a list of known bugs a sweep finds by itself",
		Long: `Sweep each release that a list of known bugs names, with a budget, and say which of them were found.
The sweep knows nothing of the list. The list is a table of tab-separated values with a line for each
bug: its component, the kind of harm, a release that has it, and one that has not.

A bug is found if a finding that was confirmed has its class and its component, and is about a kind
that the line names, on the release that has it, and not on the one that has not. A list has
no release without a bug that is mended in the next minor only: then nothing is compared.

The directory has a sweep for each release. One that is there already is continued.

Exit codes: 0 all was swept, 3 nothing was started.`,
		Example: `  skewrig recall bugs.tsv
  skewrig recall bugs.tsv --releases newest --dimensions owners,company --budget 30m`,
		Args: cobra.ExactArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	registerParallel(cmd, &f.parallel)
	cmd.Flags().StringVar(&f.dir, "report-dir", "recall", "directory for the sweeps")
	cmd.Flags().StringSliceVar(&f.dimensions, "dimensions", []string{allOthers}, "what varies, as skewrig sweep has it")
	cmd.Flags().StringSliceVar(&f.releases, "releases", nil, "sweep these releases only (the default: all that the list names)")
	cmd.Flags().DurationVar(&f.budget, "budget", time.Hour, "begin no batch later than this, for each release")
	return cmd
}

func (f *recallFlags) run(cmd *cobra.Command, args []string) error {
	text, err := files.Read(args[0], files.MaxReport)
	if err != nil {
		return err
	}
	rows, err := recall.Read(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	chosen, err := chosenDimensions(f.dimensions)
	err = errors.Join(err, checkParallel(f.parallel))
	if err != nil {
		return err
	}
	builder, _, err := f.open(cmd)
	if err != nil {
		return err
	}
	wanted := recall.Releases(rows)
	if len(f.releases) > 0 {
		wanted = nil
		for _, word := range f.releases {
			v, err := builder.Releases().Resolve(word)
			if err != nil {
				return err
			}
			wanted = append(wanted, v)
		}
	}
	p := newProgress(news(cmd))
	defer p.close()
	builder.Progress = tellBuild(cmd, p)
	swept := make(map[release.Version]story.Result)
	for _, v := range wanted {
		dir := filepath.Join(f.dir, string(v))
		began := time.Now()
		had, err := app.ReadStories(dir)
		if err == nil && !had.Partial {
			swept[v] = had
			continue
		}
		sweep := app.Stories{
			Version: v, Dimensions: chosen, Budget: f.budget, Dir: dir, Resume: err == nil, Parallel: f.parallel,
			Tell: func(what string) { fmt.Fprintf(news(cmd), "%s %4.0fs  %s\n", v, time.Since(began).Seconds(), what) },
		}
		if swept[v], err = sweep.Run(cmd.Context(), builder); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
	}
	p.close()
	return printResult(cmd, f.output, recall.Judge(rows, swept), printRecall)
}

func printRecall(w io.Writer, t recall.Table) {
	table(w, "ROW\tCOMPONENT\tCLASS\tON\tVERDICT\tBY, OR WHAT IT TAKES", t.Answers, func(a recall.Answer) string {
		by := strings.Join(a.By, "; ")
		if by == "" {
			by = strings.Join(a.Dimensions, " ")
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", a.Name, a.Component, a.Class, a.Red, a.Verdict, by)
	})
	for _, v := range slices.Sorted(maps.Keys(t.Others)) {
		fmt.Fprintf(w, "\n%s: findings that no line explains:\n", v)
		for _, f := range t.Others[v] {
			fmt.Fprintf(w, "  %s\n", f)
		}
	}
	fmt.Fprintf(w, "\n%d found, %d in another way, %d missed, %d not run\n", t.Count(recall.Found), t.Count(recall.OtherWay), t.Count(recall.Missed), t.Count(recall.NotRun))
}
