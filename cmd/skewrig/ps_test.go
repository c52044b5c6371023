package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/rigs"
)

func TestRigsArePrinted(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 23, 10, 9, 12, 0, time.Local)
	var got bytes.Buffer
	printRigs(&got, []rigs.Rig{
		{Name: "up-7", Dir: "/tmp/skewrig-up-7", Running: true, PID: 7, Since: since, Releases: []string{"v1.90.1", "v1.89.3"}, Info: rigs.Info{For: "up", Kubeconfig: "/tmp/skewrig-up-7/k"}},
		{Name: "b-8", Dir: "/tmp/skewrig-b-8", Running: true, PID: 8, Since: since, Info: rigs.Info{For: "a/\x1b[2Jb", Kubeconfig: "/k", ReportDir: "/home/report"}},
		{Name: "c-9", Dir: "/tmp/skewrig-c-9", PID: 9, Since: since},
	})
	want := `NAME  PID  SINCE                RELEASES          FOR
up-7  7    2026-11-23 10:09:12  v1.90.1, v1.89.3  up
b-8   8    2026-11-23 10:09:12                    a/\x1b[2Jb

up-7
  kubeconfig  /tmp/skewrig-up-7/k
  directory   /tmp/skewrig-up-7

b-8
  kubeconfig  /k
  directory   /tmp/skewrig-b-8
  report      /home/report

Left by processes that were killed (skewrig cluster list --prune removes it):
  /tmp/skewrig-c-9  of pid 9, since 2026-11-23 10:09:12
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Reset()
	if printRigs(&got, nil); got.String() != "No rig runs.\n" {
		t.Errorf("of none: %q", &got)
	}
}

// madeRig is the rig of this process, with a log.
func madeRig(t *testing.T) *rigs.Dir {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	d, err := rigs.NewDir("", "a/b/tried/kubelet:v1.90.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // a test may have closed it
	golden.Write(t, filepath.Join(d.Dir(), "kubelet-node-a.log"), "ready\n")
	if err := d.Say(func(i *rigs.Info) { i.For, i.Logs = "a/b/tried/kubelet:v1.90.1", d.Dir() }); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestARigIsListedWithItsLogs(t *testing.T) {
	rig := madeRig(t)
	name := strings.TrimPrefix(filepath.Base(rig.Dir()), rigs.Prefix)
	code, stdout, stderr := skewrig(t, "cluster", "list", "-o", "json")
	var all []rigs.Rig
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	found := false
	for _, r := range all {
		found = found || r.Name == name && r.Running && r.PID == os.Getpid()
	}
	if !found {
		t.Errorf("%s is not listed: %s", name, stdout)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"cluster", "logs", name}, 0, "kubelet-node-a  6\n"},
		{[]string{"cluster", "logs", "a/b/tried/kubelet:v1.90.1"}, 0, "kubelet-node-a  6\n"},
		{[]string{"cluster", "logs", name, "-o", "json"}, 0, `"component": "kubelet-node-a"`},
		{[]string{"cluster", "logs", name, "kubelet/node-a"}, 0, "ready\n"},
		{[]string{"cluster", "logs", name, "etcd"}, exitUsage, "the components are kubelet-node-a"},
		{[]string{"cluster", "logs", name, "--follow"}, exitUsage, "--follow needs a component"},
		{[]string{"cluster", "logs", name, "kubelet", "-o", "json"}, exitUsage, "leave the component out"},
		{[]string{"cluster", "logs", "none"}, exitUsage, name},
		{[]string{"cluster", "logs", "--report", "nowhere", "a/b/c"}, exitUsage, "nowhere"},
	} {
		code, stdout, stderr := skewrig(t, c.args...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%q: exit code %d: %s%s", c.args, code, stdout, stderr)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"cluster", "logs", ""}, name}, {[]string{"cluster", "logs", name, ""}, "kubelet-node-a"}} {
		if offered, _ := completed(t, c.args...); !strings.Contains(strings.Join(offered, " "), c.want) {
			t.Errorf("%q: offered are %q", c.args, offered)
		}
	}
}

// TestPruneLeavesWhatRuns: the rig of this process stays, what a killed one left goes.
func TestPruneLeavesWhatRuns(t *testing.T) {
	rig := madeRig(t)
	left := rig.Dir() + "-left"
	if err := os.CopyFS(left, os.DirFS(rig.Dir())); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := skewrig(t, "cluster", "list"); code != 0 || !strings.Contains(stdout, left) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr := skewrig(t, "cluster", "list", "--prune")
	if code != 0 || !strings.Contains(stdout, left) || strings.Contains(stdout, rig.Dir()+" ") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what was left is still there")
	}
	if _, err := os.Stat(rig.Dir()); err != nil {
		t.Error(err)
	}
}

// TestFollow: what is written after the last look that something writes is copied, too.
func TestFollow(t *testing.T) {
	t.Parallel()
	var from, to bytes.Buffer
	looks := 0
	err := follow(t.Context(), &to, &from, func() bool {
		looks++
		from.WriteString("line\n")
		return looks < 3
	})
	if err != nil || to.String() != "line\nline\nline\n" {
		t.Errorf("%q, %v", &to, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := follow(ctx, &to, &from, func() bool { return true }); err != nil {
		t.Error(err)
	}
}

// TestABadRigHidesNoOther checks that commands list and remove the intact rigs, and report the damaged one.
func TestABadRigHidesNoOther(t *testing.T) {
	rig := madeRig(t)
	empty, bad := rig.Dir()+"-empty", rig.Dir()+"-bad"
	if err := errors.Join(os.Mkdir(empty, 0o700), os.MkdirAll(filepath.Join(bad, "rig.json"), 0o700)); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join(empty, "rig.json"), "")
	code, stdout, stderr := skewrig(t, "cluster", "list")
	if code != exitNotJudged || !strings.Contains(stdout, rig.Dir()) || !strings.Contains(stdout, empty) || !strings.Contains(stderr, bad) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := skewrig(t, "cluster", "logs", "a/b/tried/kubelet:v1.90.1", "kubelet"); code != 0 || stdout != "ready\n" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := skewrig(t, "cluster", "list", "--prune"); code != exitNotJudged || !strings.Contains(stdout, empty) || !strings.Contains(stderr, bad) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(empty); err == nil {
		t.Error("what was left is still there")
	}
}

// TestNoneToPruneIsAList in JSON.
func TestNoneToPruneIsAList(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if code, stdout, stderr := skewrig(t, "cluster", "list", "--prune", "-o", "json"); code != 0 || stdout != "[]\n" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// TestATableIsPrintable: a program under test chose what is in it.
func TestATableIsPrintable(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	table(&got, "A\tB", []string{"\x1b[2J\tb\nc"}, func(s string) string { return s })
	if want := "A        B\n\\x1b[2J  b\\nc\n"; got.String() != want {
		t.Errorf("%q, want %q", &got, want)
	}
	if code, _, stderr := skewrig(t, "cluster", "logs", "--report", "no\x1b[2Jwhere", "a"); code != exitUsage || strings.Contains(stderr, "\x1b") {
		t.Errorf("exit code %d: %q", code, stderr)
	}
}

// TestFlagsThatWouldBeIgnored are errors.
func TestFlagsThatWouldBeIgnored(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"build", "--list", "--prune"}, {"build", "--list", "kubelet@v1.35.4"}, {"build", "--all"}, {"build", "--prune", "--for", "**"},
		{"docs", "up", "-o", "json"}, {"logs", "a", "--run", "2"},
	} {
		if code, stdout, stderr := skewrig(t, args...); code != exitUsage || stdout != "" || stderr == "" {
			t.Errorf("%q: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
}
