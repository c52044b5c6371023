package engine

import (
	"context"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// socketsEvery is how often sockets are read that are watched for a while: many live
// for milliseconds only.
const socketsEvery = 2 * time.Millisecond

// ReadSockets implements action.Rig.
func (r *run) ReadSockets(ctx context.Context, component string, port int, span time.Duration) error {
	session, err := provider.As[provider.Sockets](r.session)
	if err != nil {
		return err
	}
	read := record.SocketsRead{Component: component, Sockets: []record.Socket{}}
	seen := make(map[record.Socket]bool)
	ticker := time.NewTicker(socketsEvery)
	defer ticker.Stop()
	for end := time.Now().Add(span); ; {
		now, err := session.Sockets(component, port)
		if err != nil {
			return err
		}
		for _, s := range now {
			if !seen[s] {
				seen[s], read.Sockets = true, append(read.Sockets, s)
			}
		}
		if !time.Now().Before(end) {
			r.history.Append("engine", r.current.Name, read)
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
