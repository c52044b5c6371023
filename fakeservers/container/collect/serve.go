package collect

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/record"
)

// sender is a process that records.
type sender struct {
	path string
	to   record.Recorder
	up   func() // is called when it says that it has come up
	// open are its open connections, as it last said.
	open map[openID]record.Connection
}

// openID identifies a connection of a process.
type openID struct {
	port int32
	id   int
}

// serve records what a process sends, until either side ends.
func (c *Collector) serve(conn *net.UnixConn) {
	id, err := c.config.peer(conn)
	path := ""
	if err == nil {
		path, err = c.path(id)
	}
	if err != nil {
		if c.ctx.Err() == nil && !isGone(conn) {
			c.fail(fmt.Errorf("a process that wants to record: %w", err))
		}
		return
	}
	if json.NewEncoder(conn).Encode(container.Greeting{Container: path}) != nil {
		return // it has ended already
	}
	s := sender{path: path, to: c.config.Recorder, up: func() { c.cameUp(id) }, open: make(map[openID]record.Connection)}
	if err := s.receive(conn); err != nil {
		c.fail(fmt.Errorf("container %s: %w", path, err))
	}
}

// receive records what arrives. At its end, which may be a kill, connections are closed that
// were open.
func (s sender) receive(conn net.Conn) error {
	for from := bufio.NewReader(conn); ; {
		line, err := from.ReadBytes('\n')
		switch {
		case err != nil && len(line) > 0:
			return fmt.Errorf("it ended while it recorded: %.200s", line)
		case err != nil:
			if !errors.Is(err, os.ErrDeadlineExceeded) { // or the collector is closed
				s.killed()
			}
			return nil // as every process does
		}
		m, payload, err := parse(line)
		if err != nil {
			return err
		}
		if m.Up {
			s.up()
			continue
		}
		connection, is := payload.(record.Connection)
		id := openID{connection.Port, connection.ID}
		if m.Draft {
			s.open[id] = connection
			continue
		}
		if is {
			delete(s.open, id)
		}
		s.record(payload)
		_, _ = conn.Write([]byte("\n")) // fails if it was killed: what it has sent is still to be read
	}
}

// killed records the connections that were open when the process ended: its end closed them.
func (s sender) killed() {
	for _, c := range slices.SortedFunc(maps.Values(s.open), func(a, b record.Connection) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	}) {
		if c.Closed.IsZero() {
			c.Closed = time.Now()
		}
		c.CloseReason = cmp.Or(c.CloseReason, record.Shutdown)
		s.record(c)
	}
}

func (s sender) record(payload record.Payload) { s.to.Append("server/"+s.path, s.path, payload) }

// parse reads a line. A container records what players see, and nothing else.
func parse(line []byte) (m container.Message, _ record.Payload, _ error) {
	if err := json.Unmarshal(line, &m); err != nil {
		return m, nil, fmt.Errorf("%.200q: %w", line, err)
	}
	if m.Up {
		return m, nil, nil
	}
	if !bytes.HasPrefix(m.Data, []byte("{")) {
		return m, nil, fmt.Errorf("%.200q has no payload", line)
	}
	payload := record.Decode(record.Event{Kind: m.Kind, Data: m.Data})
	switch payload.(type) {
	case record.Connection:
		return m, payload, nil
	case record.Listening, record.ListenFailed, record.ProcessRan:
		if !m.Draft {
			return m, payload, nil
		}
	}
	return m, nil, fmt.Errorf("%.200q is no event of a server", line)
}
