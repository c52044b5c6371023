package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
)

// buildFlags are those of skewrig build components.
type buildFlags struct {
	binaries
	output
	cells            []string
	list, prune, all bool
}

var _ = register(useCluster, newBuild)

func newBuild() *cobra.Command {
	return newParent(&cobra.Command{
		Use:   "build",
		Short: "Build components and images, and carry them to other machines",
		Long: `Build components of Kubernetes from their releases, images for nodes and for mocks, and carry
components to other machines. Without a subcommand, it is skewrig build components.`,
		Example: `  skewrig build
  skewrig build save components.tar.zst`,
	}, true, newComponents(), newNodeImage(), newMockImage(), newSave(), newLoad())
}

func newComponents() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "components [COMPONENT@RELEASE | RELEASE | COMPONENT ...]",
		Short: "Build components from their releases",
		Long: `Build components from the Go modules of their releases, or with --source from a checkout,
into a cache. Without arguments, build the components that the default cells need; with --for,
those that some cells need.`,
		Example: `  skewrig build components                       # the default pair
  skewrig build components kubelet@v1.35         # one component
  skewrig build components v1.34                 # all components of a release
  skewrig build components --for 'kep-4939/**'    # what these cells need
  skewrig build components --list
  skewrig build components kubelet@newest --overlay pkg/probe/grpc/grpc.go=./mine.go
  skewrig build components kubelet@newest --source ../kubernetes     # your own checkout`,
		RunE: f.run,
	}
	f.registerDescribed(cmd)
	f.output.register(cmd)
	f.registerCells(cmd)
	cmd.Flags().BoolVar(&f.list, "list", false, "list the entries of the cache")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "remove cache entries that the default cells don't need")
	cmd.Flags().BoolVar(&f.all, "all", false, "with --prune: remove everything")
	for flag, others := range map[string][]string{"prune": {"for", "overlay", "source", "list"}, "list": {"for", "overlay", "source", "all"}} {
		for _, other := range others {
			cmd.MarkFlagsMutuallyExclusive(flag, other)
		}
	}
	return cmd
}

func (f *buildFlags) registerCells(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.cells, "for", nil, "build what the cells need that a PATTERN or a scenario FILE selects (repeatable)")
}

func (f *buildFlags) run(cmd *cobra.Command, args []string) error {
	switch {
	case f.all && !f.prune:
		return errors.New("--all is for --prune")
	case (f.list || f.prune) && len(args) > 0:
		return fmt.Errorf("--list and --prune are about the whole cache: leave out %s", strings.Join(args, " "))
	case f.list:
		return f.runList(cmd)
	case f.prune:
		return f.runPrune(cmd)
	}
	builder, targets, err := f.openTargets(cmd, args)
	if err != nil {
		return err
	}
	built, err := f.build(cmd.Context(), cmd, builder, targets, nil)
	if err != nil {
		return err
	}
	return printResult(cmd, f.output, built, printBuilt)
}

// openTargets returns a builder, and what it is to build.
func (f *buildFlags) openTargets(cmd *cobra.Command, args []string) (*build.Builder, []build.Target, error) {
	builder, here, err := f.open(cmd)
	if err != nil {
		return nil, nil, err
	}
	targets, err := planning(cmd.Context(), func() ([]build.Target, error) { return f.targets(here, args) })
	return builder, builder.On(targets), err
}

func printBuilt(w io.Writer, built []build.Binary) {
	table(w, "COMPONENT\tRELEASE\tSIZE\tPATH", built, func(b build.Binary) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s", b.Component, b.Version, megabytes(b.Bytes), b.Path)
	})
}

func (f *buildFlags) targets(here app.Catalog, args []string) ([]build.Target, error) {
	targets, err := f.selected(here, args)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		some, err := build.ParseTargets(arg, here.Releases)
		if err != nil {
			return nil, err
		}
		targets = append(targets, some...)
	}
	return targets, nil
}

// selected are what the cells need that the flags name. Without these and without
// arguments, they are the default cells.
func (f *buildFlags) selected(here app.Catalog, args []string) ([]build.Target, error) {
	switch {
	case len(f.cells) > 0:
		cells, err := here.Select(f.cells)
		return app.Targets(cells), err
	case len(args) > 0:
		return nil, nil
	default:
		return here.DefaultTargets(), nil
	}
}

// defaultTargets are what the default cells of the working directory need.
func defaultTargets() ([]build.Target, error) {
	here, err := app.Here()
	return here.DefaultTargets(), err
}

func (f *buildFlags) runList(cmd *cobra.Command) error {
	entries, err := (&build.Builder{Dir: f.CacheDir}).List()
	if err != nil {
		return app.Failed(err)
	}
	return f.printEntries(cmd, entries)
}

func (f *buildFlags) runPrune(cmd *cobra.Command) error {
	builder := &build.Builder{Dir: f.CacheDir}
	entries, err := builder.List()
	if err != nil {
		return app.Failed(err)
	}
	needed, err := planning(cmd.Context(), defaultTargets)
	if err != nil {
		return err
	}
	newest := make(map[string]time.Time) // of what the default cells need
	for _, t := range needed {
		newest[t.String()] = time.Time{}
	}
	for _, e := range entries {
		if at, wanted := newest[e.Target.String()]; wanted && e.Created.After(at) {
			newest[e.Target.String()] = e.Created
		}
	}
	removed, err := builder.Prune(func(e build.Entry) bool {
		at, wanted := newest[e.Target.String()]
		return !f.all && wanted && e.Created.Equal(at)
	})
	if err != nil {
		return app.Failed(err)
	}
	return f.printEntries(cmd, removed)
}

// printEntries prints entries of the cache.
func (f *buildFlags) printEntries(cmd *cobra.Command, entries []build.Entry) error {
	entries = slices.Concat([]build.Entry{}, entries) // none is an empty list in JSON
	return printResult(cmd, f.output, entries, func(w io.Writer, entries []build.Entry) {
		var total int64
		table(w, "COMPONENT\tRELEASE\tSIZE\tBUILT\tPATH", entries, func(e build.Entry) string {
			total += e.Bytes
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", e.Target.Component, e.Target.Version, megabytes(e.Bytes), e.Created.Format(time.DateTime), e.Path)
		})
		fmt.Fprintf(w, "%d binaries, %s\n", len(entries), megabytes(total))
	})
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
