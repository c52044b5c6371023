package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// choice is a flag that can be one of some words.
type choice struct {
	value string
	of    []string
}

// register registers the flag with its default, which may be none, and what it can
// be.
func (c *choice) register(cmd *cobra.Command, name, shorthand, value, usage string, of ...string) {
	c.value, c.of = value, of
	cmd.Flags().VarP(c, name, shorthand, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)) // there is the flag
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "string" }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.of, text) {
		return fmt.Errorf("supported values: %s", strings.Join(c.of, ", "))
	}
	c.value = text
	return nil
}

// output is the format of what a command prints.
type output struct {
	choice

	// listed says that the reader has seen a line of each cell that ran.
	listed bool
}

func (o *output) register(cmd *cobra.Command) {
	o.choice.register(cmd, "output", "o", "text", "text or json", "text", "json")
}

func (o *output) json() bool { return o.value == "json" }

// printResult prints a result as JSON, or as the text that a function writes to memory.
func printResult[T any](cmd *cobra.Command, out output, result T, text func(io.Writer, T)) error {
	if out.json() {
		return app.Failed(printJSON(cmd.OutOrStdout(), result))
	}
	b := sheet{width: columns(cmd.OutOrStdout())}
	text(&b, result)
	return app.Failed(b.printTo(cmd.OutOrStdout()))
}

// sheet is memory for a text that is to be read on a terminal of so many columns, or on
// none if that is 0.
type sheet struct {
	bytes.Buffer

	width int
}

// printTo prints the sheet where it is to be read. Lines that are wider are broken.
func (s *sheet) printTo(w io.Writer) error {
	_, err := io.WriteString(w, render.Fit(s.String(), s.width))
	return err
}

// fitted prints what a function writes as a sheet.
func fitted(w io.Writer, write func(io.Writer) error) error {
	s := sheet{width: columns(w)}
	return errors.Join(write(&s), s.printTo(w))
}

// table prints rows of tab-separated columns to memory, each in one printable line: much
// of it is from programs under test. On a sheet they fit its width.
func table[T any](w io.Writer, header string, rows []T, row func(T) string) {
	width := 0
	if s, is := w.(*sheet); is {
		width = s.width
	}
	var cells [][]string
	for _, r := range rows {
		columns := strings.SplitN(row(r), "\t", strings.Count(header, "\t")+1)
		for i, text := range columns {
			columns[i] = render.Printable(text)
		}
		cells = append(cells, columns)
	}
	_, _ = io.WriteString(w, render.Table(strings.Split(header, "\t"), cells, width)) // to memory
}

// registerKnown registers the flag that names a list of what is known to fail.
func registerKnown(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "known-deviations", "", "a list of checks that are known to fail, with reasons and links, in addition to the catalog's list")
}

// registerReport registers the flag that names a saved report. Shorthand is f, or empty where -f means something else.
func registerReport(cmd *cobra.Command, dir *string, shorthand string) {
	cmd.Flags().StringVarP(dir, "report", shorthand, defaultReport, "the directory of a saved report")
}

// registerReports registers the flag that names saved reports.
func registerReports(cmd *cobra.Command, dirs *[]string) {
	cmd.Flags().StringArrayVarP(dirs, "report", "f", []string{defaultReport}, "the directory of a saved report (repeatable)")
}

// defaultReport is the directory where a run writes its report, and where it is read from, unless a flag says otherwise.
const defaultReport = "report"

// dirFirst returns the directory of a saved report, and the arguments that don't name it: the first one does unless
// --report is given.
func dirFirst(cmd *cobra.Command, dir string, args []string) (string, []string) {
	if len(args) == 0 || cmd.Flags().Changed("report") {
		return dir, args
	}
	return args[0], args[1:]
}

// dirsOr returns the arguments if there are any, and otherwise the directories of --report.
func dirsOr(dirs, args []string) []string {
	if len(args) > 0 {
		return args
	}
	return dirs
}

// registerCacheDir registers the flag that names the cache of built components.
func registerCacheDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "cache-dir", "", "directory of built components (default: skewrig in the user's cache directory)")
}

// binaries are the flags that say where components come from.
type binaries struct {
	app.Binaries
	onlyNew bool // what is in the cache is not reported
}

// register registers all of them, before the command has others. Its help names them, and no more.
func (b *binaries) register(cmd *cobra.Command) {
	b.registerDescribed(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { _ = cmd.Flags().SetAnnotation(f.Name, ofBuild, nil) }) // it exists
}

// registerDescribed registers all of them, and the help of the command describes them.
func (b *binaries) registerDescribed(cmd *cobra.Command) {
	b.registerReleased(cmd)
	cmd.Flags().StringArrayVar(&b.Given, "binary", nil,
		"use a prebuilt binary: COMPONENT=PATH for the release that it reports, or COMPONENT@RELEASE=PATH (repeatable; also from KUBEBUILDER_ASSETS)")
	cmd.Flags().StringArrayVar(&b.Overlays, "overlay", nil,
		"compile FILE instead of PATH of k8s.io/kubernetes: PATH=FILE, or COMPONENT@RELEASE:PATH=FILE for one component or one release of it (repeatable)")
	b.registerSources(cmd)
}

// registerReleased registers those about components of releases as they are.
func (b *binaries) registerReleased(cmd *cobra.Command) {
	b.Assets = os.Getenv("KUBEBUILDER_ASSETS")
	b.registerBuild(cmd)
	b.registerPair(cmd)
}

// registerBuild registers those that say how releases are compiled.
func (b *binaries) registerBuild(cmd *cobra.Command) {
	registerCacheDir(cmd, &b.CacheDir)
	cmd.Flags().Func("toolchain", "the Go that compiles Kubernetes: local, which is the installed one, or a newer one that a release needs; "+
		"or released, which is the one that each release was published with (default local)", func(text string) (err error) {
		b.Toolchain, err = build.ParseToolchain(text)
		return err
	})
	cmd.Flags().StringArrayVar(&b.StandIns, "stand-in", nil,
		"compile another module than one that Kubernetes asks for and that can't be had: MODULE=VERSION, MODULE=OTHER@VERSION or MODULE=./DIR; the report names it (repeatable)")
}

// registerPair registers those that say what newest and previous are.
func (b *binaries) registerPair(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.Newest, "newest", "", "the release that scenarios call newest, such as vX.Y.0-beta.0 (default: see skewrig version)")
	cmd.Flags().StringVar(&b.Previous, "previous", "", "the one that they call previous (default: with --newest, the newest known release of the minor version before)")
}

// registerReleases registers those that say what newest, previous and a release stand for, and how a release is asked
// for its gates.
func (b *binaries) registerReleases(cmd *cobra.Command) {
	b.registerBuild(cmd)
	b.registerPair(cmd)
	b.registerSources(cmd)
}

func (b *binaries) registerSources(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&b.Sources, "source", nil,
		"compile a git checkout of Kubernetes, with what is not committed, in the place of the newest release: DIR, or DIR@REF for a commit; COMPONENT=DIR or COMPONENT@RELEASE=DIR for one component, or one release of it (repeatable)")
}

// selected are the cells that arguments select, on the sources.
func (b *binaries) selected(cmd *cobra.Command, args []string) ([]plan.Cell, error) {
	if err := app.CheckPatterns(args); err != nil {
		return nil, err
	}
	_, here, err := b.open(cmd)
	if err != nil {
		return nil, err
	}
	return planning(cmd.Context(), func() ([]plan.Cell, error) { return here.Select(args) })
}

// open returns a builder, and the catalog of the working directory on what it builds. It tells
// what sources are.
func (b *binaries) open(cmd *cobra.Command) (*build.Builder, app.Catalog, error) {
	builder, err := b.Builder(cmd.Context())
	if err != nil {
		return nil, app.Catalog{}, err
	}
	for _, s := range builder.Sources {
		fmt.Fprintf(news(cmd), "%s is %s\n", s, render.Printable(s.About()))
	}
	here, err := planning(cmd.Context(), func() (app.Catalog, error) { return app.HereOn(builder.Releases()) })
	return builder, here, err
}

// build builds targets, which cells ask for, if any, and tells about it.
func (b *binaries) build(ctx context.Context, cmd *cobra.Command, builder *build.Builder, targets []build.Target, cells []plan.Cell) ([]build.Binary, error) {
	defer b.telling(cmd, builder)()
	return app.Build(ctx, builder, targets, cells)
}

// telling has a builder tell what it does, until done is called.
func (b *binaries) telling(cmd *cobra.Command, builder *build.Builder) (done func()) {
	p := newProgress(news(cmd))
	tell := tellBuild(cmd, p)
	builder.Progress = func(p build.Progress) {
		if !b.onlyNew || p.State != build.Cached {
			tell(p)
		}
	}
	return func() {
		builder.Progress = nil
		p.close()
	}
}

// registerParallel registers the flag that says how many cells run in parallel.
func registerParallel(cmd *cobra.Command, parallel *int) {
	cmd.Flags().IntVar(parallel, "parallel", app.Parallel(), "maximum number of cells in parallel (three times as many for cells that share a control plane)")
	cmd.Flags().Lookup("parallel").DefValue = "what cores and memory allow" // the same help on all machines
}

func checkParallel(parallel int) error {
	if parallel < 1 {
		return fmt.Errorf("--parallel is %d; it must be at least 1", parallel)
	}
	return nil
}
