package conformance

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/podsapi/client"
)

// errSeen ends a watch of which enough was seen.
var errSeen = errors.New("all initial pods were seen")

// watch watches until the initial pods are complete and met returns.
func (o *observer) watch(ctx context.Context, c *client.Client, fields string, met func(context.Context)) (w Watch) {
	o.paced(ctx, func(ctx context.Context) string {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		w = Watch{}
		err := c.RawWatch(ctx, fields, func(kind string, wire []byte) error {
			e := Event{Type: kind}
			if len(wire) > 0 {
				pod := decode(wire)
				e.Pod = &pod
			}
			w.Events = append(w.Events, e)
			if kind != synced {
				return nil
			}
			met(ctx)
			return errSeen
		})
		if errors.Is(err, errSeen) {
			err = nil
		}
		w.Code, w.Message = status.Code(err).String(), status.Convert(err).Message()
		return w.Code
	})
	return w
}

// watchTogether has two watches, of which none ends before both have all pods, or
// one of them has failed.
func (o *observer) watchTogether(ctx context.Context) (all [2]Watch) {
	var arrived [2]chan struct{}
	var arrive [2]func()
	for i := range arrived {
		arrived[i] = make(chan struct{})
		arrive[i] = sync.OnceFunc(func() { close(arrived[i]) })
	}
	var watching sync.WaitGroup
	for i := range all {
		watching.Go(func() {
			defer arrive[i]()
			all[i] = o.watch(ctx, o.clients[i], "", func(ctx context.Context) {
				arrive[i]()
				select {
				case <-arrived[1-i]:
				case <-ctx.Done():
				}
			})
		})
	}
	watching.Wait()
	return all
}
