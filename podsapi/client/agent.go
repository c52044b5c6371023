package client

import (
	"context"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"

	"github.com/skewrig/skewrig/record"
)

// Agent asks the Pods API of one node, and records the answers.
type Agent struct {
	// Node is the name of the node.
	Node string
	// Root is the directory of its kubelet.
	Root     string
	Recorder record.Recorder

	mu   sync.Mutex
	ends map[string]func() // of what goes on, by name
	held map[string]func() // of watches that don't read yet, by name
}

// Ask lists or gets pods so many times, and records each answer. With every, it asks one
// after the other and waits for that long before each. Without, it asks at once: a limit
// of requests a second is then reached on a busy machine too.
func (a *Agent) Ask(ctx context.Context, name string, r Request, times int, every time.Duration) error {
	path, socket := Find(a.Root)
	c, err := Dial(path)
	if err != nil {
		return err
	}
	defer c.Close()
	answers := make([]record.PodsAnswer, times)
	ask := func(i int) { answers[i] = c.Ask(ctx, r) }
	if every == 0 {
		AtOnce(times, ask)
	} else {
		for i := range times {
			wait(ctx, time.After(every))
			ask(i)
		}
	}
	for _, answer := range answers {
		answer.Node, answer.Socket = a.Node, socket
		a.record(name, answer)
	}
	return ctx.Err()
}

// AtOnce makes so many requests, twenty at the same time: a slow answer then doesn't keep
// their rate below a server's limit.
func AtOnce(times int, ask func(i int)) {
	var asking errgroup.Group
	asking.SetLimit(20)
	for i := range times {
		asking.Go(func() error { ask(i); return nil })
	}
	_ = asking.Wait()
}

// Watch begins a watch, which goes on until it ends or is ended. After the initial
// pods, nothing is read for as long as pause says.
func (a *Agent) Watch(ctx context.Context, name, fields string, pause time.Duration) error {
	return a.begin(ctx, name, func(ctx context.Context, c *Client) record.PodsEnded {
		return c.Watch(ctx, fields, func(e record.PodsEvent) {
			a.record(name, e)
			if e.Type == record.PodsSynced {
				wait(ctx, time.After(pause))
			}
		})
	})
}

// Hold begins a watch of which nothing is read but the first event until Release. It
// returns when that event is there, or the watch has ended.
func (a *Agent) Hold(ctx context.Context, name, fields string) error {
	begun, read := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(begun) })
	a.mu.Lock()
	if a.held == nil {
		a.held = make(map[string]func())
	}
	a.held[name] = sync.OnceFunc(func() { close(read) })
	a.mu.Unlock()
	err := a.begin(ctx, name, func(ctx context.Context, c *Client) record.PodsEnded {
		defer first()
		return c.Watch(ctx, fields, func(e record.PodsEvent) {
			first()
			wait(ctx, read)
			a.record(name, e)
		})
	})
	if err == nil {
		wait(ctx, begun)
	}
	return err
}

// Release has a watch that is held read on. It reports whether there is one of that
// name.
func (a *Agent) Release(name string) bool {
	a.mu.Lock()
	read, is := a.held[name]
	a.mu.Unlock()
	if is {
		read()
	}
	return is
}

// Poll lists pods again and again, so often, until it is ended. It records what
// is another answer than the one before.
func (a *Agent) Poll(ctx context.Context, name string, r Request, every time.Duration) error {
	return a.begin(ctx, name, func(ctx context.Context, c *Client) record.PodsEnded {
		calls, last := make(map[string]int), record.PodsAnswer{}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for ctx.Err() == nil {
			answer := c.Ask(ctx, r)
			switch answer.Code {
			case codes.Canceled.String(): // It was ended in the middle.
			case codes.ResourceExhausted.String():
				calls[answer.Code]++
			default:
				calls[answer.Code]++
				if answer.Node = a.Node; !reflect.DeepEqual(answer, last) {
					a.record(name, record.PodsPolled{PodsAnswer: answer})
				}
				last = answer
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
			}
		}
		return record.PodsEnded{Code: codes.Canceled.String(), Calls: calls}
	})
}

func (a *Agent) record(name string, payload record.Payload) {
	a.Recorder.Append("agent/"+a.Node, name, payload)
}

// begin has something go on under a name until it ends or is ended.
func (a *Agent) begin(ctx context.Context, name string, do func(context.Context, *Client) record.PodsEnded) error {
	c, err := DialIn(a.Root)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	a.mu.Lock()
	if a.ends == nil {
		a.ends = make(map[string]func())
	}
	a.ends[name] = func() { cancel(); <-over }
	a.mu.Unlock()
	go func() {
		defer close(over)
		defer cancel()
		defer c.Close()
		a.record(name, do(ctx, c))
	}()
	return nil
}

// End ends a watch or a poll, and returns when its end is recorded. It reports
// whether there is one of that name.
func (a *Agent) End(name string) bool {
	a.mu.Lock()
	end, is := a.ends[name]
	delete(a.ends, name)
	a.mu.Unlock()
	if is {
		end()
	}
	return is
}

// Close ends everything that goes on.
func (a *Agent) Close() {
	a.mu.Lock()
	ends := a.ends
	a.ends = nil
	a.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// wait waits until something can be received, at the longest until the end.
func wait[T any](ctx context.Context, what <-chan T) {
	select {
	case <-what:
	case <-ctx.Done():
	}
}
