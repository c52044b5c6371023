package client

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/skewrig/skewrig/record"
)

// Agent asks the Pods API of one node, as often as it is told to, and records the
// answers.
type Agent struct {
	// Node is the name of the node.
	Node string
	// Root is the directory of its kubelet.
	Root     string
	Recorder record.Recorder

	mu   sync.Mutex
	ends map[string]func() // of what goes on, by name
}

// Ask lists or gets pods so many times, and records each answer.
func (a *Agent) Ask(ctx context.Context, name string, r Request, times int) error {
	path, socket := Find(a.Root)
	c, err := Dial(path)
	if err != nil {
		return err
	}
	defer c.Close()
	answers := make([]record.PodsAnswer, times)
	for i := range answers {
		answers[i] = c.Ask(ctx, r)
	}
	for _, answer := range answers {
		answer.Node, answer.Socket = a.Node, socket
		a.Recorder.Append("agent/"+a.Node, name, answer)
	}
	return ctx.Err()
}

// Watch begins a watch, which goes on until it ends or is ended. After the initial
// pods, nothing is read for as long as pause says.
func (a *Agent) Watch(ctx context.Context, name, fields string, pause time.Duration) error {
	path, _ := Find(a.Root)
	c, err := Dial(path)
	if err != nil {
		return err
	}
	a.begin(ctx, name, func(ctx context.Context) record.PodsEnded {
		defer c.Close()
		return c.Watch(ctx, fields, func(e record.PodsEvent) {
			a.Recorder.Append("agent/"+a.Node, name, e)
			if e.Type == record.PodsSynced {
				sleep(ctx, pause)
			}
		})
	})
	return nil
}

// Poll lists pods again and again, so often, until it is ended. It records what
// is another answer than the one before.
func (a *Agent) Poll(ctx context.Context, name string, r Request, every time.Duration) error {
	path, _ := Find(a.Root)
	c, err := Dial(path)
	if err != nil {
		return err
	}
	a.begin(ctx, name, func(ctx context.Context) record.PodsEnded {
		defer c.Close()
		p := poll{agent: a, name: name, calls: make(map[string]int)}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			p.answered(c.Ask(ctx, r))
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return record.PodsEnded{Code: codes.Canceled.String(), Calls: p.calls}
			}
		}
	})
	return nil
}

// poll is what a poll was answered.
type poll struct {
	agent *Agent
	name  string
	calls map[string]int
	last  string
}

func (p *poll) answered(answer record.PodsAnswer) {
	if answer.Code == codes.Canceled.String() {
		return // it was ended in the middle
	}
	p.calls[answer.Code]++
	if answer.Code == codes.ResourceExhausted.String() {
		return
	}
	answer.Node = p.agent.Node
	text, _ := json.Marshal(answer)
	if string(text) == p.last {
		return
	}
	p.last = string(text)
	p.agent.Recorder.Append("agent/"+p.agent.Node, p.name, record.PodsPolled{PodsAnswer: answer})
}

// begin has something go on under a name until it ends or is ended.
func (a *Agent) begin(ctx context.Context, name string, do func(context.Context) record.PodsEnded) {
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
		a.Recorder.Append("agent/"+a.Node, name, do(ctx))
	}()
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

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
