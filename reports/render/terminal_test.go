package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

// recorded is a report in which cells deviate as recorded, for the same reason and for
// others, and two reproduce a known bug.
func recorded(t *testing.T) reports.Report {
	t.Helper()
	cell := func(id string, outcome reports.Outcome, reason string) reports.Cell {
		check := reports.Check{ID: "told-of-a-label", Outcome: outcome, Expected: "within 20s: a == b", Observed: "c", Reason: reason, Finding: "labels"}
		return reports.Cell{ID: id, Scenario: id, Checks: []reports.Check{check}, DurationSeconds: 36.4}
	}
	bug := func(id string) reports.Cell {
		return reports.Cell{ID: "regressions/kubernetes-141961/" + id, DurationSeconds: 29, Checks: []reports.Check{{
			ID: "ends", Requirement: "regressions/kubernetes-141961", Outcome: reports.ExpectedFail, Finding: "endless",
			Expected: `for 15s: history.filter(name, name.startsWith("replicasets/default/web-")).size() grows by 1 at most`, Observed: "11 more, from 1 to 12",
		}}}
	}
	const label = "a watch sends an event when the status of a pod changes, so it never sends a change of only labels or annotations, though ListPods has it (releases 1.36 and newer, not reported yet: https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/kubelet/status/status_manager.go#L1062)"
	cells := []reports.Cell{
		cell("kep-4188/watch/life/kubelet:v1.89.3", reports.ExpectedFail, label), cell("kep-4188/watch/life/kubelet:v1.90.1", reports.ExpectedFail, label),
		cell("kep-5999/rollback/gate/apiserver:v1.90.1/kubelet:v1.90.1", reports.Ambiguous, "the text also says KEP-5999/api/rules-stay-with-field"),
		bug("grpc-mode/apiserver:v1.90.1"), bug("httpget-protocol/apiserver:v1.90.1"),
		{ID: "mine/a-scenario-with-a-rather-long-name-that-leaves-no-room/apiserver:v1.90.1/kubelet:v1.89.3", Outcome: reports.NotApplicable, Reason: "the field is new in v1.90"},
	}
	for i := range 5 {
		cells = append(cells, cell(fmt.Sprintf("kep-4939/e2e/number-%d", i), reports.Pass, ""))
	}
	return assemble(t, append(cells, cell("mine/web", reports.Pass, "")),
		reports.Requirement{ID: "regressions/kubernetes-141961", KEP: "regressions", Statement: "It ends.", Source: "Known bugs, https://github.com/kubernetes/kubernetes/issues/141961"},
	).Explained([]reports.Finding{{ID: "labels", Headline: "No labels"}, {ID: "endless", Headline: "A rollout makes ReplicaSets without end", Seen: "{number} replicasets, at most {limit} expected", Issue: "https://github.com/kubernetes/kubernetes/issues/141961"}})
}

// TestNoLineIsWiderThanTheTerminal, and nothing is lost by breaking lines.
func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	t.Parallel()
	whole := func(s string) string { return strings.Join(strings.Fields(s), "") }
	for name, r := range reportsUnderTest(t) {
		for _, width := range []int{60, 80, 120} {
			text := renderTo(t, r, TerminalOptions{Width: width})
			for line := range strings.Lines(text) {
				if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s at %d: a line is %d columns wide: %s", name, width, n, line)
				}
			}
			if got, want := whole(text), whole(renderTo(t, r, TerminalOptions{})); got != want {
				t.Errorf("%s at %d: the text is another one than without a width", name, width)
			}
		}
	}
}

// TestEachCellIsWrittenOnce: those that pass are counted where they are many.
func TestEachCellIsWrittenOnce(t *testing.T) {
	t.Parallel()
	r := recorded(t)
	text := renderTo(t, r, TerminalOptions{})
	for _, c := range r.Cells {
		want := 1
		if strings.HasPrefix(c.ID, "kep-4939/") {
			want = 0
		}
		if got := strings.Count(text, c.ID+"\n"); got != want {
			t.Errorf("%s is written %d times, want %d", c.ID, got, want)
		}
	}
	if !strings.Contains(text, "kep-4939: 5 cells\n") {
		t.Errorf("passing cells are not counted in\n%s", text)
	}
}

// TestWhatPassesIsNotSaidAgain: who has seen a line of each cell reads of the others.
func TestWhatPassesIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	r := recorded(t)
	text := renderTo(t, r, TerminalOptions{Listed: true})
	for _, c := range r.Cells {
		if got, want := strings.Contains(text, c.ID+"\n"), c.Outcome != reports.Pass; got != want {
			t.Errorf("it has the cell %s: %t, want %t", c.ID, got, want)
		}
	}
	if strings.Contains(text, "kep-4939: 5 cells") || !strings.Contains(text, reports.HeadlineOf(r).String()) {
		t.Errorf("it counts those that pass, or has no headline:\n%s", text)
	}
}

// TestTheCauseComesFirst of what is said of a check that is not as expected.
func TestTheCauseComesFirst(t *testing.T) {
	t.Parallel()
	r := assemble(t, []reports.Cell{{ID: "a/b", Scenario: "a/b", Checks: []reports.Check{
		{ID: "well", Outcome: reports.Pass}, {ID: "restarted", Outcome: reports.Fail, Expected: "0", Observed: "1"},
	}}})
	causes := func(reports.Cell) map[string]string {
		return map[string]string{"well": "None.", "restarted": "A probe failed."}
	}
	text := renderTo(t, r, TerminalOptions{Causes: causes})
	if want := "check restarted: new\n      cause        A probe failed.\n      expected     0\n      observed     1\n"; !strings.Contains(text, want) || strings.Contains(text, "None.") {
		t.Errorf("%q is not in\n%s", want, text)
	}
}

// TestReproducedIsSaid in every format for people, and with the exit code only where
// that is 0.
func TestReproducedIsSaid(t *testing.T) {
	t.Parallel()
	r := recorded(t)
	const said = "REPRODUCED kubernetes#141961: 12 replicasets, at most 2 expected (known"
	for _, format := range []string{"txt", "md", "xml"} {
		text := strings.NewReplacer(`\#`, "#", "&#39;", "'").Replace(render(t, format, r))
		if !strings.Contains(text, said+", so exit 0)") {
			t.Errorf("%s does not say %q:\n%s", format, said, text)
		}
	}
	r.Problems = []string{"stale entry"}
	if text := render(t, "txt", r); !strings.Contains(text, said+")") || strings.Contains(text, "exit 0") {
		t.Errorf("with a problem:\n%s", text)
	}
}

// TestCellsTerminal: one cell with all its checks, and where its evidence is.
func TestCellsTerminal(t *testing.T) {
	t.Parallel()
	r := mixed(t, 1)
	var out bytes.Buffer
	causes := func(reports.Cell) map[string]string {
		return map[string]string{"never-restarted": "Restarts were 4.\nA probe failed."}
	}
	if err := CellsTerminal(&out, r, r.Cells[len(r.Cells)-3:len(r.Cells)-2], TerminalOptions{Report: "out", Page: "index.html", Causes: causes}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"new  2.3s\n  kep-4939/skew/tls-only/apiserver:1.90/kubelet:1.89\n", "check dialed-plaintext: pass\n", "check never-restarted: new\n",
		"      cause        Restarts were 4.\n                   A probe failed.\n", "  evidence  out/cells/kep-4939/skew/tls-only/apiserver:1.90/kubelet:1.89\n",
		"  page      out/index.html#cell=kep-4939/skew/tls-only", "  again     skewrig run 'kep-4939/skew/tls-only/apiserver:1.90/kubelet:1.89' --report-dir report-tls-only-",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

func renderTo(t *testing.T, r reports.Report, options TerminalOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := Terminal(&out, r, options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTable(t *testing.T) {
	t.Parallel()
	header := []string{"CELL", "SHOWS"}
	rows := [][]string{{"a/b", "what it shows, in a sentence that is too long"}, {"a/c", ""}}
	for width, want := range map[int]string{
		0:  "CELL  SHOWS\na/b   what it shows, in a sentence that is too long\na/c\n",
		80: "CELL  SHOWS\na/b   what it shows, in a sentence that is too long\na/c\n",
		36: "CELL  SHOWS\na/b   what it shows, in a sentence\n      that is too long\na/c\n",
		28: "CELL\n    SHOWS\na/b\n    what it shows, in a\n    sentence that is too\n    long\na/c\n",
	} {
		if got := Table(header, rows, width); got != want {
			t.Errorf("at %d:\n%s\nwant:\n%s", width, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	const text = "short\n  1. wait until a condition is true, and then some\n\x1b[31ma line in color that is long enough\x1b[0m\n"
	if got := Fit(text, 0); got != text {
		t.Errorf("without a terminal:\n%s", got)
	}
	want := "short\n  1. wait until a condition is\n      true, and then some\n\x1b[31ma line in color that is long enough\x1b[0m\n"
	if got := Fit(text, 32); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""}, {"      ", 5, ""}, {"a b", 0, "a b"}, {"aa bb cc", 5, "aa bb|cc"}, {"kep-1/skew/older", 10, "kep-1/|skew/older"},
		{"abcdefgh", 3, "abc|def|gh"}, {"漢字漢字", 5, "漢字|漢字"}, {"漢", 1, "漢"}, {"a bcdefg h", 4, "a|bcde|fg h"},
	} {
		if got := strings.Join(wrapped(tc.text, tc.width), "|"); got != tc.want {
			t.Errorf("wrapped(%q, %d) = %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}

// TestCellsTerminalOfAMergedReport: each command has a line, and what is shown is where
// the run is that failed.
func TestCellsTerminalOfAMergedReport(t *testing.T) {
	t.Parallel()
	run := func(o reports.Outcome, n int) reports.Cell {
		return reports.Cell{ID: "a/b/c", Checks: []reports.Check{{ID: "x", Outcome: o}}}.Numbered(n)
	}
	c := reports.Join(run(reports.Pass, 1), run(reports.Fail, 2))
	made := reports.Reproduce{Command: "skewrig run my.yaml --report-dir one\nskewrig run my.yaml --report-dir two\nskewrig report merge one two --report-dir both"}
	var out bytes.Buffer
	if err := CellsTerminal(&out, reports.Report{Reproduce: made, Cells: []reports.Cell{c}}, []reports.Cell{c}, TerminalOptions{Report: "both"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  evidence  both/runs/2/cells/a/b/c\n",
		"  again     skewrig run my.yaml --report-dir one-again\n            skewrig run my.yaml --report-dir two-again\n            skewrig report merge one-again two-again",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

// TestVerdicts that need a second look.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	cell := func(id string, o reports.Outcome, checks ...reports.Check) reports.Cell {
		return reports.Cell{ID: id, Outcome: o, Reason: "so", Checks: checks, Axes: map[string]string{"kubelet": strings.TrimPrefix(id, "a/b/kubelet:")}}
	}
	for want, cells := range map[string][]reports.Cell{
		"Nothing was judged":                       {cell("a/b/kubelet:v1.90.1", reports.HarnessError), cell("a/b/kubelet:v1.89.3", reports.Unknown)},
		"Nothing new: every deviation is recorded": {cell("a/b/kubelet:v1.90.1", reports.Pass), cell("a/b/kubelet:reference", reports.ExpectedFail)},
	} {
		r := reports.Report{Cells: cells}
		r.Summary.Cells, r.Summary.Outcomes = len(cells), map[reports.Outcome]int{}
		for _, c := range cells {
			r.Summary.Outcomes[c.Outcome]++
		}
		if got := Verdict(r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestCapitalized(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "écrit": "Écrit", "a": "A", "1x": "1x"} {
		if got := reports.Capitalize(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAPartialReportOnGitHub is said once, and in the summary.
func TestAPartialReportOnGitHub(t *testing.T) {
	t.Parallel()
	r := reports.Report{Partial: "the run was broken off: 1 of 2 cells did not run to their end", Cells: []reports.Cell{{ID: "a/b/c", Outcome: reports.Pass}}}
	var annotations, summary bytes.Buffer
	if err := errors.Join(GitHubAnnotations(&annotations, r), GitHubSummary(&summary, r, MaxGitHubSummary)); err != nil {
		t.Fatal(err)
	}
	if strings.Count(annotations.String(), "::warning title=the report is partial::the run was broken off") != 1 || !strings.Contains(summary.String(), "Partial: the run was broken off") {
		t.Errorf("%s\n%s", &annotations, &summary)
	}
}

// TestADiffInColorFits the terminal, however wide its outcomes are.
func TestADiffInColorFits(t *testing.T) {
	t.Parallel()
	long := "a/b/" + strings.Repeat("quite-long/", 12) + "c"
	d := diff.Diff{
		From: "before", To: "after",
		Regressions: []diff.CellChange{{ID: long, Before: diff.Verdict{Outcome: reports.Pass}, After: diff.Verdict{Outcome: reports.Fail, Reason: strings.Repeat("why ", 40)}}},
		New:         []diff.CellState{{ID: long, Outcome: reports.Fail, Reason: strings.Repeat("why ", 40)}},
	}
	for _, colored := range []bool{true, false} {
		for _, width := range []int{48, 80} {
			var out bytes.Buffer
			if err := DiffTerminal(&out, d, TerminalOptions{Color: colored, Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(colors.ReplaceAllString(out.String(), "")) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
					t.Errorf("in color %t: a line has %d characters on a terminal of %d: %s", colored, n, width, line)
				}
			}
			if width == 80 && !strings.Contains(colors.ReplaceAllString(out.String(), ""), "\n  new              a/b/") {
				t.Errorf("in color %t: no column of outcomes\n%s", colored, &out)
			}
		}
	}
}

// TestAVerdictOnStandIns: a cell that is shown says what was compiled with other modules.
func TestAVerdictOnStandIns(t *testing.T) {
	t.Parallel()
	cell := reports.Cell{ID: "a/b", Scenario: "a/b", StandIns: []string{"kubelet v1.91.0 with k8s.io/ktesting@v0.90.1"},
		Checks: []reports.Check{{ID: "works", Outcome: reports.Fail, Expected: "1", Observed: "0"}}}
	r := assemble(t, []reports.Cell{cell})
	var markdown bytes.Buffer
	if err := Markdown(&markdown, r); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{renderTo(t, r, TerminalOptions{}), strings.ReplaceAll(markdown.String(), "<!-- -->", "")} {
		if !strings.Contains(said, "ompiled with stand-ins: kubelet v1.91.0 with k8s.io/ktesting@v0.90.1") {
			t.Errorf("it does not say so:\n%s", said)
		}
	}
}
