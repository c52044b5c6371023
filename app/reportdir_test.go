package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

func TestWhichReportIsReplaced(t *testing.T) {
	t.Parallel()
	report := func(ids ...string) (r reports.Report) {
		for _, id := range ids {
			r.Cells = append(r.Cells, reports.Cell{ID: id})
		}
		return r
	}
	unfinished := report("a/b/x", "a/b/y")
	unfinished.Cells[1].Unfinished = true
	began := report("a/b/x", "a/b/y")
	began.Cells[1].Unfinished, began.Cells[1].Started = true, time.Now()
	for name, c := range map[string]struct {
		there reports.Report
		cells []string
		force bool
		want  string   // empty: it is refused
		says  []string // by the error
	}{
		"the same cells":                 {there: report("a/b/x", "a/b/y"), cells: []string{"a/b/y", "a/b/x"}, want: "Replacing the report of 2 cells in report: the new one has all its cells"},
		"more cells":                     {there: report("a/b/x"), cells: []string{"a/b/y", "a/b/x"}, want: "Replacing the report of 1 cell in report: the new one has all its cells"},
		"no cell":                        {there: report(), want: "Replacing the report of 0 cells in report: the new one has all its cells"},
		"some of the cells":              {there: report("a/b/x", "a/b/y"), cells: []string{"a/b/x"}, says: []string{"report has the report of 2 cells", "1 of them would not be in the new one: a/b/y", "--report-dir report-x-", "--force"}},
		"other cells":                    {there: report("a/b/v", "a/b/w", "a/b/x", "a/b/y"), cells: []string{"a/c/x"}, says: []string{"4 of them", "a/b/v, a/b/w, a/b/x and 1 more"}},
		"other cells, as it is forced":   {there: report("a/b/x"), cells: []string{"a/b/y"}, force: true, want: "Replacing the report of 1 cell in report, as --force says"},
		"one that was broken off":        {there: began, cells: []string{"a/b/x"}, says: []string{"1 of them would not be in the new one: a/b/y"}},
		"one that another did not begin": {there: unfinished, cells: []string{"a/b/x"}, want: "Replacing the report of 2 cells in report: the new one has all its cells"},
	} {
		got, err := replacing(Place{Dir: "report", Force: c.force}, c.there, c.cells)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error does not say %q: %v", name, want, err)
			}
		}
	}
}

func TestWhatIsNoReportDirectory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		is    bool
	}{
		"nothing":                            {nil, false},
		"an empty one":                       {[]string{}, false},
		"a report":                           {[]string{"report.json", "cells", "notes.txt"}, false},
		"what a killed process left":         {[]string{claim.File, "cells", "index.html"}, false},
		"what was killed in its first draft": {[]string{claim.File, ".report.json.123"}, false},
		"cells without a report":             {[]string{"cells"}, true},
		"a user's own":                       {[]string{"go.mod", "main.go"}, true},
		"a user's own that was claimed once": {[]string{claim.File, "cells", "main.go"}, true},
	} {
		if err := foreign("dir", c.files); (err != nil) != c.is {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestADirectoryThatIsClaimed: all that write a report are refused, whoever has it,
// and none of them changes anything.
func TestADirectoryThatIsClaimed(t *testing.T) {
	cells := twoCells(t)
	leaveReport(t, "report", checked("mine/pods/a", reports.Pass), checked("mine/pods/b", reports.Pass))
	leaveReport(t, "other", checked("mine/pods/a", reports.Pass), checked("mine/pods/b", reports.Pass))
	held, err := Place{Dir: "report"}.ClaimFor(cells)
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func() error{
		"run": func() error {
			_, err := Run(t.Context(), cells, Options{Dir: "report"})
			return err
		},
		"merge": func() error {
			_, err := Merge(t.Context(), []string{"other"}, Place{Dir: "report", Force: true}, "")
			return err
		},
		"judge": func() error {
			_, err := Catalog{}.Judge(t.Context(), "report", []string{"a.yaml", "b.yaml"}, Place{Dir: "report"})
			return err
		},
	} {
		taken := new(claim.TakenError)
		if err := write(); !errors.As(err, &taken) || taken.Owner.PID != os.Getpid() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := ReadReport("report"); err != nil || r.Reproduce.Command != "skewrig run --report-dir report" {
		t.Errorf("the report is %q, %v", r.Reproduce.Command, err)
	}
	if _, err := Merge(t.Context(), []string{"other"}, Place{Dir: "report"}, ""); err != nil {
		t.Errorf("given back: %v", err)
	}
}

func TestAReportDirectoryWithoutAName(t *testing.T) {
	t.Parallel()
	if _, err := (Place{}).Claim(nil); err == nil || !strings.Contains(err.Error(), "has no name") {
		t.Error(err)
	}
}

// TestAClaimLeavesNothing: a run that ends before it writes is not seen.
func TestAClaimLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, to := range []string{dir, filepath.Join(dir, "report")} {
		claimed, err := Place{Dir: to}.Claim(nil)
		if err == nil {
			err = claimed.Close()
		}
		if files, _ := fileNames(dir); err != nil || len(files) > 0 {
			t.Errorf("%s: %v, %q", to, err, files)
		}
	}
}

// TestAReportThatCanNotBeRead is left as it is, also if another is forced to go there.
func TestAReportThatCanNotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, render.JSONFile), `{"kind": "Something"}`)
	if _, err := (Place{Dir: dir, Force: true}).Claim(nil); err == nil || !strings.Contains(err.Error(), "--report-dir") {
		t.Errorf("it is taken: %v", err)
	}
	if files, err := fileNames(dir); err != nil || len(files) != 1 {
		t.Errorf("%q, %v", files, err)
	}
}

// TestWhatAKilledRunLeftIsCleared: a process that was killed while it cleared a report
// has left cells without one.
func TestWhatAKilledRunLeftIsCleared(t *testing.T) {
	cells := twoCells(t)
	if err := leaveHistory("report", "mine/pods/gone"); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join("report", claim.File), `{"pid":1,"host":"gone"}`)
	golden.Write(t, filepath.Join("report", ".report.json.123"), `{"kind":`)
	claimed, err := Place{Dir: "report"}.ClaimFor(cells)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(claimed.clear(), claimed.Close()); err != nil {
		t.Fatal(err)
	}
	if files, err := fileNames("report"); err != nil || len(files) > 0 {
		t.Errorf("%q, %v", files, err)
	}
}
