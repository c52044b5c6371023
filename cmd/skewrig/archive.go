package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
)

// registerArchives registers the flags that carry components to other machines.
func (f *buildFlags) registerArchives(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.to, "export", "", "also write what is built to a FILE for other machines; - is standard output")
	cmd.Flags().StringVar(&f.from, "import", "", "put what is in a FILE of --export into the cache; - is standard input")
}

// runExport builds targets and exports them. If the archive goes to standard output,
// nothing else does.
func (f *buildFlags) runExport(cmd *cobra.Command, builder *build.Builder, targets []build.Target) error {
	toStdout := f.to == app.Stdio
	switch {
	case f.to == "":
		return errors.New("--export names no file: name one, or - for standard output")
	case f.Assets != "":
		return fmt.Errorf("the ready-made binaries in %s can't be exported: unset KUBEBUILDER_ASSETS", f.Assets)
	case toStdout && f.json():
		return errors.New("--export - writes the archive to standard output, where JSON has no place: leave out one of them")
	case toStdout && isTerminal(cmd.OutOrStdout()):
		return errors.New("--export - would write the archive to a terminal: redirect it, or name a file")
	}
	done := f.telling(cmd, builder)
	built, err := app.Export(cmd.Context(), builder, targets, version(), f.to, cmd.OutOrStdout())
	done()
	if err != nil || toStdout {
		return err
	}
	return printResult(cmd, f.output, built, func(w io.Writer, built []build.Binary) {
		printBuilt(w, built)
		if info, err := os.Stat(f.to); err == nil {
			fmt.Fprintf(w, "Exported to %s: %s\n", f.to, megabytes(info.Size()))
		}
	})
}

// runImport imports what is in an archive.
func (f *buildFlags) runImport(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("--import takes all that the file has: leave out %s", strings.Join(args, " "))
	}
	builder := &build.Builder{Dir: f.CacheDir}
	done := f.telling(cmd, builder)
	imported, err := app.Import(cmd.Context(), builder, version(), f.from, cmd.InOrStdin())
	done()
	if err != nil {
		return err
	}
	return printResult(cmd, f.output, imported, printImported)
}

func printImported(w io.Writer, imported []build.Binary) {
	table(w, "COMPONENT\tRELEASE\tSIZE\tSTATE\tPATH", imported, func(b build.Binary) string {
		state := "imported"
		if b.Cached {
			state = "was there already"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", b.Component, b.Version, megabytes(b.Bytes), state, b.Path)
	})
}
