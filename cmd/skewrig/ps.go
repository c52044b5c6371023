package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/rigs"
	"github.com/skewrig/skewrig/reports/render"
)

func newRigs() *cobra.Command {
	var out output
	var prune bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rigs that run on this machine",
		Long: `List your rigs on this machine: those of cells that run, and those that skewrig
cluster up started. A rig has a kubeconfig, and its name is what skewrig cluster logs takes. Their
directories are in $TMPDIR, or /tmp.

A rig removes its directory when it ends, also when it is killed. After a power cut,
for example, a directory may be left. These are listed apart; --prune removes them,
and nothing that a process still has.`,
		Example: `  skewrig cluster list
  skewrig cluster list -o json
  skewrig cluster list --prune`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := app.Rigs
			text := printRigs
			if prune {
				list, text = app.Prune, printPruned
			}
			all, err := list()
			if err != nil && len(all) == 0 {
				return err
			}
			return errors.Join(printResult(cmd, out, all, text), err)
		},
	}
	out.register(cmd)
	cmd.Flags().BoolVar(&prune, "prune", false, "remove what killed processes have left, and print that instead")
	return cmd
}

// printRigs prints those that run, and apart from them what is left of others.
func printRigs(w io.Writer, all []rigs.Rig) {
	var running, left []rigs.Rig
	for _, r := range all {
		if r.Running {
			running = append(running, r)
		} else {
			left = append(left, r)
		}
	}
	if len(running) == 0 {
		fmt.Fprintln(w, "No rig runs.")
	} else {
		table(w, "NAME\tPID\tSINCE\tRELEASES\tFOR", running, func(r rigs.Rig) string {
			return fmt.Sprintf("%s\t%d\t%s\t%s\t%s", r.Name, r.PID, when(r.Since), strings.Join(r.Releases, ", "), r.For)
		})
	}
	for _, r := range running {
		fmt.Fprintf(w, "\n%s\n  kubeconfig  %s\n  directory   %s\n", r.Name, render.VisibleWhole(r.Kubeconfig), r.Dir)
		if r.ReportDir != "" {
			fmt.Fprintf(w, "  report      %s\n", render.VisibleWhole(r.ReportDir))
		}
	}
	if len(left) > 0 {
		fmt.Fprintln(w, "\nLeft by processes that were killed (skewrig cluster list --prune removes it):")
		printDirs(w, left)
	}
}

func printPruned(w io.Writer, removed []rigs.Rig) {
	if len(removed) == 0 {
		fmt.Fprintln(w, "Nothing to remove.")
		return
	}
	fmt.Fprintln(w, "Removed:")
	printDirs(w, removed)
}

func printDirs(w io.Writer, all []rigs.Rig) {
	for _, r := range all {
		fmt.Fprintf(w, "  %s  of pid %d, since %s\n", r.Dir, r.PID, when(r.Since))
	}
}

func when(t time.Time) string { return t.Local().Format(time.DateTime) }
