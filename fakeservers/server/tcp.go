package server

import (
	"context"
	"io"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

// tcpPlayer sends what the phase has, and reads until the client is done.
type tcpPlayer struct{ *Server }

func (p tcpPlayer) play(c *conn) {
	// Whoever closes it, the connection's record says so.
	defer func() { _ = c.Close() }()
	phase := p.phase()
	stream := behavior.Stream{}
	if phase.TCP != nil {
		stream = *phase.TCP
	}
	if !p.wait(context.Background(), time.Duration(phase.Delay)) {
		return
	}
	if _, err := io.WriteString(c, stream.Send); err != nil || stream.Close {
		return
	}
	_, _ = io.Copy(io.Discard, c) // The record has why it ended.
}

func (tcpPlayer) close() {}
