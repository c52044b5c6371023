package collect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/record"
)

// sender is a process that records.
type sender struct {
	path string
	to   record.Recorder
	up   func() // is called when it says that it has come up
	open container.Drafts
}

// serve records what a process sends, until either side ends.
func (c *Collector) serve(conn *net.UnixConn) {
	since := time.Now()
	id, err := c.config.peer(conn)
	path := ""
	if err == nil {
		path, err = c.path(id)
	}
	if err != nil {
		if c.ctx.Err() == nil && !isGone(conn) {
			c.lose("", container.Losing(since, fmt.Errorf("a process that wants to record: %w", err)))
		}
		return
	}
	if json.NewEncoder(conn).Encode(container.Greeting{Container: path}) != nil {
		return // it has ended already
	}
	s := sender{path: path, to: c.config.Recorder, up: func() { c.cameUp(id) }, open: make(container.Drafts)}
	since, err = s.receive(conn)
	switch {
	case errors.Is(err, errHalf): // and it records nothing more
		s.killed()
		c.lose(path, container.Losing(since, err).Over())
	case err != nil:
		c.lose(path, container.Losing(since, err))
	}
}

// errHalf is why the last event of a process is lost.
var errHalf = errors.New("it ended while it recorded")

// receive records what arrives. At its end, which may be a kill, connections are closed that were open. The error says
// what can't be recorded that has come since a time.
func (s sender) receive(conn net.Conn) (since time.Time, _ error) {
	for from := bufio.NewReader(conn); ; {
		since = time.Now()
		line, err := from.ReadBytes('\n')
		switch {
		case err != nil && len(line) > 0:
			return since, fmt.Errorf("%w: %.200s", errHalf, line)
		case err != nil:
			if !errors.Is(err, os.ErrDeadlineExceeded) { // or the collector is closed
				s.killed()
			}
			return since, nil // as every process does
		}
		m, payload, err := parse(line)
		if err != nil {
			return since, err
		}
		if m.Up {
			s.up()
			continue
		}
		if s.open.Take(payload, m.Draft) {
			continue
		}
		s.record(payload)
		_, _ = conn.Write([]byte("\n")) // fails if it was killed: what it has sent is still to be read
	}
}

// killed records the connections that were open when the process ended: its end closed them.
func (s sender) killed() {
	for _, payload := range s.open.End(time.Now(), "") {
		s.record(payload)
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
	payload, err := m.Payload()
	if err != nil {
		return m, nil, fmt.Errorf("%.200q: %w", line, err)
	}
	if _, is := payload.(record.Exec); !is {
		return m, payload, nil
	}
	return m, nil, fmt.Errorf("%.200q is no event of a server", line)
}
