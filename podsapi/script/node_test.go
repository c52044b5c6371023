package script

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/record"
)

func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pods") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "pods.sock")
}

func planned(t *testing.T, steps string) []Move {
	t.Helper()
	s, err := Parse("test.yaml", []byte("apiVersion: skewrig.dev/v1alpha1\nkind: PodsAPIScript\nsteps:\n"+steps))
	if err != nil {
		t.Fatal(err)
	}
	moves, err := s.Plan(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return moves
}

// atOnce is a clock on which no time passes.
func atOnce(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func started(t *testing.T) (*Node, *client.Client) {
	t.Helper()
	n, err := Serve(socketPath(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n, dialled(t, n)
}

func dialled(t *testing.T, n *Node) *client.Client {
	t.Helper()
	c, err := client.Dial(n.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestALifeIsSeen: what a client is answered after each move is what the script says.
func TestALifeIsSeen(t *testing.T) {
	t.Parallel()
	n, _ := started(t)
	codes := make(map[string]string)
	moves := planned(t, `
- add: {name: web, count: 2}
- ready: true
- remove: {name: web-0}
- disturb: {delay: 1ms}
- restart: {down: 1h, initializing: 1h}
- wait: 1h
`)
	var last string
	ask := func(m Move) {
		// One that was refused waits before it connects again: this one is new.
		a := dialled(t, n).Ask(t.Context(), client.Request{Method: client.ListPods})
		codes[last] = a.Code + strings.Repeat(" pod", len(a.List))
		last = m.Text
	}
	if err := n.Play(t.Context(), moves, atOnce, ask); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[string]string{
		"add web-0 to web-1": "FailedPrecondition",
		"remove web-0":       "OK pod",
		"the kubelet stops":  "Unavailable",
		"the kubelet starts, and doesn't know its pods": "FailedPrecondition",
		"the node is ready":                             "OK pod",
	} {
		if codes[after] != want {
			t.Errorf("after %q the answer is %q, want %q", after, codes[after], want)
		}
	}
	if runs := n.Runs(); len(runs) != 2 || runs[1].Number != 2 || len(runs[0].Clients) == 0 || len(runs[1].Clients) == 0 {
		t.Errorf("the runs are %+v", runs)
	}
}

func TestAWatchGetsEvents(t *testing.T) {
	t.Parallel()
	n, c := started(t)
	if err := n.Play(t.Context(), planned(t, "- add: {name: web, count: 3}\n- ready: true\n"), atOnce, func(Move) {}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	synced, over := make(chan struct{}), make(chan struct{})
	var kinds []string
	go func() {
		defer close(over)
		c.Watch(ctx, "", func(e record.PodsEvent) {
			if kinds = append(kinds, e.Type); e.Type == "INITIAL_SYNC_COMPLETE" {
				close(synced)
			}
		})
	}()
	<-synced
	if err := n.Do(planned(t, "- add: {name: job}\n")[0].Action); err != nil {
		t.Fatal(err)
	}
	if err := n.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	clients := n.Runs()[0].Clients
	if len(clients) != 1 || clients[0].Events != 5 && clients[0].Events != 4 || len(clients[0].Behind) > 0 {
		t.Errorf("the clients are %+v", clients)
	}
	cancel()
	<-over
}

func TestPlayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	n, _ := started(t)
	ctx, cancel := context.WithCancel(t.Context())
	clock := RealTime()
	err := n.Play(ctx, planned(t, "- ready: true\n- wait: 24h\n"), clock, func(Move) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := Serve(n.socket); err == nil {
		t.Error("a socket that is served was served again")
	}
}

// TestClientsAreForgottenAloud: of very many that are gone, the node says how many more
// there were.
func TestClientsAreForgottenAloud(t *testing.T) {
	t.Parallel()
	n, _ := started(t)
	count := 0
	connect := func() {
		conn, err := net.Dial("unix", n.socket)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		count++
	}
	for range 1001 {
		connect()
	}
	until(t, "some are forgotten", func() bool { connect(); return n.Runs()[0].Forgotten > 0 })
	if r := n.Runs()[0]; len(r.Clients) < 1000 || len(r.Clients)+r.Forgotten > count {
		t.Errorf("of %d clients, %d are known and %d forgotten", count, len(r.Clients), r.Forgotten)
	}
}

// TestTheScriptsOfTheDocs: they can be read, and played to the end.
func TestTheScriptsOfTheDocs(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../docs/podsapi/*.yaml")
	if err != nil || len(paths) < 2 {
		t.Fatalf("the scripts are %q, error %v", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		moves, err := s.Plan(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		n, c := started(t)
		if err := n.Play(t.Context(), moves, atOnce, func(Move) {}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if a := c.Ask(t.Context(), client.Request{Method: client.ListPods}); a.Code != "OK" || len(a.List) == 0 {
			t.Errorf("%s: at its end, the answer is %s with %d pods", path, a.Code, len(a.List))
		}
	}
}
