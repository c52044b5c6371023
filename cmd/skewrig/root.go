package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/reports/render"
)

// groups are the headings of the help, in its order.
var groups = []string{startHere, lookFurther, useCluster, lookUp}

const (
	startHere   = "Start here:"
	lookFurther = "Look further:"
	useCluster  = "Use a cluster, build:"
	lookUp      = "Look up:"
)

// registered are the constructors of the commands below the root.
var registered []func() *cobra.Command

// register adds a command to a group of the help. Without a group, the help does not list it. The file of each command
// registers it: var _ = register(...).
func register(group string, newCommand func() *cobra.Command) func() *cobra.Command { //nolint:unparam // a variable of the package needs a value
	registered = append(registered, func() *cobra.Command {
		cmd := newCommand()
		cmd.GroupID, cmd.Hidden = group, group == ""
		return cmd
	})
	return newCommand
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "skewrig",
		Short: "Real Kubernetes components of any mix of releases, without containers",
		Long: `skewrig runs real Kubernetes components of any mix of releases and feature
gates, without containers and without root, through declarative scenarios, and
reports what they did.

Exit codes: 0 all as expected, 1 a nonconformance, 2 not judged, 3 nothing was started.`,
		Version:           version(),
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	registerLevel(root)
	for _, title := range groups {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
	}
	for _, newCommand := range registered {
		root.AddCommand(newCommand())
	}
	hideReplaced(root)
	registerCompletions(root)
	installUsage(root)
	return root
}

// rootHelp is the help of the root: it fits a screen of 24 lines and 80 columns.
func rootHelp(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", root.Short)
	for _, title := range groups {
		fmt.Fprintf(&b, "%s\n", title)
		for _, c := range root.Commands() {
			if c.GroupID == title {
				fmt.Fprintf(&b, "  %-9s %s\n", c.Name(), c.Short)
			}
		}
	}
	b.WriteString("Exit codes: 0 all as expected, 1 a nonconformance, 2 not judged, 3 not started.\n" +
		"See skewrig COMMAND --help, skewrig docs start, and skewrig completion --help.\n")
	return b.String()
}

// newParent returns a command that only has subcommands. Called without one, it runs the first, if that needs no
// argument, or prints its help.
func newParent(cmd *cobra.Command, runsFirst bool, children ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !runsFirst {
			return cmd.Help()
		}
		children[0].SetContext(cmd.Context())
		return children[0].RunE(children[0], nil)
	}
	cmd.AddCommand(children...)
	return cmd
}

// version is the version of this skewrig: the module's, or the commit it was
// built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

// versionOf is the version of the main module that a build was made of or, if that has none,
// the commit.
func versionOf(info *debug.BuildInfo) string {
	commit, changed := strings.CutSuffix(commitOf(info), ", modified")
	switch {
	case commit == "" || semver.IsValid(info.Main.Version):
		return info.Main.Version
	case changed:
		return commit + "+dirty"
	}
	return commit
}

func printJSON[T any](w io.Writer, v T) error {
	return render.JSON(w, v)
}

// finish prints a report, which is in a directory if that is set, and turns it
// into an exit code.
func finish(cmd *cobra.Command, out output, report reports.Report, dir string) error {
	if err := printReport(cmd.Context(), cmd.OutOrStdout(), out, report, dir); err != nil {
		return app.Failed(err)
	}
	return exit(reports.ExitCode(report))
}

func printReport(ctx context.Context, w io.Writer, out output, report reports.Report, dir string) error {
	if out.json() {
		return printJSON(w, report)
	}
	options := render.TerminalOptions{Report: dir, Page: page.Name, Listed: out.listed, Color: colorful(w), Width: columns(w)}
	if dir != "" {
		options.Causes = app.CausesOf(ctx, dir)
	}
	return render.Terminal(w, report, options)
}
