package main

import (
	"context"
	"encoding/json"
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

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "skewrig",
		Short: "Real Kubernetes components of any mix of releases, without containers",
		Long: `skewrig runs real Kubernetes components of any mix of releases and feature
gates, without containers and without root, through declarative scenarios, and
reports what they did.

Exit codes: 0 all as expected, 1 a nonconformance, 2 not judged, 3 nothing was started.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	registerLevel(root)
	root.AddCommand(newBuild(), newGates(), newUp(), newPS(), newLogs(), newList(), newPlan(), newRun(), newShard(), newDev(), newJudge(), newReport(), newDiff(), newTrace(), newFinding(), newTrend(), newGraduate(), newPRR(), newSimulate(), newSweep(), newUpstream(), newRelease(), newPodsAPI(), newSchema(), newInit(), newScaffold(), newDocs(), newVersion())
	group(root)
	registerCompletions(root)
	sayUsage(root)
	return root
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
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
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
