package server_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/record"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// patience is how long a test waits for what must come. It only runs out when
// something is broken.
const patience = 20 * time.Second

type rig struct {
	t       *testing.T
	server  *server.Server
	history *record.History
}

func serve(t *testing.T, listener behavior.Listener) *rig {
	t.Helper()
	return start(t, server.Config{Listener: listener})
}

func start(t *testing.T, config server.Config) *rig {
	t.Helper()
	r := &rig{t: t, history: record.NewHistory(nil)}
	config.IP, config.Container, config.Recorder = loopback, "default/web/app", r.history
	var err error
	if r.server, err = server.Start(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) addr() string { return r.server.Addr().String() }

// wait waits until at least n connections are recorded, and returns them in
// the order in which they were accepted.
func (r *rig) wait(n int) []record.Connection {
	r.t.Helper()
	ctx, cancel := context.WithTimeoutCause(r.t.Context(), patience, errors.New("too few connections were recorded"))
	defer cancel()
	var seen []record.Connection
	err := r.history.Wait(ctx, func(events []record.Event) bool {
		seen = nil
		for _, c := range record.All[record.Connection](events) {
			seen = append(seen, c)
		}
		return len(seen) >= n
	})
	if err != nil {
		r.t.Fatalf("%v: want %d, have %+v", err, n, seen)
	}
	slices.SortFunc(seen, func(a, b record.Connection) int { return a.ID - b.ID })
	return seen
}

// connections waits until exactly n connections are recorded.
func (r *rig) connections(n int) []record.Connection {
	r.t.Helper()
	seen := r.wait(n)
	if len(seen) != n {
		r.t.Fatalf("%d connections are recorded, want %d", len(seen), n)
	}
	return seen
}

// endedByClient makes one reason of the two that a client has: one that closes
// a connection with HTTP/2 before it has read the server's last frame resets
// it.
func endedByClient(c record.Connection) record.Connection {
	if c.HTTP2Preface && c.CloseReason == record.ClientReset {
		c.CloseReason = record.ClientClosed
	}
	return c
}

// connection waits for the only connection.
func (r *rig) connection() record.Connection {
	r.t.Helper()
	return r.connections(1)[0]
}

// first waits for the first connection of a client that may try again.
func (r *rig) first() record.Connection {
	r.t.Helper()
	return r.wait(1)[0]
}
