package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// finishFailedRun prints the report of a failed run as a step of GitHub Actions does, and returns the output.
func finishFailedRun(t *testing.T, mode, format string) (stdout, stderr string) {
	t.Helper()
	report, err := reports.Assemble([]reports.Cell{{ID: "a/b/c", Checks: []reports.Check{{ID: "x", Outcome: reports.Fail}}}}, nil, reports.Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	cmd := new(cobra.Command)
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	g, want := github{choice{value: mode}}, errors.New("the verdict")
	err = g.tell(cmd, output{choice: choice{value: format}}, report, func() error {
		fmt.Fprintln(&out, "  ::error::owned")
		return want
	})
	if !errors.Is(err, want) {
		t.Errorf("error %v, want the verdict", err)
	}
	return out.String(), errOut.String()
}

func TestServePrintsItsAddressForGitHub(t *testing.T) {
	summary := filepath.Join(t.TempDir(), "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	for name, tc := range map[string]struct {
		mode, actions string
		on            bool
	}{
		"there":        {"auto", "true", true},
		"elsewhere":    {"auto", "", false},
		"not wanted":   {"never", "true", false},
		"wanted":       {"always", "", true},
		"another CI's": {"auto", "false", false},
	} {
		t.Setenv("GITHUB_ACTIONS", tc.actions)
		if err := os.RemoveAll(summary); err != nil {
			t.Fatal(err)
		}
		stdout, _ := finishFailedRun(t, tc.mode, "text")
		written, _ := os.ReadFile(summary)
		if got := strings.Contains(stdout, "::error title=a/b/c::"); got != tc.on || len(written) > 0 != tc.on {
			t.Errorf("%s: annotated %t, and a summary of %d bytes, want %t", name, got, len(written), tc.on)
		}
	}
}

// TestNothingPrintedIsAWorkflowCommand looks at what the runner does: between
// stop-commands and its token it obeys nothing.
func TestNothingPrintedIsAWorkflowCommand(t *testing.T) {
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	stdout, _ := finishFailedRun(t, "always", "text")
	lines := strings.Split(stdout, "\n")
	token, stops := strings.CutPrefix(lines[0], "::stop-commands::")
	if !stops || len(token) < 16 || lines[1] != "  ::error::owned" || lines[2] != "::"+token+"::" || !strings.HasPrefix(lines[3], "::error title=a/b/c::") {
		t.Errorf("printed:\n%s", stdout)
	}
	stdout, stderr := finishFailedRun(t, "always", "json")
	if strings.Contains(stdout, "title=") || strings.Contains(stdout, "stop-commands") || !strings.HasPrefix(stderr, "::error title=a/b/c::") {
		t.Errorf("with JSON, printed:\n%s\nand\n%s", stdout, stderr)
	}
}

func TestAJobSummaryIsAppendedAndBounded(t *testing.T) {
	summary := filepath.Join(t.TempDir(), "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	golden.Write(t, summary, "# Before\n")
	finishFailedRun(t, "always", "text")
	written, err := os.ReadFile(summary)
	if err != nil || !strings.HasPrefix(string(written), "# Before\n## skewrig: ") {
		t.Errorf("%v:\n%s", err, written)
	}
	full := strings.Repeat("x", render.MaxGitHubSummary-10)
	golden.Write(t, summary, full)
	finishFailedRun(t, "always", "text")
	if written, err := os.ReadFile(summary); err != nil || string(written) != full {
		t.Errorf("%d bytes are there now, %v", len(written), err)
	}
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(summary, "no", "directory"))
	if _, stderr := finishFailedRun(t, "always", "text"); !strings.Contains(stderr, "job summary") {
		t.Errorf("a summary that can't be written: %q", stderr)
	}
}

func TestNoSuchGitHub(t *testing.T) {
	if code, _, stderr := skewrig(t, "run", "--github", "yes"); code != exitUsage || !strings.Contains(stderr, "--github") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
