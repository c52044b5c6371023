package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/narrate/saved"
)

// readiness is a cell of a real run that is kept in testdata: a kubelet is restarted,
// and a pod that was Ready is not any more.
const readiness = "regressions/kubernetes-100277/readiness/apiserver:v1.37.1/kubelet:v1.34.4"

// reportDir is a report directory with the readiness cell.
func reportDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(cellDir(dir, readiness), os.DirFS(filepath.Join("testdata", "readiness"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func failedCell(id, check string) reports.Cell {
	return reports.Cell{ID: id, Outcome: reports.Fail, Checks: []reports.Check{{ID: check, Outcome: reports.Fail, Expected: expression}}}
}

// expression is what the check of the saved cell expects.
const expression = `always for 5s: history["pods/default/web"].map(p, p.status.phase) satisfies it.contains("True")`

// narrated is the narration of a cell of a report directory.
func narrated(dir string, c reports.Cell, limit int) narrate.Narration {
	return saved.Narration(dir, c, 1, limit, explained(context.Background()))
}

// cellDir is where a cell leaves its files.
func cellDir(dir, id string) string {
	return filepath.Join(dir, filepath.FromSlash(reports.RunDir(id, 1)))
}

// TestARealRun: the narration of a real run.
func TestARealRun(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	got, err := json.MarshalIndent(narrated(dir, failedCell(readiness, "stays-ready"), 24_000), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden.Check(t, "testdata/readiness/narration.json", string(got))
}

// TestWhatIsMissing: of what can't be read, as much is shown as there is.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	if err := os.MkdirAll(cellDir(dir, "a/broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cellDir(dir, "a/broken"), reports.HistoryFile), []byte(`{"seq":1,"at":"2026-11-22T12:00:00Z","kind":"rig.reused","data":{}}`+"\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"a/never-ran": "all that happened: cells/a/never-ran/history.jsonl can't be read: open history.jsonl: no such file or directory",
		"a/broken":    "what happened later: cells/a/broken/history.jsonl can't be read: reading history.jsonl: line 2: ",
		readiness:     "the logs of etcd, ",
	} {
		s := narrated(dir, failedCell(id, "stays-ready"), 0)
		if s.Cell != id || !slices.ContainsFunc(s.Omitted, func(o string) bool { return strings.HasPrefix(o, want) }) {
			t.Errorf("the narration of %s leaves out %q", s.Cell, s.Omitted)
		}
		if slices.ContainsFunc(s.Omitted, func(o string) bool { return strings.Contains(o, dir) }) {
			t.Errorf("the narration of %s names this machine: %q", s.Cell, s.Omitted)
		}
	}
	s := narrated(dir, failedCell(readiness, "stays-ready"), 0)
	if len(s.Lanes) == 0 || s.Plan == "" || len(s.Logs) != 1 || s.Logs[0].Path != "cells/"+readiness+"/logs/kubelet-node-a.log" {
		t.Errorf("a cell that is in no catalog has %d lanes, a plan of %d bytes and logs %v", len(s.Lanes), len(s.Plan), s.Logs)
	}
}

// TestLogsThatAreNotThere: it is said once, of all of them.
func TestLogsThatAreNotThere(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	if err := os.RemoveAll(filepath.Join(cellDir(dir, readiness), reports.LogsDir)); err != nil {
		t.Fatal(err)
	}
	s := narrated(dir, failedCell(readiness, "stays-ready"), 0)
	said := slices.DeleteFunc(s.Omitted, func(o string) bool { return !strings.Contains(o, "log") })
	if len(said) != 1 || !strings.Contains(said[0], "kubelet/node-a") || strings.Contains(said[0], "no such file") {
		t.Errorf("of logs that are not there, it says %q", said)
	}
}

// TestASharedRig: a cell that had its rig after another one has its logs there.
func TestASharedRig(t *testing.T) {
	t.Parallel()
	dir := reportDir(t)
	second := cellDir(dir, "a/second")
	if err := os.CopyFS(second, os.DirFS(cellDir(dir, readiness))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(second, "logs")); err != nil {
		t.Fatal(err)
	}
	to, err := filepath.Rel(second, filepath.Join(cellDir(dir, readiness), "logs"))
	if err := errors.Join(err, os.Symlink(to, filepath.Join(second, "logs"))); err != nil {
		t.Fatal(err)
	}
	s := narrated(dir, failedCell("a/second", "stays-ready"), 0)
	if len(s.Logs) != 1 || len(s.Logs[0].Lines) == 0 {
		t.Errorf("the logs are %v", s.Logs)
	}
}

// BenchmarkNarration is what the narration of a real run costs, with the reading.
func BenchmarkNarration(b *testing.B) {
	dir := b.TempDir()
	if err := os.CopyFS(cellDir(dir, readiness), os.DirFS(filepath.Join("testdata", "readiness"))); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if n := narrated(dir, reports.Cell{ID: readiness}, 0); len(n.Lanes) == 0 {
			b.Fatal("the narration has no lanes")
		}
	}
}
