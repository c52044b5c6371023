package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
)

func newSave() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "save FILE [COMPONENT@RELEASE | RELEASE | COMPONENT ...]",
		Short: "Build components, and save them to a file for other machines",
		Long: `Build components as skewrig build components does, and save them to a FILE for other machines,
which then need not build them; - is standard output. Such a machine needs the same version of
skewrig, and the same Go or none.`,
		Example: `  skewrig build save components.tar.zst       # the default pair
  skewrig build save kubelets.tar.zst kubelet@newest kubelet@previous`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.save(cmd, args[0], args[1:]) },
	}
	f.registerReleased(cmd)
	f.output.register(cmd)
	f.registerCells(cmd)
	return cmd
}

// save builds targets, and saves them to a file. If that is standard output, nothing else is printed there.
func (f *buildFlags) save(cmd *cobra.Command, file string, args []string) error {
	toStdout := file == app.Stdio
	switch {
	case file == "":
		return errors.New("the file has no name: name one, or - for standard output")
	case f.Assets != "":
		return fmt.Errorf("the ready-made binaries in %s can't be saved: unset KUBEBUILDER_ASSETS", f.Assets)
	case toStdout && f.json():
		return errors.New("- writes the archive to standard output, where JSON has no place: leave out one of them")
	case toStdout && isTerminal(cmd.OutOrStdout()):
		return errors.New("- would write the archive to a terminal: redirect it, or name a file")
	}
	builder, targets, err := f.openTargets(cmd, args)
	if err != nil {
		return err
	}
	done := f.telling(cmd, builder)
	built, err := app.Export(cmd.Context(), builder, targets, version(), file, cmd.OutOrStdout())
	done()
	if err != nil || toStdout {
		return err
	}
	return printResult(cmd, f.output, built, func(w io.Writer, built []build.Binary) {
		printBuilt(w, built)
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintf(w, "Saved to %s: %s\n", file, megabytes(info.Size()))
		}
	})
}

func newLoad() *cobra.Command {
	var b binaries
	var out output
	cmd := &cobra.Command{
		Use:     "load FILE",
		Short:   "Load components that another machine saved",
		Long:    "Put what is in a FILE of skewrig build save into the cache of this machine; - is standard input.",
		Example: "  skewrig build load components.tar.zst",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			builder := &build.Builder{Dir: b.CacheDir}
			done := b.telling(cmd, builder)
			loaded, err := app.Import(cmd.Context(), builder, version(), args[0], cmd.InOrStdin())
			done()
			if err != nil {
				return err
			}
			return printResult(cmd, out, loaded, printLoaded)
		},
	}
	out.register(cmd)
	registerCacheDir(cmd, &b.CacheDir)
	return cmd
}

func printLoaded(w io.Writer, loaded []build.Binary) {
	table(w, "COMPONENT\tRELEASE\tSIZE\tSTATE\tPATH", loaded, func(b build.Binary) string {
		state := "loaded"
		if b.Cached {
			state = "exists"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", b.Component, b.Version, megabytes(b.Bytes), state, b.Path)
	})
}
