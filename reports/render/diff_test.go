package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

var diffFormats = map[string]func(io.Writer, diff.Diff) error{
	"diff.json": JSON[diff.Diff],
	"diff.md":   DiffMarkdown,
	"diff.txt":  func(w io.Writer, d diff.Diff) error { return DiffTerminal(w, d, TerminalOptions{}) },
	"diff.color.txt": func(w io.Writer, d diff.Diff) error {
		return DiffTerminal(w, d, TerminalOptions{Color: true})
	},
}

func renderDiff(t *testing.T, format string, d diff.Diff) string {
	t.Helper()
	var out bytes.Buffer
	if err := diffFormats[format](&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// withChanges is the mixed report with something in it for each section of a diff.
func withChanges(t *testing.T) reports.Report {
	t.Helper()
	r := mixed(t, 1)
	cells := r.Cells[:0]
	for _, c := range r.Cells {
		switch c.Scenario {
		case "plaintext": // a regression
			c.Checks = []reports.Check{{ID: "never-restarted", Outcome: reports.Fail, Expected: "no restart", Observed: "2 restarts"}}
			c.Outcome, c.Reason, c.DurationSeconds = "", "", 62
		case "stale", "gate-off": // a fix, and another reason
			c.Checks = []reports.Check{{ID: "bounded-growth", Outcome: reports.Pass, Expected: "at most 2 ReplicaSets", Observed: "2"}}
			c.Outcome, c.Reason, c.Requirements = "", "", nil
			if c.Scenario == "gate-off" {
				c.Checks, c.Outcome, c.Reason = nil, reports.HarnessError, "starting the kubelet: exit status 2"
			}
		case "flaky": // another expectation
			c.Checks[0].Expected = "up for 10s"
		case "known":
			continue // gone
		}
		cells = append(cells, c)
	}
	cells = append(cells, reports.Cell{ID: "kep-4939/skew/added", Checks: []reports.Check{{ID: "up", Requirement: rollback, Outcome: reports.Pass}}})
	r2, err := reports.Assemble(cells, r.Requirements, r.Reproduce)
	if err != nil {
		t.Fatal(err)
	}
	r2.Reproduce.Components[1].Digest = "sha256:" + strings.Repeat("99", 32)
	r2.Problems = []string{"known.yaml:12:3: matches no check"}
	return r2
}

// diffsUnderTest are the diffs that have golden files.
func diffsUnderTest(t *testing.T) map[string]diff.Diff {
	t.Helper()
	empty := assemble(t, nil)
	bare := hostile(t)
	for i, c := range bare.Cells {
		bare.Cells[i].Checks = nil
		bare.Cells[i].Outcome = reports.Pass
		bare.Cells[i].ID = c.ID
	}
	all := strings.Join(nasty[:len(nasty)-1], " ")
	return map[string]diff.Diff{
		"mixed":   diff.Compare(mixed(t, 1), withChanges(t), diff.Options{From: "main", To: "report"}),
		"nothing": diff.Compare(mixed(t, 1), mixed(t, 2), diff.Options{From: "main", To: "report"}),
		"hostile": diff.Compare(bare, hostile(t), diff.Options{From: all, To: nasty[2]}),
		"unknown": diff.Compare(empty, hostile(t), diff.Options{From: all, To: nasty[3]}),
	}
}

func TestDiffGolden(t *testing.T) {
	t.Parallel()
	for name, d := range diffsUnderTest(t) {
		for format := range diffFormats {
			got := renderDiff(t, format, d)
			golden.Check(t, filepath.Join("testdata", name+"."+format), got)
		}
	}
}

func TestEverySectionOfADiffIsRendered(t *testing.T) {
	t.Parallel()
	d := diffsUnderTest(t)["mixed"]
	for _, s := range diff.Sections() {
		if d.Count(s) == 0 {
			t.Errorf("nothing is in %s: this test proves nothing", s)
		}
		for _, format := range []string{"diff.md", "diff.txt"} {
			if !strings.Contains(renderDiff(t, format, d), counted(d, s)) {
				t.Errorf("%s does not tell of %s", format, counted(d, s))
			}
		}
	}
}

func TestADiffControlsNoTerminal(t *testing.T) {
	t.Parallel()
	ours := regexp.MustCompile("\x1b\\[(31|32|33|36|0)m")
	for name, d := range diffsUnderTest(t) {
		for _, format := range []string{"diff.txt", "diff.color.txt", "diff.md"} {
			out := renderDiff(t, format, d)
			if format == "diff.color.txt" {
				out = ours.ReplaceAllString(out, "")
			}
			for _, r := range out {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%s.%s contains %q", name, format, r)
				}
			}
		}
	}
}

// markupLeft returns what would be markup in a line of Markdown, if ours is taken
// out of it.
func markupLeft(line string) string {
	ours := regexp.MustCompile("\\\\[`*_\\[\\]#~$]|&(amp|lt|gt|#124|#92);|<br>|@<!-- -->|`[^`]*`|" +
		`\*\*Different subjects\*\*|^<!-- skewrig diff -->$|^#+ |^</?details>|<summary>[^<>]*</summary>$`)
	rest := ours.ReplaceAllString(line, "")
	if i := strings.IndexAny(rest, "`*_[]<>&#~$@\\"); i >= 0 {
		return rest[i : i+1]
	}
	return ""
}

func TestADiffMakesNoMarkdown(t *testing.T) {
	t.Parallel()
	for name, d := range diffsUnderTest(t) {
		columns := 0
		for line := range strings.Lines(renderDiff(t, "diff.md", d)) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case !strings.HasPrefix(line, "|"):
				columns = 0
			case columns == 0:
				columns = strings.Count(line, "|")
			case strings.Count(line, "|") != columns:
				t.Errorf("%s: a row has %d pipes where its table has %d: %s", name, strings.Count(line, "|"), columns, line)
			}
			if left := markupLeft(line); left != "" {
				t.Errorf("%s: %s of %q is not escaped", name, left, line)
			}
		}
	}
}

// TestADiffFitsIntoAComment compares reports that share no cell and have more cells than fit
// into a comment.
func TestADiffFitsIntoAComment(t *testing.T) {
	t.Parallel()
	many := func(o reports.Outcome) reports.Report {
		var cells []reports.Cell
		for i := range 2000 {
			cells = append(cells, reports.Cell{
				ID:     fmt.Sprintf("area/group/cell-%d", i),
				Checks: []reports.Check{{ID: "a", Outcome: o, Expected: nasty[len(nasty)-1], Observed: strings.Join(nasty, " ")}},
			})
		}
		return assemble(t, cells)
	}
	out := renderDiff(t, "diff.md", diff.Compare(many(reports.Pass), many(reports.Fail), diff.Options{}))
	if len(out) > maxComment || len(out) < maxComment/2 {
		t.Errorf("%d bytes, and %d may be used", len(out), maxComment)
	}
	if !strings.Contains(out, "more rows are omitted here") || !strings.Contains(out, "2000 regressions") {
		t.Error("it does not say that something is left out")
	}
	if strings.Count(out, "<details>") != strings.Count(out, "</details>") {
		t.Error("something folded has no end")
	}
}

func TestAFullDiskIsReportedOfADiff(t *testing.T) {
	t.Parallel()
	for name, format := range diffFormats {
		if err := format(full{}, diff.Diff{}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v, want the write error", name, err)
		}
	}
	if err := JSON(io.Discard, diff.Diff{New: []diff.CellState{{Outcome: "passed"}}}); !errors.Is(err, reports.ErrOutcome) {
		t.Errorf("a value that is no outcome: %v", err)
	}
}
