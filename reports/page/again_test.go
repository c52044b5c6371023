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

func TestWhatToCheckOut(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v0.6.0": "v0.6.0", "v0.6.0+dirty": "v0.6.0", "v0.6.1-rc.1": "v0.6.1-rc.1", "(devel)": "", "unknown": "", "": "",
		"v0.6.1-0.20261122081309-0123456789ab": "0123456789ab", "v0.6.1-0.20261122081309-0123456789ab+dirty": "0123456789ab",
	} {
		if got := checkoutOf(version); got != want {
			t.Errorf("of version %q it is %q, want %q", version, got, want)
		}
		report := MadeReport()
		report.Reproduce.Skewrig = version
		page := write(t, Run{Report: report})
		says := "In a checkout of <code>github.com/skewrig/skewrig</code>, "
		if want != "" {
			says = "In a checkout of <code>github.com/skewrig/skewrig</code> at <code>" + want + "</code>, "
		}
		if !strings.Contains(page, says) || strings.Contains(page, "does not name the commit") != (want == "") {
			t.Errorf("of version %q, the page does not say %q", version, says)
		}
	}
}
