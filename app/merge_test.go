package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// leaveReport writes a report with the files of its cells to a directory.
func leaveReport(t *testing.T, dir string, cells ...reports.Cell) {
	t.Helper()
	for i, c := range cells {
		if c.Unfinished {
			continue
		}
		if err := leaveHistory(dir, c.ID); err != nil {
			t.Fatal(err)
		}
		cells[i].Started = time.Now().Add(time.Duration(i) * time.Minute)
	}
	r, err := reports.Assemble(cells, nil, reports.Reproduce{Command: "skewrig run --report-dir " + dir})
	if err != nil {
		t.Fatal(err)
	}
	if r.Unfinished() > 0 {
		r.Partial = "broken off"
	}
	if err := render.WriteDir(dir, r); err != nil {
		t.Fatal(err)
	}
}

func checked(id string, outcome reports.Outcome) reports.Cell {
	return reports.Cell{ID: id, Checks: []reports.Check{{ID: "there", Outcome: outcome, Expected: "0"}}}
}

func TestMergeJoinsReportsWithTheirFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	leaveReport(t, "one", checked("a/b/x", reports.Pass), checked("a/b/y", reports.Pass),
		reports.Cell{ID: "a/b/z", Outcome: reports.Unknown, Reason: "not run", Unfinished: true})
	leaveReport(t, "two", checked("a/b/x", reports.Fail), checked("a/b/z", reports.Pass))
	// y had the rig of x.
	logs := filepath.Join(engine.CellDir("one", "a/b/x"), "logs")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join(logs, "etcd.log"), "ready")
	if err := os.Symlink("../x/logs", filepath.Join(engine.CellDir("one", "a/b/y"), "logs")); err != nil {
		t.Fatal(err)
	}

	if _, err := Merge(t.Context(), []string{"one", "two"}, Place{Dir: "both"}, "skewrig report merge one two"); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport("both")
	if err != nil {
		t.Fatal(err)
	}
	if r.Partial != "" || r.Cells[0].Differs.Step != 1 || len(r.Cells) != 3 || r.Cells[0].Outcome != reports.Flaky || r.Cells[2].Outcome != reports.Pass {
		t.Errorf("%q: %+v", r.Partial, r.Cells)
	}
	if !strings.HasPrefix(r.Reproduce.Command, "skewrig run --report-dir one\nskewrig run --report-dir two\nskewrig report merge") {
		t.Errorf("reproduced by %q", r.Reproduce.Command)
	}
	for _, c := range r.Cells {
		for _, run := range c.EachRun() {
			if _, err := os.Stat(filepath.Join("both", run.Dir, "history.jsonl")); err != nil {
				t.Error(err)
			}
		}
	}
	for _, id := range []string{"a/b/x", "a/b/y"} {
		if log, err := os.ReadFile(filepath.Join(engine.CellDir("both", id), "logs", "etcd.log")); err != nil || string(log) != "ready" {
			t.Errorf("the log of %s: %q, %v", id, log, err)
		}
	}
	if _, err := Merge(t.Context(), []string{"both", "two"}, Place{Dir: "again"}, ""); err == nil || !strings.Contains(err.Error(), "both and two have 2 runs in common") {
		t.Errorf("merged twice: %v", err)
	}
}

// TestMergeCopiesNothingFromElsewhere: a report may be from another user.
func TestMergeCopiesNothingFromElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	leaveReport(t, "theirs", checked("a/b/x", reports.Pass))
	if err := os.Mkdir("mine", 0o700); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, "mine/secret", "secret")
	cell := engine.CellDir("theirs", "a/b/x")
	if err := os.Symlink("../../../../../mine", filepath.Join(cell, "logs")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../../mine/secret", filepath.Join(cell, "plan.txt")); err != nil {
		t.Fatal(err)
	}
	_, err := Merge(t.Context(), []string{"theirs"}, Place{Dir: "out"}, "")
	if _, failed := errors.AsType[*Failure](err); !failed || !strings.Contains(err.Error(), "copying the logs of theirs/cells/a/b/x") {
		t.Errorf("error %v", err)
	}
	err = filepath.Walk("out", func(path string, _ os.FileInfo, _ error) error {
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "secret") {
			t.Errorf("%s was copied", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAMergeReplacesNothingBeforeItIsSure: neither a report that is merged, by whatever
// name, nor the one that the merged report would replace.
func TestAMergeReplacesNothingBeforeItIsSure(t *testing.T) {
	t.Chdir(t.TempDir())
	leaveReport(t, "report", checked("a/b/x", reports.Pass))
	leaveReport(t, "other", checked("a/b/x", reports.Pass))
	for _, name := range []string{"report", "report/report.json", "./report/../report/report.json"} {
		if _, err := Merge(t.Context(), []string{name, "other"}, Place{Dir: "report"}, ""); err == nil || !strings.Contains(err.Error(), "can't be merged into itself") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Symlink("../../../../../secret", filepath.Join(engine.CellDir("other", "a/b/x"), "logs")); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), []string{"other"}, Place{Dir: "report"}, ""); err == nil {
		t.Error("logs from elsewhere are copied")
	}
	if r, err := ReadReport("report"); err != nil || r.Reproduce.Command != "skewrig run --report-dir report" {
		t.Errorf("the report is %q, %v", r.Reproduce.Command, err)
	}
	if _, err := os.Stat(filepath.Join(engine.CellDir("report", "a/b/x"), "history.jsonl")); err != nil {
		t.Error(err)
	}
}

// TestAMergeLeavesNothingOfWhatItReplaces, and takes the files of a report that is named
// itself.
func TestAMergeLeavesNothingOfWhatItReplaces(t *testing.T) {
	t.Chdir(t.TempDir())
	leaveReport(t, "report", checked("a/b/x", reports.Pass))
	leaveReport(t, "other", checked("a/b/x", reports.Pass))
	golden.Write(t, filepath.Join(engine.CellDir("report", "a/b/x"), "stale"), "")
	if _, err := Merge(t.Context(), []string{"other/report.json"}, Place{Dir: "report"}, ""); err != nil {
		t.Fatal(err)
	}
	files, err := fileNames(engine.CellDir("report", "a/b/x"))
	if err != nil || !slices.Contains(files, "history.jsonl") || slices.Contains(files, "stale") {
		t.Errorf("%q, %v", files, err)
	}
	if files, err := fileNames("report"); err != nil || slices.ContainsFunc(files, func(name string) bool { return strings.HasPrefix(name, ".") }) {
		t.Errorf("%q, %v", files, err)
	}
}

func TestRerunSelectsWhatWasNotAsExpected(t *testing.T) {
	twoCells(t)
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	leaveReport(t, "before", checked("mine/pods/a", reports.Fail), checked("mine/pods/b", reports.Pass))
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"both files":   {[]string{"a.yaml", "b.yaml"}, "mine/pods/a"},
		"the good one": {[]string{"b.yaml"}, ""},
	} {
		got, err := here.SelectFailed(tc.args, "before")
		var ids []string
		for _, c := range got {
			ids = append(ids, c.ID)
		}
		if err != nil || strings.Join(ids, " ") != tc.want {
			t.Errorf("%s: %v, %q, want %q", name, err, ids, tc.want)
		}
	}
	if _, err := here.SelectFailed([]string{"kep-4939/e2e/**"}, "before"); err == nil || !strings.Contains(err.Error(), "before has none of the ") {
		t.Errorf("cells that it does not have: %v", err)
	}
	if _, err := here.SelectFailed(nil, "before"); err == nil || !strings.Contains(err.Error(), "mine/pods/a of before is not in the catalog") {
		t.Errorf("without the file: %v", err)
	}
}

// TestRerunTakesWhatACellIsComparedWith, though that was as expected: both run, or they can't be
// compared.
func TestRerunTakesWhatACellIsComparedWith(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(here.Cells(), func(c plan.Cell) bool { return c.With != "" })
	if i < 0 {
		t.Fatal("the catalog compares no cells")
	}
	cell := here.Cells()[i]
	leaveReport(t, "before", reports.Cell{ID: cell.ID, Outcome: reports.Unknown, Reason: "not run", Unfinished: true}, checked(cell.With, reports.Pass))
	for name, args := range map[string][]string{"without arguments": nil, "by its id": {cell.ID}} {
		got, err := here.SelectFailed(args, "before")
		if ids := cellIDs(got); err != nil || !slices.Equal(ids, []string{cell.ID, cell.With}) {
			t.Errorf("%s: %q, %v", name, ids, err)
		}
	}
}
