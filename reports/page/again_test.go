package page

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
)

// TestTheCommandOfACell: the shortest one, with another directory than that of this run.
func TestTheCommandOfACell(t *testing.T) {
	t.Parallel()
	const whole, wholeAgain = "skewrig run ./my/own.yaml --report-dir out", "skewrig run ./my/own.yaml --report-dir out-again"
	dir := reports.DirFor(nil, "a/b")
	byID, byFile := "skewrig run 'a/b' --report-dir "+dir, "skewrig run my/own.yaml 'a/b' --report-dir "+dir
	for name, c := range map[string]struct {
		command, file, want string
		noted               bool
	}{
		"of the catalog":              {"skewrig run 'a/**' --report-dir out", "a/b.yaml", byID, false},
		"of the catalog, excused":     {"skewrig run --known-deviations my/own.yaml", "", byID, false},
		"of the catalog, beside one":  {"skewrig run 'a/**' my/own.yaml", "a/b.yaml", byID, false},
		"of a file":                   {"skewrig run my/other.yaml ./my/own.yaml --report-dir out", "my/own.yaml", byFile, false},
		"of a file by its whole path": {"skewrig run /home/me/my/own.yaml --repeat 3", "my/own.yaml", byFile, false},
		"of a file that ends alike":   {"skewrig run not-my/own.yaml", "my/own.yaml", byID, false},
		"of a file with a space":      {"skewrig run 'my own.yml'", "my own.yml", "skewrig run 'my own.yml' 'a/b' --report-dir " + dir, false},
		"of the catalog, of its own":  {byID, "a/b.yaml", byID + "-again", false},
		"without its file":            {whole, "", wholeAgain, true},
	} {
		run := Run{Report: reports.Report{Reproduce: reports.Reproduce{Command: c.command}}}
		got := run.again(reports.Cell{ID: "a/b", File: c.file})
		if got.Command != c.want || (got.Note != "") != c.noted {
			t.Errorf("a cell %s: %+v, want %s", name, got, c.want)
		}
	}
}

// TestHowToGetTheSame: the command that installs what ran, and what it does not do.
func TestHowToGetTheSame(t *testing.T) {
	t.Parallel()
	for version, note := range map[string]string{"v0.6.0": "", "(devel)": "made by a build without a commit: the exact tool can&#39;t be named", "0123456789ab+dirty": "from a changed checkout: the exact tool can&#39;t be named"} {
		report := MadeReport()
		report.Reproduce.Skewrig = version
		page := write(t, Run{Report: report})
		if !strings.Contains(page, report.Reproduce.Install()) || !strings.Contains(page, note) {
			t.Errorf("of version %q, the page does not say %q and %q", version, report.Reproduce.Install(), note)
		}
	}
}

// TestAPageOfOneCellHasOneCommand: the run's, the cell's and that of a deviation are the same.
func TestAPageOfOneCellHasOneCommand(t *testing.T) {
	t.Parallel()
	cell := reports.Cell{ID: "a/b", Outcome: reports.ExpectedFail, Checks: []reports.Check{{ID: "x", Outcome: reports.ExpectedFail, Finding: "lost"}}}
	report := reports.Report{
		Reproduce: reports.Reproduce{Command: "skewrig run 'a/**' --report-dir out"}, Cells: []reports.Cell{cell},
		Summary: reports.Summarize([]reports.Cell{cell}), Findings: []reports.Finding{{ID: "lost", Class: reports.Defect, Headline: "It is lost"}},
	}
	want := Run{Report: report}.again(cell).Command
	commands := regexp.MustCompile(`skewrig run &#39;[^<]*`).FindAllString(write(t, Run{Report: report}), -1)
	if len(commands) != 2 {
		t.Errorf("the commands are %q, want those of the run and of the deviation", commands)
	}
	for _, c := range commands {
		if html.UnescapeString(c) != want {
			t.Errorf("the page says %s, want %s", c, want)
		}
	}
	many := report
	many.Cells = append(many.Cells, reports.Cell{ID: "a/c"})
	if got := runAgain(many); got != "skewrig run 'a/**' --report-dir out-again" {
		t.Errorf("the command of a run of two cells is %s", got)
	}
}

// TestWhatIsBesideThePageIsSaidToBe: who has the page alone can't judge the records.
func TestWhatIsBesideThePageIsSaidToBe(t *testing.T) {
	t.Parallel()
	if page := write(t, Run{Report: MadeReport()}); !strings.Contains(page, "you need the directory of the report, DIR. This page alone does not have them") {
		t.Error("the page does not say that judging needs the directory of the report")
	}
}
