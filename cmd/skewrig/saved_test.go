package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
)

// savedHistory is the history of the run in testdata/saved, below its report.
const savedHistory = "cells/saved/sample/unhealthy/history.jsonl"

// savedRun is a copy of the run that is committed, with its history changed.
func savedRun(t *testing.T, from, to string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/saved/report")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.FromSlash(savedHistory))
	history, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(history), from) {
		t.Fatalf("%s is not in the saved history", from)
	}
	golden.Write(t, path, strings.Replace(string(history), from, to, 1))
	return dir
}

// TestASavedRunIsJudgedForGood judges a run that was saved when the record got its
// format. Should it fail, then runs that people have kept can no longer be judged:
// the code is to be changed, not the run.
func TestASavedRunIsJudgedForGood(t *testing.T) {
	committed, err := app.ReadReport("testdata/saved/report")
	if err != nil {
		t.Fatal(err)
	}
	for name, first := range map[string]string{"format 1": `{"format":1,"seq":1,`, "before there were formats": `{"seq":1,`} {
		t.Run(name, func(t *testing.T) {
			dir := savedRun(t, `{"format":1,"seq":1,`, first)
			code, stdout, stderr := skewrig(t, "report", "judge", "-o", "json", dir, "testdata/saved/scenario.yaml")
			var judged reports.Report
			if err := json.Unmarshal([]byte(stdout), &judged); code != reports.ExitNonconforming || err != nil {
				t.Fatalf("exit code %d, %v: %s", code, err, stderr)
			}
			for i, check := range judged.Cells[0].Checks {
				asserts, is := check.Expectation()
				check.Asserts = reports.Assertion{}
				if said, was := check.Expectation(); is != was || asserts != said {
					t.Errorf("%s asserts %+v, and says %+v", check.ID, asserts, said)
				}
				judged.Cells[0].Checks[i] = check // the saved one has the sentence only
			}
			if diff := cmp.Diff(ownVerdict(committed), ownVerdict(judged)); diff != "" {
				t.Errorf("another verdict than when it was saved (-saved +now):\n%s", diff)
			}
		})
	}
}

// ownVerdict is a report's cells without the checks that every cell has, of which there are
// more as time goes by, and without their files, which saved reports lack.
func ownVerdict(r reports.Report) []reports.Cell {
	for i, c := range r.Cells {
		r.Cells[i].Started, r.Cells[i].DurationSeconds = time.Time{}, 0
		r.Cells[i].Checks = slices.DeleteFunc(c.Checks, func(check reports.Check) bool { return strings.HasPrefix(check.ID, "oracle:") })
		r.Cells[i].Requirements, r.Cells[i].File = nil, ""
	}
	return r.Cells
}

// TestJudgeSaysWhatItChanges turns a red report green by a list of known deviations: the
// report that is replaced, and one beside it.
// TestReportTakesCellsWithoutADirectory: the first argument is a directory unless it selects cells of the report here.
func TestReportTakesCellsWithoutADirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	saveReport(t, "report", reports.Pass)
	saveReport(t, "deviates", reports.ExpectedFail)
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a cell":             {[]string{"report", "kep-4188/gate/toggled/**"}, 0, "kep-4188/gate/toggled/kubelet:v1.90.1"},
		"a directory":        {[]string{"report", "show", "deviates"}, 0, "deviates"},
		"cells of a report":  {[]string{"report", "show", "deviates", "kep-4188/gate/**"}, 0, "kep-4188/gate/toggled/kubelet:v1.90.1"},
		"neither":            {[]string{"report", "show", "kep-1/x"}, 3, "kep-1/x is no report directory"},
		"the old name":       {[]string{"report", "-o", "findings"}, 0, "skewrig report findings -o markdown"},
		"the old name there": {[]string{"report", "deviates", "-o", "findings"}, 0, "# "},
	} {
		code, stdout, stderr := skewrig(t, tc.args...)
		if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
			t.Errorf("%s: exit code %d, and %q is not in\n%s%s", name, code, tc.want, stdout, stderr)
		}
	}
}

func TestJudgeSaysWhatItChanges(t *testing.T) {
	deviations := filepath.Join(t.TempDir(), "known.yaml")
	golden.Write(t, deviations, `apiVersion: skewrig.dev/v1alpha1
kind: KnownDeviations
deviations:
- cells: saved/sample/unhealthy
  checks: [becomes-ready]
  reason: the older kubelet does not know the mode
  link: https://kep.k8s.io/4939
`)
	dir, beside := savedRun(t, "", ""), filepath.Join(t.TempDir(), "today")
	args := []string{"report", "judge", dir, "testdata/saved/scenario.yaml", "--known-deviations", deviations}
	code, _, stderr := skewrig(t, append(args, "--report-dir", beside)...)
	if code != reports.ExitExpected || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for place, want := range map[string]reports.Outcome{dir: reports.Fail, beside: reports.ExpectedFail} {
		if r, err := app.ReadReport(place); err != nil || r.Cells[0].Outcome != want {
			t.Errorf("%s is %v, %v, not %s", place, r.Cells[0].Outcome, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(beside, filepath.FromSlash(savedHistory))); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"1 outcome changed: saved/sample/unhealthy from new to deviates", "no outcome changed"} {
		code, _, stderr = skewrig(t, args...)
		if want = "Replaced the report of 1 cell in " + dir + "; " + want + "\n"; code != reports.ExitExpected || stderr != want {
			t.Errorf("exit code %d, said %q, not %q", code, stderr, want)
		}
	}
}

func TestARunOfANewerFormatIsNotJudged(t *testing.T) {
	dir := savedRun(t, `{"format":1,`, `{"format":2,`)
	code, stdout, stderr := skewrig(t, "report", "judge", dir, "testdata/saved/scenario.yaml")
	if code != exitNotJudged || stdout != "" {
		t.Errorf("exit code %d, printed %q", code, stdout)
	}
	for _, want := range []string{savedHistory, "line 1", "format 2", "newer"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the error does not say %q:\n%s", want, stderr)
		}
	}
}
