package build

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/clock/page"
	"github.com/skewrig/skewrig/harness/release"
)

// TestWhoCanHaveAClock: the error says which component, or which platform,
// and where it works.
func TestWhoCanHaveAClock(t *testing.T) {
	s := store{dir: t.TempDir()}
	if _, err := s.clockFiles(t.Context(), Target{Component: Etcd, Clock: true}, choice{}); err == nil || err.Error() != "etcd can't have a clock of its own, only a kubelet can" {
		t.Errorf("an etcd with a clock: %v", err)
	}
	t.Setenv("GOARCH", "arm64")
	for goos, want := range map[string]string{
		"linux":   "",
		"darwin":  "a kubelet with a clock of its own can't be built for darwin/arm64, only for linux",
		"windows": "a kubelet with a clock of its own can't be built for windows/arm64, only for linux",
	} {
		t.Setenv("GOOS", goos)
		files, err := s.clockFiles(t.Context(), Target{Component: Kubelet, Clock: true}, choice{})
		if (want == "") != (err == nil) || err != nil && err.Error() != want {
			t.Errorf("on %s: %v, want %q", goos, err, want)
		}
		if err == nil && len(files) != 2 {
			t.Errorf("on %s/arm64 %d files are replaced, want timestub.go and ours", goos, len(files))
		}
	}
}

// TestAClockMakesAnotherBinary, and the one without a clock keeps its key.
func TestAClockMakesAnotherBinary(t *testing.T) {
	s := store{dir: t.TempDir()}
	lines := make(map[bool][]string)
	for _, clock := range []bool{false, true} {
		r, err := newRecipe(t.Context(), s, Target{Component: Kubelet, Version: release.Newest, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		lines[clock] = r.lines
		if clock != (len(r.clock) > 0) {
			t.Errorf("with clock %t, %d files of the toolchain are replaced", clock, len(r.clock))
		}
	}
	if diff := cmp.Diff(lines[false], lines[true][:len(lines[false])]); diff != "" {
		t.Errorf("a clock changes what it has nothing to do with (-without +with):\n%s", diff)
	}
	for _, line := range lines[false] {
		if strings.HasPrefix(line, "clock ") {
			t.Errorf("without a clock, the recipe has %q", line)
		}
	}
	if recipeKey(lines[false]) == recipeKey(lines[true]) {
		t.Error("a kubelet with a clock has the key of one without")
	}
	other := clockLines(map[string][]byte{"/usr/local/go/src/runtime/timeasm.go": []byte("package runtime")})
	here := clockLines(map[string][]byte{"/opt/go/src/runtime/timeasm.go": []byte("package runtime")})
	patched := clockLines(map[string][]byte{"/opt/go/src/runtime/timeasm.go": []byte("package runtime // 2")})
	if !cmp.Equal(other, here) || cmp.Equal(here, patched) {
		t.Errorf("the key follows %q, %q, %q: where Go is must not matter, what it is must", other, here, patched)
	}
}

func TestAKubeletWithAClockHasItsOwnKey(t *testing.T) {
	plain, own := Target{Component: Kubelet, Version: "v1.90.1"}, Target{Component: Kubelet, Version: "v1.90.1", Clock: true}
	if plain.id() == own.id() {
		t.Error("in one run, they are the same")
	}
	if got, want := own.String()+", "+own.source(), "kubelet@v1.90.1 (own clock), k8s.io/kubernetes@v1.90.1 (own clock)"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
	b := &Builder{Given: []Given{{Component: Kubelet, Version: "v1.90.1", Path: "/given"}}}
	if b.given(plain) == "" || b.given(own) != "" {
		t.Error("a ready-made kubelet stands for one with a clock")
	}
}

// clockReader is a program that answers each line with its time of day, and with how
// long it has run by the monotonic clock.
const clockReader = `package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

var start = time.Now()

func main() {
	fmt.Println(start.UnixNano(), 0)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		now := time.Now()
		fmt.Println(now.UnixNano(), int64(now.Sub(start)))
	}
}
`

// compileTold compiles the program with the runtime that reads a page.
func compileTold(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := store{dir: dir}
	files, err := s.clockFiles(t.Context(), Target{Component: Kubelet}, choice{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := writeOverlay(t.TempDir(), files)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "main.go"), []byte(clockReader), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "clock-reader")
	if _, err := gotool.Run(t.Context(), dir, []string{"build", "-trimpath", "-overlay=" + list, "-o", out, "main.go"}); err != nil {
		t.Fatal(err)
	}
	return out
}

// reading is what the program's clocks show.
type reading struct {
	wall    time.Time
	elapsed time.Duration
}

// asked is the program, running.
type asked struct {
	in  io.Writer
	out *bufio.Reader
}

func (a *asked) read(t *testing.T) (r reading) {
	t.Helper()
	var wall int64
	if _, err := fmt.Fscan(a.out, &wall, &r.elapsed); err != nil {
		t.Fatal(err)
	}
	r.wall = time.Unix(0, wall)
	return r
}

// now asks the program, and returns when that was, at the earliest and at the
// latest.
func (a *asked) now(t *testing.T) (r reading, earliest, latest time.Time) {
	t.Helper()
	earliest = time.Now()
	fmt.Fprintln(a.in)
	r = a.read(t)
	return r, earliest, time.Now()
}

func run(t *testing.T, program string, p *page.Page) *asked {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = []string{p.Environment()}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return &asked{in: in, out: bufio.NewReader(out)}
}

// TestAProgramShowsTheClockOfItsPage compiles the runtime of the installed
// toolchain, and a program with it: its time of day is the page's from the
// start and at once after each change; its monotonic time goes on.
func TestAProgramShowsTheClockOfItsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles Go's runtime: left out of -short")
	}
	program := compileTold(t)
	p, err := page.Create(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	began := time.Now()
	first := clock.Clock{Offset: -35 * time.Second}
	if err := p.Set(first); err != nil {
		t.Fatal(err)
	}
	a := run(t, program, p)
	expectBetween(t, first, a.read(t).wall, began, time.Now())
	if n := p.Readers(); n != 1 {
		t.Errorf("%d processes show the clock, want 1", n)
	}
	var last time.Duration
	for _, c := range []clock.Clock{
		{},
		{Offset: -time.Hour},
		{Offset: 12345 * time.Hour},
		{Offset: time.Second, Drift: 200_000, Since: began.Add(-time.Hour)},
		{Drift: -200, Since: began.Add(time.Hour)},
		{Frozen: true, Since: began},
		{Offset: time.Minute, Drift: 5, Frozen: true, Since: time.Unix(-1, 5)},
		{Offset: -80 * 365 * 24 * time.Hour},
	} {
		if err := p.Set(c); err != nil {
			t.Fatal(err)
		}
		r, earliest, latest := a.now(t)
		expectBetween(t, c, r.wall, earliest, latest)
		if r.elapsed < last || r.elapsed > time.Since(began) {
			t.Errorf("%s: it has run for %s, after %s", c, r.elapsed, last)
		}
		last = r.elapsed
	}
}

// expectBetween wants what a clock shows between two times.
func expectBetween(t *testing.T, c clock.Clock, shown, earliest, latest time.Time) {
	t.Helper()
	if from, to := c.Read(earliest), c.Read(latest); shown.Before(from) || shown.After(to) {
		t.Errorf("%s: it shows %s, want from %s to %s", c, shown, from, to)
	}
}

// TestAMissingPageFailsAtOnce: a process does not go on with the
// machine's time instead.
func TestAMissingPageFailsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles Go's runtime: left out of -short")
	}
	cmd := exec.CommandContext(t.Context(), compileTold(t))
	cmd.Env = []string{page.Env + "=/nowhere"}
	out, err := cmd.CombinedOutput()
	if want := "skewrig: showing the clock in /nowhere (" + page.Env + "): it can't be opened\n"; err == nil || string(out) != want {
		t.Errorf("%v, and it said %q, want %q", err, out, want)
	}
}

// TestWhatDoesNotReadAPageIsNotTakenForIt: this test has Go's own runtime.
func TestWhatDoesNotReadAPageIsNotTakenForIt(t *testing.T) {
	script := filepath.Join(t.TempDir(), "kubelet")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho Kubernetes v1.90.1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := store{dir: t.TempDir()}.showsPage(t.Context(), script)
	if err == nil || !strings.Contains(err.Error(), "does not read its clock") {
		t.Errorf("error %v", err)
	}
}
