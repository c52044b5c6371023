package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/await"
)

// shell is a child that runs a script.
func shell(t *testing.T, script string) Config {
	t.Helper()
	return Config{
		Name: "child", Path: "/bin/sh", Args: []string{"-c", script},
		Env: []string{"PATH=/usr/bin:/bin"}, Log: filepath.Join(t.TempDir(), "child.log"),
	}
}

// fileThere is a readiness check for a child that makes a file.
func fileThere(path string) func(context.Context) error {
	return func(context.Context) error {
		_, err := os.Stat(path)
		return err
	}
}

func TestAChildThatDiesIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	cfg := shell(t, "echo opening the port; echo address already in use >&2; exit 3")
	cfg.Ready = func(context.Context) error { return errors.New("not listening") }
	began := time.Now()
	_, err := Start(t.Context(), cfg)
	if _, ok := errors.AsType[*ExitError](err); !ok {
		t.Fatalf("Start returned %v, want an ExitError", err)
	}
	for _, want := range []string{"child did not start: address already in use (exit status 3 after ", "; log: " + cfg.Log} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if time.Since(began) > time.Minute {
		t.Error("the death was noticed only by a time-out")
	}
}

func TestAChildThatNeverGetsReadyIsKilled(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	cfg := shell(t, "echo still loading; echo $$ > "+pidFile+".new; mv "+pidFile+".new "+pidFile+"; exec sleep 600")
	ctx, cancel := context.WithCancelCause(t.Context())
	cfg.Ready = func(context.Context) error {
		if _, err := os.Stat(pidFile); err == nil {
			cancel(errors.New("out of patience"))
		}
		return errors.New("nothing listens yet")
	}
	_, err := Start(ctx, cfg)
	if err == nil {
		t.Fatal("Start succeeded")
	}
	for _, want := range []string{"nothing listens yet", "out of patience", "still loading"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if alive(t, pidFile) {
		t.Error("the child is still alive")
	}
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	cfg := shell(t, "sleep 600 & echo $! > "+pidFile+".new; mv "+pidFile+".new "+pidFile+"; wait")
	cfg.Ready = fileThere(pidFile)
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if p.Exit() != nil {
		t.Error("Exit says that a running child has ended")
	}
	if !alive(t, pidFile) {
		t.Fatal("the grandchild is not running")
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, pidFile)
	if exit := p.Exit(); exit == nil || exit.Code != -1 || exit.Signal != "SIGTERM" || exit.Took <= 0 || exit.Overdue {
		t.Errorf("Exit() = %+v, want the signal, and how long it took", exit)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestStopKillsWhatDoesNotStop(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	cfg := shell(t, "trap '' TERM; touch "+ready+"; while :; do sleep 600; done")
	cfg.Ready = fileThere(ready)
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if exit := p.Exit(); exit == nil || !exit.Overdue || exit.Signal != "SIGKILL" || exit.Took < 100*time.Millisecond {
		t.Errorf("Exit() = %+v, want that it had to be killed", exit)
	}
}

func TestTheGuardRemovesWhenClosed(t *testing.T) {
	t.Parallel()
	g, err := NewGuard(filepath.Join(t.TempDir(), "rig"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(g.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("guarded directory: %v, %v", info, err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(g.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// victim makes this test binary play a skewrig that is killed.
const victim = "SKEWRIG_TEST_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victim); dir != "" {
		playVictim(dir)
	}
	os.Exit(m.Run())
}

// playVictim starts a guard and a child that says when it runs, and waits to be
// killed.
func playVictim(dir string) {
	g, err := NewGuard(filepath.Join(dir, "rig"))
	if err == nil {
		_, err = launch(Config{
			Name: "child", Path: "/bin/sh", Env: []string{"PATH=/usr/bin:/bin"}, Log: filepath.Join(g.Dir(), "log"),
			Args: []string{"-c", "echo $$ > " + dir + "/pid.new; mv " + dir + "/pid.new " + dir + "/pid; exec sleep 600"},
		})
	}
	if err != nil {
		os.Exit(1)
	}
	select {}
}

func TestNothingIsLeftAfterKill9(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), Config{
		Name: "victim", Path: self, Env: []string{victim + "=" + dir, "PATH=/usr/bin:/bin"},
		Log: filepath.Join(t.TempDir(), "victim.log"), Ready: fileThere(filepath.Join(dir, "pid")),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, filepath.Join(dir, "pid"))
	awaitThat(t, "the guarded directory to go", func() bool {
		_, err := os.Stat(filepath.Join(dir, "rig"))
		return errors.Is(err, os.ErrNotExist)
	})
}

func alive(t *testing.T, pidFile string) bool {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return !strings.Contains(string(state), ") Z ") // a zombie waits for its parent, not for us
}

func awaitDeath(t *testing.T, pidFile string) {
	t.Helper()
	awaitThat(t, "the child to end", func() bool { return !alive(t, pidFile) })
}

func awaitThat(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !await.Until(t.Context(), 30*time.Second, done) {
		t.Fatal("waited 30 s for", what)
	}
}
