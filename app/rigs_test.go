package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
)

func TestPickLog(t *testing.T) {
	t.Parallel()
	all := []Log{{Component: "etcd"}, {Component: "kube-apiserver"}, {Component: "kubelet-node-a"}, {Component: "kubelet-node-ab"}, {Component: "seed/etcd"}}
	for component, want := range map[string]string{
		"etcd": "etcd", "kubelet/node-a": "kubelet-node-a", "kubelet-node-a": "kubelet-node-a", "kubelet/node-ab": "kubelet-node-ab",
		"kube-api": "kube-apiserver", "seed/etcd": "seed/etcd", "seed": "seed/etcd", "kubelet": "", "scheduler": "", "": "",
	} {
		got, err := pickLog(all, component)
		if got.Component != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", component, got.Component, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "kubelet-node-a, kubelet-node-ab") {
			t.Errorf("%s: the error does not say which there are: %v", component, err)
		}
	}
}

func TestLogsOfACell(t *testing.T) {
	t.Chdir(t.TempDir())
	leaveReport(t, "report", checked("a/b/x", reports.Pass), checked("a/b/y", reports.Pass), checked("a/b/z", reports.Pass))
	logs := filepath.Join(engine.CellDir("report", "a/b/x"), "logs")
	if err := errors.Join(os.MkdirAll(filepath.Join(logs, "seed"), 0o700), os.Mkdir("elsewhere", 0o700)); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join(logs, "kubelet-node-a.log"), "ready")
	golden.Write(t, filepath.Join(logs, "seed", "etcd.log"), "ready, too")
	golden.Write(t, "elsewhere/etcd.log", "secret")
	for cell, to := range map[string]string{"a/b/y": "../x/logs", "a/b/z": "../../../../../elsewhere"} { // y had the rig of x
		if err := os.Symlink(to, filepath.Join(engine.CellDir("report", cell), "logs")); err != nil {
			t.Fatal(err)
		}
	}
	for _, cell := range []string{"a/b/x", "a/b/y"} {
		l, err := CellLogs("report/report.json", cell, 0)
		if err != nil {
			t.Fatal(err)
		}
		all, err := l.List()
		if err != nil || len(all) != 2 || all[0] != (Log{"kubelet-node-a", "kubelet-node-a.log", 5}) || all[1].Component != "seed/etcd" || l.Written() {
			t.Errorf("%s: %+v, %v", cell, all, err)
		}
		file, err := l.Open("kubelet/node-a")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(file); err != nil || string(text) != "ready" {
			t.Errorf("%s: %q, %v", cell, text, err)
		}
	}
	outside, err := CellLogs("report", "a/b/z", 0)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := outside.List(); err == nil {
		t.Errorf("what is outside is listed: %+v", all)
	}
	if _, err := CellLogs("report", "a/b/none", 0); err == nil || !strings.Contains(err.Error(), "report has no cell a/b/none") {
		t.Error(err)
	}
}

// TestLogsOfTheRunThatFailed: they are shown unless another run is named.
func TestLogsOfTheRunThatFailed(t *testing.T) {
	t.Chdir(t.TempDir())
	leaveReport(t, "report", reports.Join(checked("a/b/x", reports.Pass).Numbered(1), checked("a/b/x", reports.Fail).Numbered(2)))
	for number, said := range map[int]string{1: "passed", 2: "failed"} {
		dir := filepath.Join("report", filepath.FromSlash(reports.RunDir("a/b/x", number)), "logs")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, filepath.Join(dir, "etcd.log"), said)
	}
	for number, want := range map[int]string{0: "failed", 1: "passed", 2: "failed"} {
		l, err := CellLogs("report", "a/b/x", number)
		if err != nil {
			t.Fatal(err)
		}
		file, err := l.Open("etcd")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(file); err != nil || string(text) != want {
			t.Errorf("run %d: %q, %v", number, text, err)
		}
	}
	if _, err := CellLogs("report", "a/b/x", 3); err == nil || !strings.Contains(err.Error(), "has no run 3") {
		t.Error(err)
	}
}
