package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/reports/render"
)

// saveReport writes a report with one cell of KEP-4188, which has no record.
func saveReport(t *testing.T, dir string, o reports.Outcome) {
	t.Helper()
	cell := reports.Cell{
		ID: "kep-4188/gate/toggled/kubelet:v1.90.1", Scenario: "kep-4188/gate/toggled", KEP: "KEP-4188", Axes: map[string]string{"kubelet": "v1.90.1"},
		Checks: []reports.Check{{ID: "served", Requirement: "KEP-4188/gate/on", Outcome: o, Expected: "OK", Observed: "OK"}},
	}
	report, err := reports.Assemble([]reports.Cell{cell}, []reports.Requirement{{ID: "KEP-4188/gate/on"}}, reports.Reproduce{Command: "skewrig run"})
	if err != nil {
		t.Fatal(err)
	}
	if err := render.WriteDir(dir, report); err != nil {
		t.Fatal(err)
	}
}

func TestGraduateExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	saveReport(t, "report", reports.Pass)
	saveReport(t, "deviates", reports.ExpectedFail)
	for name, tc := range map[string]struct {
		args []string
		code int
		want string // on standard output, or on standard error
	}{
		"evidence is missing":   {[]string{"kep-4188", "--stage", "alpha"}, 2, "skewrig run 'kep-4188/"},
		"a check contradicts":   {[]string{"kep-4188", "--stage", "alpha", "--report", "deviates"}, 1, "contradicted by: kep-4188/gate/toggled/kubelet:v1.90.1"},
		"one of two reports":    {[]string{"kep-4188", "--stage", "alpha", "--report", "report", "--report", "deviates"}, 1, "report: deviates (1 cell counted)"},
		"nothing of the KEP":    {[]string{"kep-4939", "--stage", "beta"}, 2, "no cell of KEP-4939 ran"},
		"no report":             {[]string{"kep-4188", "--stage", "alpha", "--report", "nowhere"}, 2, "nowhere"},
		"no such KEP":           {[]string{"kep-1", "--stage", "beta"}, 3, "kep-4188, kep-4939, kep-5999"},
		"no such stage":         {[]string{"kep-4188", "--stage", "ga"}, 3, "supported values: alpha, beta, stable"},
		"no such format":        {[]string{"kep-4188", "--stage", "alpha", "-o", "xml"}, 3, "markdown"},
		"as Markdown":           {[]string{"kep-4188", "--stage", "alpha", "-o", "markdown"}, 2, "## No evidence"},
		"a KEP by its number":   {[]string{"4188", "--stage", "alpha"}, 2, "KEP-4188, alpha in v1.36"},
		"two KEPs are too many": {[]string{"kep-4188", "kep-4939"}, 3, "got 2 arguments"},
	} {
		code, stdout, stderr := skewrig(t, append([]string{"kep", "graduate"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
			t.Errorf("%s: exit code %d, want %d and %q in\n%s%s", name, code, tc.code, tc.want, stdout, stderr)
		}
	}
	var result graduation.Result
	_, stdout, _ := skewrig(t, "kep", "graduate", "kep-4188", "--stage", "alpha", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || result.Count(graduation.NoEvidence) == 0 {
		t.Errorf("%v: %+v", err, result)
	}
}

func TestPRR(t *testing.T) {
	t.Chdir(t.TempDir())
	saveReport(t, "report", reports.Pass)
	code, stdout, stderr := skewrig(t, "kep", "prr", "kep-4188")
	for _, want := range []string{
		"## " + prr.Title + "\n", "###### " + prr.Enablement + "\n",
		"Turn the gate on in the kubelet, and in no other component. Tested on v1.90.1: `kep-4188/gate/toggled/kubelet:v1.90.1`.\n",
		"**Shown:**\n\n- With the gate on in the kubelet, and in no other component, the API is served.\n  - 1 check held in `kep-4188/gate/toggled/kubelet:v1.90.1`",
		"**Open.** No run has shown it yet.\n\n**Open:**\n\n- No run has tested this yet: ",
	} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, and %q is not in\n%s%s", code, want, stdout, stderr)
		}
	}
	var result prr.Result
	_, stdout, _ = skewrig(t, "kep", "prr", "kep-4188", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || len(result.Answers) != 25 {
		t.Errorf("%v: %d answers", err, len(result.Answers))
	}
	if code, _, stderr = skewrig(t, "kep", "prr", "kep-4188", "--report", "nowhere"); code != exitNotJudged || !strings.Contains(stderr, "nowhere") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestTheCommandsOfItsPage runs the first block of docs/keps.md on small reports.
func TestTheCommandsOfItsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "keps.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, dir := range []string{"report", "monday", "tuesday"} {
		saveReport(t, dir, reports.Pass)
	}
	_, block, _ := strings.Cut(string(page), "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	commands := 0
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, "#")
		line, _, _ = strings.Cut(line, ">")
		args, is := strings.CutPrefix(strings.TrimSpace(line), "skewrig ")
		if !is {
			t.Errorf("%q is no command", line)
			continue
		}
		commands++
		if code, stdout, stderr := skewrig(t, strings.Fields(args)...); code == exitUsage || stdout == "" {
			t.Errorf("%s: exit code %d: %s", line, code, stderr)
		}
	}
	if commands < 4 {
		t.Errorf("the page has %d commands", commands)
	}
}
