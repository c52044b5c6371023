package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
)

// followed is a node whose ctr is a shell script, which it follows until a context is done, and what is told the ids of
// containers that end.
func followed(t *testing.T, ctx context.Context, script string, exited func(id string)) *Node {
	t.Helper()
	ctr := filepath.Join(t.TempDir(), "ctr")
	if err := os.WriteFile(ctr, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is to run
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := &Node{config: Config{Name: "node-a", Socket: filepath.Join(dir, "socket"), Cgroup: "skewrig-none", Recorder: record.NewHistory(nil), Found: Found{Programs: map[string]string{"ctr": ctr}}}}
	if n.relay, err = newRelay(n.config, n.dial, n.load); err != nil {
		t.Fatal(err)
	}
	if err := n.follow(ctx, nil, exited); err != nil {
		t.Fatal(errors.Join(err, n.relay.close()))
	}
	return n
}

// TestTheEndOfEvents before that of containerd is a loss, whoever ends them.
func TestTheEndOfEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"it can't subscribe":     {"echo no such service >&2; exit 1", "exit status 1: no such service"},
		"it has no more to say":  {"exit 0", "EOF"},
		"it is killed":           {"kill -KILL $$", "signal: killed"},
		"nobody can read a line": {"while printf aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do :; done 2>/dev/null", "bufio.Scanner: token too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := followed(t, t.Context(), c.script, func(string) {})
			n.following.Wait()
			err := n.Close()
			if want := "the events of node node-a have ended: ctr: " + c.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// TestEventsEndWithContainerd: that is no loss.
func TestEventsEndWithContainerd(t *testing.T) {
	t.Parallel()
	ctx, unfollow := context.WithCancel(t.Context())
	n := followed(t, ctx, `echo 'now k8s.io /tasks/exit {"container_id":"a","id":"a"}'`, func(string) { unfollow() })
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
