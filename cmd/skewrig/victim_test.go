package main

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
)

// victim is a process that runs cells, and is killed.
type victim struct {
	program string
	temp    string // where its rigs are
	work    string // its working directory
	dir     string // of its report
	cmd     *exec.Cmd
	exited  chan struct{}
	before  reports.Report // just before it was killed
}

// compiled is the program, as users have it.
func compiled(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "skewrig")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return program
}

// startVictim begins to run the cells of scenarios, with a directory of its own for rigs.
func startVictim(t *testing.T, program string, files []string) *victim {
	t.Helper()
	return startCommand(t, program, append([]string{"run", "--parallel", "10", "--github", "never"}, files...)...)
}

// startCommand starts a command with a directory of its own for rigs, and working directory.
func startCommand(t *testing.T, program string, args ...string) *victim {
	t.Helper()
	work := t.TempDir()
	if err := os.CopyFS(work, os.DirFS(filepath.Join("testdata", "killed"))); err != nil {
		t.Fatal(err)
	}
	v := &victim{program: program, temp: shortDir(t), work: work, dir: filepath.Join(work, "report"), exited: make(chan struct{})}
	v.cmd = v.command(t, args...)
	output, err := os.Create(filepath.Join(work, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	v.cmd.Stdout, v.cmd.Stderr = output, output
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = v.cmd.Wait() // it is killed
		close(v.exited)
	}()
	t.Cleanup(func() { // of what a failed test leaves
		v.kill(t)
		for pid := range v.processes(t) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return v
}

func (v *victim) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), v.program, args...)
	cmd.Dir, cmd.Env = v.work, append(os.Environ(), "TMPDIR="+v.temp)
	return cmd
}

// kill ends the process at once, and returns when it is gone. It reports false if the process
// had ended by itself.
func (v *victim) kill(t *testing.T) bool {
	t.Helper()
	if err := v.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-v.exited
	return v.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
}

func (v *victim) hasEnded() bool {
	select {
	case <-v.exited:
		return true
	default:
		return false
	}
}

// said is what the process printed.
func (v *victim) said(t *testing.T) string { return readText(t, filepath.Join(v.work, "output")) }

// skewrig runs another command, which sees what the killed process has left.
func (v *victim) skewrig(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	cmd := v.command(t, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// print is the report that a command prints.
func (v *victim) print(t *testing.T, args ...string) reports.Report {
	t.Helper()
	code, text := v.skewrig(t, args...)
	report, err := reports.Read(strings.NewReader(text))
	if code == exitUsage || err != nil {
		t.Fatalf("skewrig %s: exit code %d, %v", strings.Join(args, " "), code, err)
	}
	return report
}

// processes are those that know the directory of the rigs.
func (v *victim) processes(t *testing.T) map[int]string {
	t.Helper()
	all, err := process.Knowing(v.temp)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// programs are those of the processes, each once.
func (v *victim) programs(t *testing.T) []string {
	t.Helper()
	return slices.Compact(slices.Sorted(maps.Values(v.processes(t))))
}

// logged is how much a component of the control plane has said, in bytes.
func (v *victim) logged(component string) (size int64) {
	logs, _ := filepath.Glob(filepath.Join(v.temp, "skewrig-*", "logs", component+".log")) // the pattern is valid
	for _, log := range logs {
		if info, err := os.Stat(log); err == nil {
			size += info.Size()
		}
	}
	return size
}

// begun reports whether a cell has begun.
func (v *victim) begun() bool {
	_, err := os.Stat(filepath.Join(v.dir, "cells"))
	return err == nil
}

// wrote reports whether the report has a file.
func (v *victim) wrote(name string) bool {
	_, err := os.Stat(filepath.Join(v.dir, name))
	return !errors.Is(err, fs.ErrNotExist)
}

// decided is how many cells the report says have ended.
func (v *victim) decided() (n int) {
	report, _ := app.ReadReport(v.dir) // there may be none yet
	return len(report.Cells) - report.Unfinished()
}

// starts is how often a cell's kubelet has started.
func (v *victim) starts(cell string) int {
	text, _ := os.ReadFile(filepath.Join(engine.CellDir(v.dir, cell), reports.HistoryFile)) // there may be none yet
	return bytes.Count(text, []byte(`"kind":"component.started","subject":"kubelet/`))
}
