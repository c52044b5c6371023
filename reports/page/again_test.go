package page

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/reports"
)

// TestTheCommandOfACell: the shortest one, with another directory than that of this run.
func TestTheCommandOfACell(t *testing.T) {
	t.Parallel()
	planned := func(from string) fstest.MapFS {
		return fstest.MapFS{"cells/a/b/plan.txt": {Data: []byte("a/b\nIts title\nfrom " + from + "\n\nsteps\n  1. from nowhere\n")}}
	}
	const whole, wholeAgain = "skewrig run ./my/own.yaml --report-dir out", "skewrig run ./my/own.yaml --report-dir out-again"
	dir := reports.DirFor(nil, "a/b")
	byID, byFile := "skewrig run 'a/b' --report-dir "+dir, "skewrig run my/own.yaml 'a/b' --report-dir "+dir
	for name, c := range map[string]struct {
		command string
		dir     fstest.MapFS
		want    string
		noted   bool
	}{
		"of the catalog":              {"skewrig run 'a/**' --report-dir out", planned("a/b.yaml"), byID, false},
		"of the catalog, excused":     {"skewrig run --known-deviations my/own.yaml", nil, byID, false},
		"of the catalog, beside one":  {"skewrig run 'a/**' my/own.yaml", planned("a/b.yaml"), byID, false},
		"of a file":                   {"skewrig run my/other.yaml ./my/own.yaml --report-dir out", planned("my/own.yaml"), byFile, false},
		"of a file by its whole path": {"skewrig run /home/me/my/own.yaml --repeat 3", planned("my/own.yaml"), byFile, false},
		"of a file that ends alike":   {"skewrig run not-my/own.yaml", planned("my/own.yaml"), byID, false},
		"of a file with a space":      {"skewrig run 'my own.yml'", planned("my own.yml"), "skewrig run 'my own.yml' 'a/b' --report-dir " + dir, false},
		"of the catalog, of its own":  {byID, planned("a/b.yaml"), byID + "-again", false},
		"without its plan":            {whole, fstest.MapFS{}, wholeAgain, true},
		"without any directory":       {whole, nil, wholeAgain, true},
	} {
		run := Run{Report: reports.Report{Reproduce: reports.Reproduce{Command: c.command}}}
		if c.dir != nil {
			run.Dir = c.dir
		}
		got := run.again(reports.Cell{ID: "a/b"})
		if got.Command != c.want || (got.Note != "") != c.noted {
			t.Errorf("a cell %s: %+v, want %s", name, got, c.want)
		}
	}
}

// TestTheFilesOfARun: where the report and the plan have them as data, no text is read.
func TestTheFilesOfARun(t *testing.T) {
	t.Parallel()
	run := Run{
		Report: reports.Report{Reproduce: reports.Reproduce{Command: "skewrig run $FILES", Files: []string{"./my/own.yaml"}}},
		Dir:    fstest.MapFS{"cells/a/b/plan.json": {Data: []byte(`{"format": 1, "file": "my/own.yaml"}`)}},
	}
	if got, want := run.again(reports.Cell{ID: "a/b"}).Command, "skewrig run my/own.yaml 'a/b' --report-dir "+reports.DirFor(nil, "a/b"); got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}

// TestHowToGetTheSame: the command that installs what ran, and what it does not do.
func TestHowToGetTheSame(t *testing.T) {
	t.Parallel()
	for version, note := range map[string]string{"v0.6.0": "", "(devel)": "does not name the commit", "0123456789ab+dirty": "had changes on top of that commit"} {
		report := MadeReport()
		report.Reproduce.Skewrig = version
		page := write(t, Run{Report: report})
		if !strings.Contains(page, report.Reproduce.Install()) || !strings.Contains(page, note) {
			t.Errorf("of version %q, the page does not say %q and %q", version, report.Reproduce.Install(), note)
		}
	}
}
