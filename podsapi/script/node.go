package script

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/podsapi/server"
)

// Node is what serves the Pods API. It isn't safe for concurrent use.
type Node struct {
	socket string
	server *server.Server // nil while it is stopped
	runs   []Run
	names  map[types.UID]string // of all pods that there ever were
}

// Serve serves at a socket: no pods yet, and not ready. The error says what is wrong
// with the socket.
func Serve(socket string) (*Node, error) {
	n := &Node{socket: socket, names: make(map[types.UID]string)}
	return n, n.start()
}

func (n *Node) start() (err error) {
	n.server, err = server.Listen(server.Config{Socket: n.socket})
	return err
}

// Close ends the server.
func (n *Node) Close() error {
	if n.server == nil {
		return nil
	}
	return n.server.Close()
}

// Do makes a move.
func (n *Node) Do(action Action) error {
	switch a := action.(type) {
	case Set:
		n.know(a.Pods)
		return n.server.Set(a.Pods...)
	case Remove:
		n.server.Remove(a.UIDs...)
	case SetReady:
		n.server.SetReady(a.Ready)
	case Disturb:
		n.server.Disturb(server.Disturbance{Delay: a.Delay, BreakAfter: a.BreakAfter})
	case Stop:
		n.runs = append(n.runs, n.run())
		err := n.server.Close()
		n.server = nil
		return err
	case Start:
		if err := n.start(); err != nil {
			return err
		}
		return n.server.Set(a.Pods...)
	}
	return nil
}

// Clock waits until so much time has passed since the beginning. Its error ends the
// play.
type Clock func(ctx context.Context, at time.Duration) error

// RealTime is the clock on the wall. It begins now.
func RealTime() Clock {
	began := time.Now()
	return func(ctx context.Context, at time.Duration) error {
		timer := time.NewTimer(time.Until(began.Add(at)))
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Play makes each move at its time, and calls before with it first. The error is
// that of a move, or that of the context.
func (n *Node) Play(ctx context.Context, moves []Move, clock Clock, before func(Move)) error {
	for _, m := range moves {
		if err := clock(ctx, m.At); err != nil {
			return err
		}
		before(m)
		if err := n.Do(m.Action); err != nil {
			return err
		}
	}
	return nil
}

// AwaitAnswers waits until all lists and gets that have begun are in the Runs, but not for
// longer than two seconds.
func (n *Node) AwaitAnswers(ctx context.Context) {
	await.Until(ctx, settling, func() bool { return n.server == nil || !n.server.Answering() })
}

// settling bounds how long it may take on a busy machine until a client that reads is
// sent the last state.
const settling = 2 * time.Second

// Settle waits until no client is behind any more, but not for longer than two
// seconds: one that doesn't read never is. The error is that of the context.
func (n *Node) Settle(ctx context.Context) error {
	await.Until(ctx, settling, func() bool { return !n.behind() })
	return ctx.Err()
}

// behind reports whether a watching client has events that were not sent yet.
func (n *Node) behind() bool {
	if n.server == nil {
		return false
	}
	for _, c := range n.server.Clients() {
		if c.Watching > 0 && len(c.Behind) > 0 {
			return true
		}
	}
	return false
}
