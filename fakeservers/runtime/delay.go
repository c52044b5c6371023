package runtime

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// SetDelay has the runtime answer each call that much later, as one on a busy
// machine does. Zero makes it as quick as it is.
func (r *Runtime) SetDelay(by time.Duration) { r.delay.Store(int64(by)) }

// delay is how much later calls are answered, in nanoseconds.
type delay struct{ atomic.Int64 }

func (d *delay) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	by := time.Duration(d.Load())
	if by <= 0 {
		return handler(ctx, req)
	}
	select {
	case <-time.After(by):
		return handler(ctx, req)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
