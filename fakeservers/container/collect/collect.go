// Package collect takes what the containers of a node record, at a unix socket that is
// mounted into each of them. A container doesn't say which one it is: the kernel does.
package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/harness/unixsocket"
	"github.com/skewrig/skewrig/record"
)

// Config says where to collect, and what for.
type Config struct {
	// Dir is the directory to mount at container.RecordDir, where the socket is. Anybody who
	// gets there may connect, as a container of any user must: the directory that it is in is
	// to be for its owner alone. It is made if it is not there.
	Dir string
	// Recorder takes the events, each as it arrives: a few milliseconds after it happened.
	Recorder record.Recorder
	// Path returns the path of the container with an id, "namespace/pod/container". It is
	// asked once for each.
	Path func(ctx context.Context, id string) (string, error)

	peer func(*net.UnixConn) (id string, _ error) // of tests; if unset, by cgroup
}

// Collector takes what containers record. Its methods are safe for concurrent use.
type Collector struct {
	config   Config
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}    // nil once it is closed
	paths map[string]string        // by id
	up    map[string]chan struct{} // by id; closed when its program has come up
	lost  []Loss
}

// Loss is what was not recorded although it was sent: a history without it must not be judged.
type Loss struct {
	// Container is the path of the container that sent it. If unset, it is not known which one did.
	Container string
	Err       error
}

// Error implements error.
func (l Loss) Error() string {
	if l.Container == "" {
		return l.Err.Error()
	}
	return fmt.Sprintf("container %s: %v", l.Container, l.Err)
}

// Unwrap is the cause.
func (l Loss) Unwrap() error { return l.Err }

// Listen begins to collect, until Close is called.
func Listen(config Config) (*Collector, error) {
	if err := os.MkdirAll(config.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.Chmod(config.Dir, 0o755); err != nil { // whatever the umask is
		return nil, err
	}
	socket := filepath.Join(config.Dir, container.SocketName)
	listener, err := unixsocket.Listen(socket)
	if err != nil {
		return nil, fmt.Errorf("listening for what containers record: %w", err)
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if config.peer == nil {
		config.peer = containerOf
	}
	c := &Collector{
		config: config, listener: listener, conns: make(map[net.Conn]struct{}), paths: make(map[string]string), up: make(map[string]chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.running.Go(c.accept)
	return c, nil
}

// closing is how long Close waits for processes that have not ended.
const closing = time.Second

// Close ends collecting, once all is recorded that was sent before, and returns what was lost.
// Containers are to be ended before.
func (c *Collector) Close() (lost []Loss, err error) {
	err = c.listener.Close()
	c.cancel()
	for conn := range c.close() {
		_ = conn.SetReadDeadline(time.Now().Add(closing))
	}
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost, err
}

func (c *Collector) close() map[net.Conn]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.conns
	c.conns = nil
	return open
}

// lose notes a loss of a container, if it is known of which.
func (c *Collector) lose(container string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = append(c.lost, Loss{container, err})
}

func (c *Collector) accept() {
	for {
		conn, err := c.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			c.lose("", fmt.Errorf("collecting what containers record: %w", err))
			return
		}
		if !c.add(conn) {
			_ = conn.Close()
			return
		}
		c.running.Go(func() {
			defer c.remove(conn)
			c.serve(conn.(*net.UnixConn))
		})
	}
}

func (c *Collector) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		return false
	}
	c.conns[conn] = struct{}{}
	return true
}

func (c *Collector) remove(conn net.Conn) {
	_ = conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
}
