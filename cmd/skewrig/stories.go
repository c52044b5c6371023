package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/story"
)

// gatesOff is the dimension of a sweep in which gates are turned off, and allOthers stands for all that story.Dimensions has.
const (
	gatesOff  = "gates"
	allOthers = "all"
)

// dimensions are the names of those in which the release stays as it is.
func dimensions() (names []string) {
	for _, d := range story.Dimensions() {
		names = append(names, d.Name)
	}
	return names
}

// chosenDimensions are those that a flag names.
func chosenDimensions(names []string) ([]string, error) {
	if slices.Equal(names, []string{allOthers}) {
		return dimensions(), nil
	}
	return names, allKnown(names, dimensions(), "ordinary objects have no dimension called")
}

// stories sweeps ordinary objects.
func (f *sweepFlags) stories(cmd *cobra.Command, builder *build.Builder, word string, shard reports.Shard) error {
	chosen, err := chosenDimensions(f.dimensions)
	if err != nil {
		return err
	}
	for _, flag := range []string{"gates", "kinds", "at", "to", "baseline", "jobs", "seed"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s goes with --dimensions %s only", flag, gatesOff)
		}
	}
	version, err := builder.Releases().Resolve(word)
	if err != nil {
		return err
	}
	p := newProgress(news(cmd))
	defer p.close()
	builder.Progress = tellBuild(cmd, p)
	began := time.Now()
	sweep := app.Stories{
		Version: version, Dimensions: chosen, Budget: f.budget, Shard: shard, Dir: f.dir, Resume: f.resume, Parallel: f.parallel,
		Tell: func(what string) { fmt.Fprintf(news(cmd), "%4.0fs  %s\n", time.Since(began).Seconds(), what) },
	}
	swept, err := sweep.Run(cmd.Context(), builder)
	p.close()
	if err != nil {
		return err
	}
	if err := printResult(cmd, f.output, swept, func(w io.Writer, r story.Result) { printStories(w, r, f.dir) }); err != nil {
		return err
	}
	if len(swept.Findings) > 0 {
		return exitCode(reports.ExitNonconforming)
	}
	return nil
}

func printStories(w io.Writer, r story.Result, dir string) {
	stories, objects := 0, 0
	for _, b := range r.Batches {
		stories, objects = stories+b.Stories, objects+b.Objects
	}
	fmt.Fprintf(w, "%s: %d stories with %s in %d batches\n", r.Version, stories, reports.Counted(objects, "object"), len(r.Batches))
	for _, b := range r.Batches {
		if b.Error != "" {
			fmt.Fprintf(w, "%s could not be judged: %s\n", b.ID, b.Error)
		}
		for _, step := range b.Restless {
			fmt.Fprintf(w, "%s did not come to rest: %s\n", b.ID, step)
		}
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "The budget was too small for %d batches: --resume runs them\n", len(r.Left))
	}
	for n, f := range r.Findings {
		fmt.Fprintf(w, "\nFinding %d: %s (%s: %s)\n", n+1, f.Signature(), strings.Join(f.Components, " or "), f.Class)
		printStory(w, f)
	}
	for _, f := range r.NotConfirmed {
		fmt.Fprintf(w, "\nNot confirmed alone: %s\n", f.Signature())
		printStory(w, f)
	}
	fmt.Fprintf(w, "\n%s. Scenarios: %s\n", reports.Counted(len(r.Findings), "finding"), filepath.Join(dir, "scenarios"))
}

func printStory(w io.Writer, f story.Finding) {
	table(w, "STORY\tALONE\tCONTROL\tOBJECT\tDETAIL", f.Found, func(of story.Found) string {
		return fmt.Sprintf("%s/%s\t%s\t%s\t%s\t%s", of.Dimension, of.Words, of.Alone, of.Control, of.Object, of.Detail)
	})
}
