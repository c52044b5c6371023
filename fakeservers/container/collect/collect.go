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
	"strings"
	"sync"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/harness/unixsocket"
	"github.com/skewrig/skewrig/record"
)

// Config says where to collect, and what for.
type Config struct {
	// Dir is the directory to mount at container.RecordDir, where the socket is. Any process
	// that can reach the socket may connect, as a container of any user must: only its owner
	// may have access to the parent directory. Dir is created if it does not exist.
	Dir string
	// Recorder takes the events, each as it arrives: a few milliseconds after it happened. What was sent and can't be
	// recorded is a loss there (record.ObservationLost), of all containers if it is not known which one has sent it.
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
}

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

// Close ends collecting, once all is recorded that was sent before. Containers are to be ended before.
func (c *Collector) Close() error {
	err := c.listener.Close()
	c.cancel()
	for conn := range c.close() {
		_ = conn.SetReadDeadline(time.Now().Add(closing))
	}
	c.running.Wait()
	return err
}

func (c *Collector) close() map[net.Conn]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.conns
	c.conns = nil
	return open
}

// lose records a loss of what a container records. If its path is empty, it is not known which container it is.
func (c *Collector) lose(path string, lost record.ObservationLost) {
	c.config.Recorder.Append(strings.TrimSuffix("server/"+path, "/"), path, lost)
}

// acceptAgain is how long the collector waits after it could not accept a connection.
const acceptAgain = 50 * time.Millisecond

// accept accepts connections until the collector is closed. While it can't, processes wait, and what they want to record
// comes late or not at all.
func (c *Collector) accept() {
	var failing *record.ObservationLost
	for {
		since := time.Now()
		conn, err := c.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			if failing == nil {
				lost := container.Losing(since, fmt.Errorf("collecting what containers record: %w", err))
				failing = &lost
				c.lose("", lost)
			}
			select {
			case <-time.After(acceptAgain): // this process has too many files open, perhaps
			case <-c.ctx.Done():
			}
			continue
		case failing != nil:
			c.lose("", failing.Over())
			failing = nil
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
