// Package kind runs cells on kind clusters, on node images that are made without a registry. If no
// Docker answers, it has one of its own.
package kind

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/nodeimage"
)

var (
	skewrig  = flag.String("skewrig", "", "the program that is tested; without it, nothing is")
	cells    = flag.String("cells", "kep-4939/e2e/**", "the patterns of the cells to run")
	releases = flag.String("releases", "newest previous", "the releases of which to make node images")
	dir      = flag.String("report-dir", "", "the directory for their report")
)

// TestCells makes the node images, runs the cells, and looks that nothing is left. Nothing is left of
// an interrupt of the test either: it ends what runs, and then Docker.
func TestCells(t *testing.T) {
	if testing.Short() || *skewrig == "" {
		t.Skip("takes Docker and many minutes: make kind runs it")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	withDocker(t)
	for _, check := range []func(context.Context) error{nodeimage.Check, kind.Check} {
		if err := check(ctx); err != nil {
			t.Skip(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func(context.Context, *testing.T)
	}{
		{"node images", makeImages},
		{"cells", runCells},
		{"an interrupt leaves nothing", interrupt},
		{"the next run removes what a kill left", kill},
	} {
		t.Run(step.name, func(t *testing.T) {
			if ctx.Err() != nil {
				t.Fatal("the test was interrupted")
			}
			step.do(ctx, t)
		})
	}
}

func makeImages(ctx context.Context, t *testing.T) {
	run(ctx, t, append([]string{"build", "node-image"}, strings.Fields(*releases)...)...)
}

func runCells(ctx context.Context, t *testing.T) {
	run(ctx, t, append([]string{"run", "--provider", "kind", "--force", "--report-dir", *dir}, strings.Fields(*cells)...)...)
	nothingLeft(t)
}

func interrupt(ctx context.Context, t *testing.T) {
	end(ctx, t, syscall.SIGINT)
	nothingLeft(t)
}

func kill(ctx context.Context, t *testing.T) {
	end(ctx, t, syscall.SIGKILL)
	if left(t) == "" {
		t.Error("nothing was left, so that this shows nothing")
	}
	deadline := time.Now().Add(time.Minute) // commands of the run may outlive it, and make containers
	for left(t) != "" && time.Now().Before(deadline) {
		r, err := kind.Open(ctx, "a test")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	nothingLeft(t)
}

// command returns a command of skewrig, and logs its arguments before its output. It is interrupted when
// the context is done, and has some time to remove its clusters.
func command(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, *skewrig, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Minute
	t.Log(cmd)
	return cmd
}

// run runs skewrig, which has to succeed.
func run(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	began := time.Now()
	err := command(ctx, t, args...).Run()
	t.Logf("it took %s", time.Since(began).Round(time.Second))
	if err != nil {
		t.Error(err)
	}
}

// end begins a run and ends it with a signal once it has a node.
func end(ctx context.Context, t *testing.T, by syscall.Signal) {
	t.Helper()
	cmd := command(ctx, t, "run", "--provider", "kind", "kep-4939/e2e/plaintext-probe-plaintext-server", "--report-dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for left(t) == "" {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it had a node: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := cmd.Process.Signal(by); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// left are the containers of runs that are there.
func left(t *testing.T) string {
	t.Helper()
	containers, err := docker.Run(t.Context(), "ps", "--all", "--filter", "name=skewrig-", "--format", "{{.Names}}")
	if err != nil {
		t.Fatal(err)
	}
	return containers
}

func nothingLeft(t *testing.T) {
	t.Helper()
	networks, err := docker.Run(t.Context(), "network", "ls", "--filter", "label=skewrig.dev/run", "--format", "{{.Name}}")
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.TrimSpace(left(t) + " " + networks); all != "" {
		t.Errorf("%s is there", all)
	}
}
