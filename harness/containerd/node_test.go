package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

// noImage returns the name of an archive that no test reads.
func noImage(context.Context, string) (string, error) { return "image.tar", nil }

// TestAnImageIsNotLoaded: an image is not loaded after its context or the node has ended.
func TestAnImageIsNotLoaded(t *testing.T) {
	t.Parallel()
	n := &Node{config: Config{Image: noImage}}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := n.load(ended, "registry.test/web:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: %v", err)
	}
	if err := n.load(t.Context(), "registry.test/web:1"); !errors.Is(err, errNotRunning) {
		t.Errorf("into a node that has ended: %v", err)
	}
}

// TestTheLinkOfANodeThatCouldNotBoot can't be changed.
func TestTheLinkOfANodeThatCouldNotBoot(t *testing.T) {
	t.Parallel()
	n := new(Node)
	for _, f := range []record.LinkFault{{}, {Cut: record.CutReset}} {
		if err := n.SetFault(t.Context(), f); !errors.Is(err, errNotRunning) {
			t.Errorf("to %+v: %v", f, err)
		}
	}
}

// booting is a container runtime that is asked whether it is ready while its node boots.
type booting struct {
	cri.RuntimeServiceClient
	asked func()
}

func (b booting) Status(context.Context, *cri.StatusRequest, ...grpc.CallOption) (*cri.StatusResponse, error) {
	b.asked()
	return &cri.StatusResponse{}, nil
}

// TestNoImageIsLoadedDuringAReboot: the namespaces are not there that it would be loaded in.
func TestNoImageIsLoadedDuringAReboot(t *testing.T) {
	t.Parallel()
	if err := LookUp(os.TempDir()).Check(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	programs := make(map[string]string)
	for name, script := range map[string]string{"containerd": "exec sleep 600", "ctr": "exit 0", "containerd-shim-runc-v2": "exit 0"} {
		programs[name] = filepath.Join(dir, name)
		if err := os.WriteFile(programs[name], []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is to run
			t.Fatal(err)
		}
	}
	bootID := filepath.Join(dir, "boot_id")
	if err := os.WriteFile(bootID, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := &Node{config: Config{Name: "a", Dir: dir, BootID: bootID, Log: filepath.Join(dir, "log"), Found: Found{Programs: programs}}}
	asked := false
	n.relay = &relay{ledger: newLedger("a", "", (*record.History)(nil), booting{asked: func() {
		asked = true
		if n.loading.TryLock() {
			n.loading.Unlock()
			t.Error("one can be")
		}
	}}, nil)}
	if err := n.Reboot(t.Context()); err != nil || !asked {
		t.Errorf("asked: %t, %v", asked, err)
	}
	if err := n.end(); err != nil {
		t.Error(err)
	}
}

// TestAClosedNodeIsAsked: a closed node still answers for the path of a container, and accepts the exit of one.
func TestAClosedNodeIsAsked(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := &Node{config: Config{Name: "a", Socket: filepath.Join(dir, "socket"), Cgroup: "skewrig-none", Recorder: record.NewHistory(nil)}}
	if n.relay, err = newRelay(n.relayed()); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if path, known := n.Path("abc"); known {
		t.Errorf("no container has path %s", path)
	}
	n.relay.exited("abc") // as what reads events does
}
