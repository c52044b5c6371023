package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	tale "github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/story"
)

// saved is a cell of a real run that is kept in testdata: a kubelet is restarted,
// and a pod that was Ready is not any more.
const saved = "regressions/kubernetes-100277/readiness/apiserver:v1.37.1/kubelet:v1.34.4"

// reportDir is a report directory with the saved cell.
func reportDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(CellDir(dir, saved), os.DirFS(filepath.Join("testdata", "readiness"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func failedCell(id, check string) reports.Cell {
	return reports.Cell{ID: id, Outcome: reports.Fail, Checks: []reports.Check{{ID: check, Outcome: reports.Fail}}}
}

// TestARealStory: what is told of a real run.
func TestARealStory(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	cells := slices.DeleteFunc(catalogCells(t), func(c plan.Cell) bool { return c.ID != saved })
	got, err := json.MarshalIndent(Story(dir, cells[0], failedCell(saved, "stays-ready"), 24_000), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden.Check(t, "testdata/readiness/story.json", string(got))
}

// TestTheStoryOfWhatIsMissing: of what can't be read, as much is told as there is.
func TestTheStoryOfWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	if err := os.MkdirAll(CellDir(dir, "a/broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(CellDir(dir, "a/broken"), reports.HistoryFile), []byte(`{"seq":1,"at":"2026-11-22T12:00:00Z","kind":"rig.reused","data":{}}`+"\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"a/never-ran": "all that happened: cells/a/never-ran/history.jsonl can't be read: open history.jsonl: no such file or directory",
		"a/broken":    "what happened later: cells/a/broken/history.jsonl can't be read: reading history.jsonl: line 2: ",
		saved:         "what these logged, as it is not in cells/" + saved + "/logs: etcd, ",
	} {
		s := Story(dir, plan.Cell{ID: id}, failedCell(id, "stays-ready"), 0)
		if s.Cell != id || !slices.ContainsFunc(s.Omitted, func(o string) bool { return strings.HasPrefix(o, want) }) {
			t.Errorf("the story of %s leaves out %q", s.Cell, s.Omitted)
		}
		if slices.ContainsFunc(s.Omitted, func(o string) bool { return strings.Contains(o, dir) }) {
			t.Errorf("the story of %s tells of this machine: %q", s.Cell, s.Omitted)
		}
	}
	s := Story(dir, plan.Cell{ID: saved}, failedCell(saved, "stays-ready"), 0)
	if len(s.Lanes) == 0 || s.Plan == "" || len(s.Logs) != 1 || s.Logs[0].Path != "cells/"+saved+"/logs/kubelet-node-a.log" {
		t.Errorf("a cell that is in no catalog has %d lanes, a plan of %d bytes and logs %v", len(s.Lanes), len(s.Plan), s.Logs)
	}
}

// TestLogsThatAreNotThere: it is said once, of all of them.
func TestLogsThatAreNotThere(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	if err := os.RemoveAll(filepath.Join(CellDir(dir, saved), reports.LogsDir)); err != nil {
		t.Fatal(err)
	}
	s := Story(dir, plan.Cell{ID: saved}, failedCell(saved, "stays-ready"), 0)
	said := slices.DeleteFunc(s.Omitted, func(o string) bool { return !strings.Contains(o, "log") })
	if len(said) != 1 || !strings.Contains(said[0], "kubelet/node-a") || strings.Contains(said[0], "no such file") {
		t.Errorf("of logs that are not there, it says %q", said)
	}
}

// TestASharedRig: a cell that had its rig after another one has its logs there.
func TestASharedRig(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	second := CellDir(dir, "a/second")
	if err := os.CopyFS(second, os.DirFS(CellDir(dir, saved))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(second, "logs")); err != nil {
		t.Fatal(err)
	}
	if err := linkLogs(filepath.Join(CellDir(dir, saved), "logs"), second); err != nil {
		t.Fatal(err)
	}
	s := Story(dir, plan.Cell{ID: "a/second"}, failedCell("a/second", "stays-ready"), 0)
	if len(s.Logs) != 1 || len(s.Logs[0].Lines) == 0 {
		t.Errorf("the logs are %v", s.Logs)
	}
}

// TestLogFiles: where components log.
func TestLogFiles(t *testing.T) {
	t.Parallel()
	for component, want := range map[string]string{
		"etcd": "etcd.log", "kubelet/node-a": "kubelet-node-a.log", "seed/kube-apiserver": "seed/kube-apiserver.log",
		"dependency-watchdog": "seed/dependency-watchdog.log",
	} {
		if got := logFile(component); got != want {
			t.Errorf("%s logs to %s, not %s", component, got, want)
		}
	}
}

// BenchmarkStory is what a story of a real run costs, with the reading.
func BenchmarkStory(b *testing.B) {
	dir := b.TempDir()
	if err := os.CopyFS(CellDir(dir, saved), os.DirFS(filepath.Join("testdata", "readiness"))); err != nil {
		b.Fatal(err)
	}
	var s tale.Story
	for b.Loop() {
		s = Story(dir, plan.Cell{ID: saved}, reports.Cell{ID: saved}, story.DefaultBudget)
	}
	if len(s.Lanes) == 0 {
		b.Fatal("the story has no lanes")
	}
}
