// Package soak runs cells many times while the machine is busy, and looks for what is not the
// same each time, and for what is left.
package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/reports"
)

var (
	executions = flag.Int("executions", 2000, "how many times cells run at least, all together")
	patterns   = flag.String("patterns", "", "which cells, separated by commas (default: the default cells)")
	seed       = flag.String("seed", "on", "the seed of the order in which cells begin")
	report     = flag.String("report", "", "the directory of the report (default: a temporary one)")
)

// TestSoak runs the cells beside each other, in random orders, while the other core compiles.
// Each comes to the same each time, and nothing is left.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components for hours: left out of -short")
	}
	skewrig, cells := compiled(t), cells(t)
	dir, temp := *report, t.TempDir()
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "report")
	}
	mounts := read(t, "/proc/mounts")
	compile(t)

	rounds := (*executions + len(cells) - 1) / len(cells)
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), skewrig, append([]string{
		"run", "--repeat", fmt.Sprint(rounds), "--shuffle=" + *seed, "--report-dir", dir, "--force", "--github", "never",
	}, selected()...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	run(t, cmd)
	took := time.Since(began)

	got, err := app.ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range got.Cells {
		runs := c.EachRun()
		ran += len(runs)
		for _, r := range runs {
			if !r.Outcome.Expected() {
				t.Errorf("%s, run %d: %s: %s", c.ID, r.Number, r.Outcome.Word(), r.Reason)
			}
		}
		if c.Outcome == reports.Flaky {
			t.Errorf("%s is flaky: %s", c.ID, c.Reason)
		}
	}
	if ran < *executions {
		t.Errorf("cells ran %d times, want at least %d", ran, *executions)
	}
	if left := left(t, temp); len(left) > 0 {
		t.Errorf("these are left:\n%s", strings.Join(left, "\n"))
	}
	if now := read(t, "/proc/mounts"); now != mounts {
		t.Errorf("mounts were\n%s\nand are\n%s", mounts, now)
	}
	t.Logf("%d executions of %d cells in %s: one each %s", ran, len(cells), took.Round(time.Second), (took / time.Duration(ran)).Round(10*time.Millisecond))
}

// compiled is the program.
func compiled(t *testing.T) string {
	t.Helper()
	skewrig := filepath.Join(t.TempDir(), "skewrig")
	run(t, exec.CommandContext(t.Context(), "go", "build", "-o", skewrig, "../../cmd/skewrig"))
	return skewrig
}

// selected are the patterns that select cells.
func selected() []string {
	if *patterns == "" {
		return nil
	}
	return strings.Split(*patterns, ",")
}

// cells are the ids of the cells that are selected, sorted.
func cells(t *testing.T) (ids []string) {
	t.Helper()
	all, err := app.Select(selected())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// run runs a command that must not fail, but for one whose cells are not as expected: the report
// says which.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	err := cmd.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); is && (exit.ExitCode() == 1 || exit.ExitCode() == 2) {
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
}

// compile keeps one core busy until the test ends.
func compile(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, "go", "build", "-a", "-p", "1", "std")
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
			if out, err := cmd.CombinedOutput(); err != nil && ctx.Err() == nil {
				t.Errorf("the other core does not compile: %v\n%s", err, out)
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// left is what is left of rigs that had their directories below dir: files and processes.
func left(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	processes, err := process.Knowing(dir)
	if err != nil {
		t.Error(err)
	}
	for pid, name := range processes {
		all = append(all, fmt.Sprint("process ", pid, ": ", name))
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
