package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// github is the flag that says whether this is a step of GitHub Actions, which
// shows annotations and a job summary.
type github struct{ choice }

func (g *github) register(cmd *cobra.Command) {
	g.choice.register(cmd, "github", "", "auto", "annotations and a job summary for GitHub Actions: auto (if GITHUB_ACTIONS is true), always or never", "auto", "always", "never")
}

func (g *github) on() bool {
	return g.value == "always" || g.value == "auto" && os.Getenv("GITHUB_ACTIONS") == "true"
}

// tell calls finish, which prints a report, and then writes annotations and a job summary for GitHub. If
// they can't be written, the verdict remains.
func (g *github) tell(cmd *cobra.Command, out output, report reports.Report, finish func() error) error {
	if !g.on() {
		return finish()
	}
	// A text that a program under test chose may look like a workflow command: none
	// is one until the token comes. The runner reads both outputs, each at its own
	// time, so that the annotations follow on the same one, unless that is for JSON.
	w := cmd.ErrOrStderr()
	token := ""
	if !out.json() {
		w, token = cmd.OutOrStdout(), rand.Text()
		fmt.Fprintf(w, "::stop-commands::%s\n", token)
	}
	verdict := finish()
	if token != "" {
		fmt.Fprintf(w, "::%s::\n", token)
	}
	if err := errors.Join(render.GitHubAnnotations(w, report), summarize(report)); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "skewrig: writing GitHub annotations: %v\n", err)
	}
	return verdict
}

// summarize appends to the summary of the step as much as still fits there.
func summarize(report reports.Report) (err error) {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening the job summary: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("reading the job summary: %w", err)
	}
	return render.GitHubSummary(f, report, render.MaxGitHubSummary-int(info.Size()))
}
