package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/rigs"
)

// dark is a node with real containers that could not boot.
type dark struct{ Host }

func (dark) Namespaces() *process.Namespaces { return nil }

// TestAKubeletOfANodeThatCouldNotBoot does not run in the namespaces of skewrig: there it sets what the kernel of this
// machine does, and mounts volumes.
func TestAKubeletOfANodeThatCouldNotBoot(t *testing.T) {
	guard, err := rigs.NewDir(t.TempDir(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	dir := t.TempDir()
	program, ran := filepath.Join(dir, "kubelet"), filepath.Join(dir, "ran")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n: >"+ran+"\n"), 0o700); err != nil { //nolint:gosec // it is to run
		t.Fatal(err)
	}
	c := &Cluster{guard: guard, servers: make([]server, 1), cfg: Config{LogDir: dir, Binary: func(context.Context, build.Target) (build.Binary, error) {
		return build.Binary{Path: program}, nil
	}}}
	c.ctx, c.fail = context.WithCancelCause(t.Context())
	defer c.fail(nil)
	c.add(&component{name: "kubelet/node-a", kind: build.Kubelet, host: dark{}, flags: flags{"config": filepath.Join(dir, "config")}, config: make(map[string]any)})
	if err := c.introduce(); err != nil {
		t.Fatal(err)
	}
	err = c.Start(t.Context(), "kubelet/node-a", Change{})
	if err == nil || !strings.Contains(err.Error(), "its node does not run") {
		t.Errorf("starting it: %v", err)
	}
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it ran: %v", err)
	}
}
