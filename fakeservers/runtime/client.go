package runtime

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"
	"syscall"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// client is who sits at kubectl exec or attach.
type client struct {
	in          io.Reader // nil: nothing is typed
	out, errOut io.Writer
	tty         bool
}

// newClient returns a client. What it doesn't want to read is discarded.
func newClient(in io.Reader, out, errOut io.WriteCloser, tty bool) *client {
	c := &client{in: in, out: io.Discard, errOut: io.Discard, tty: tty}
	if out != nil {
		c.out = out
	}
	if errOut != nil {
		c.errOut = errOut
	}
	return c
}

// connect hands on to stdin what the client types, and calls end when it has typed
// the last. If the client has a terminal, that is where output goes from now on, and
// its Ctrl-C is sent as a signal.
func (c *client) connect(ctx context.Context, stdin *image.Pipe, resize <-chan remotecommand.TerminalSize, send func(syscall.Signal), end func()) {
	read := func() { _, _ = io.Copy(stdin, c.in) }
	if c.tty {
		t := newTerminal(c.in, c.out, send)
		c.out, c.errOut = t, t
		read = func() { t.readLines(stdin) }
		go t.follow(ctx, resize)
	}
	if c.in != nil {
		go func() {
			read()
			end()
		}()
	}
}

// signals are those that a process has not read yet.
type signals chan syscall.Signal

// send drops a signal if there are too many, as a kernel does that keeps one of each.
func (s signals) send(signal syscall.Signal) {
	select {
	case s <- signal:
	default:
	}
}

// kill is how processes of the container signal the main one: the only one that has a number
// here, and that can't be killed or halted by them (pid_namespaces(7)).
func (s signals) kill(pid int, signal syscall.Signal) error {
	switch {
	case pid != 1:
		return syscall.ESRCH
	case signal != 0 && signal != syscall.SIGKILL && signal != syscall.SIGSTOP:
		s.send(signal)
	}
	return nil
}

// output is what a program writes: to its log, and to the clients that are attached.
type output struct {
	log io.Writer

	mu      sync.Mutex
	clients map[*attached]bool
}

// attached is a client that gets what a program writes. gone is called when it can't.
type attached struct {
	io.Writer
	gone func()
}

// attach has a client get what is written from now on. The function it returns ends that.
func (o *output) attach(client attached) (detach func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.clients == nil {
		o.clients = map[*attached]bool{}
	}
	o.clients[&client] = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.clients, &client)
	}
}

// Write writes to the log and to all clients. A client that does not read blocks the
// program, and nothing else: no lock is held meanwhile.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.log.Write(b)
	o.mu.Lock()
	clients := slices.Collect(maps.Keys(o.clients))
	o.mu.Unlock()
	for _, client := range clients {
		if _, err := client.Write(b); err != nil {
			client.gone()
		}
	}
	return n, err
}
