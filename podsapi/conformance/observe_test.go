package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/podsapi/server"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

// listen serves on a path that is short enough for a socket.
func listen(t *testing.T, config server.Config, pods int) *server.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "pods") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	config.Socket = filepath.Join(dir, place)
	s, err := server.Listen(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	all := make([]*corev1.Pod, pods)
	for i := range all {
		p := whole(i)
		all[i] = &p.Pod
	}
	if err := s.Set(all...); err != nil {
		t.Fatal(err)
	}
	s.SetReady(true)
	return s
}

func observe(t *testing.T, socket string) []reports.Check {
	t.Helper()
	r, err := Observe(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	return Judge(r)
}

func TestTheReferenceServerIsGreen(t *testing.T) {
	t.Parallel()
	for _, c := range observe(t, listen(t, server.Config{}, 5).Socket()) {
		if c.Outcome != reports.Pass {
			t.Errorf("%s: %s\nexpected %s\nobserved %s\n%s", c.ID, c.Outcome, c.Expected, c.Observed, c.Reason)
		}
	}
}

// TestChecksAreOfTheLedger: a report can be made of what was judged.
func TestChecksAreOfTheLedger(t *testing.T) {
	t.Parallel()
	requirements, err := ledger.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reports.Assemble([]reports.Cell{{ID: Cell, Checks: Judge(good())}}, requirements, reports.Reproduce{}); err != nil {
		t.Error(err)
	}
}

func TestOtherServersAreNotGreen(t *testing.T) {
	t.Parallel()
	unlimited := listen(t, server.Config{Open: true}, 2)
	if got, want := with(observe(t, unlimited.Socket()), reports.Fail), []string{"too-many-are-refused", "too-many-watches-are-refused"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("without a limit, %q fail, want %q", got, want)
	}
	broken := listen(t, server.Config{}, 2)
	broken.Disturb(server.Disturbance{BreakAfter: 1})
	if got := with(observe(t, broken.Socket()), reports.Fail); len(got) < 4 {
		t.Errorf("with watches that break, only %q fail", got)
	}
}

func TestAServerThatAnswersNothing(t *testing.T) {
	t.Parallel()
	initializing := listen(t, server.Config{}, 2)
	initializing.SetReady(false)
	off := listen(t, server.Config{Disabled: true}, 0)
	for name, socket := range map[string]string{
		"initializing": initializing.Socket(), "off": off.Socket(), "nothing": filepath.Join(t.TempDir(), "nothing"),
	} {
		judged := observe(t, socket)
		if got := with(judged, reports.NotTestable); len(got) < len(judged)-2 {
			t.Errorf("%s: only %q are not testable", name, got)
		}
	}
}

func TestAnInterruptEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Observe(ctx, listen(t, server.Config{}, 2).Socket()); err == nil {
		t.Error("no error")
	}
}
