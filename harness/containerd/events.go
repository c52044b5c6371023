package containerd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/record"
)

// follow records the end of each container, as ctr says. It begins a moment after it returns, when ctr has subscribed. An
// end before that is found by looking (run does), and one in that moment when the kubelet next asks for the container's
// status. That ctr ends before ctx is done is a loss.
func (n *Node) follow(ctx context.Context, in *process.Namespaces) error {
	events := n.client("events")
	events.In = in
	ended, err := events.Follow(ctx, n.relay.readExits)
	if err != nil {
		return err
	}
	n.following.Go(func() {
		if err := ended(); err != nil {
			n.lose(record.Losing(time.Now(), fmt.Errorf("the events of node %s have ended: %w", n.config.Name, err), record.ContainerExited{}))
		}
	})
	return nil
}

// lose records that the ends of the node's containers are not heard of, until heard.
func (n *Node) lose(lost record.ObservationLost) {
	n.mu.Lock()
	n.lost = append(n.lost, lost)
	n.mu.Unlock()
	n.relay.record("", lost)
}

// heard records that they are.
func (n *Node) heard() {
	n.mu.Lock()
	lost := n.lost
	n.lost = nil
	n.mu.Unlock()
	for _, l := range lost {
		n.relay.record("", l.Over())
	}
}

// maxEvent is how long a line may be that ctr prints, in bytes. Events have the labels of what they are about.
const maxEvent = 1 << 20

// Exit is the end of a container's program.
type Exit struct {
	// Container is the id of the container.
	Container string
	// Code is the exit status; 128 and the number of a signal, if one ended the program.
	Code int32
	// At is when. If unset, the event does not say it.
	At time.Time
}

// ReadExits reads events as ctr prints them, until they end: the time, the namespace, the topic and the event as
// JSON (containerd, cmd/ctr/commands/events). It calls a function for each container whose program has ended. An end that
// can't be read is an error.
func ReadExits(events io.Reader, exited func(Exit)) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		_, text, is := strings.Cut(lines.Text(), " /tasks/exit ")
		var event struct {
			ContainerID string `json:"container_id"`
			ID          string `json:"id"`
			ExitStatus  uint32 `json:"exit_status"`
			ExitedAt    moment `json:"exited_at"`
		}
		if !is {
			continue
		}
		if err := json.Unmarshal([]byte(text), &event); err != nil {
			return fmt.Errorf("%.200q: %w", text, err)
		}
		if event.ID == event.ContainerID { // others are of commands
			exited(Exit{Container: event.ContainerID, Code: int32(event.ExitStatus), At: event.ExitedAt.Time})
		}
	}
	return lines.Err()
}

// moment is a time as ctr prints it: as a text up to containerd 1.6, as seconds and nanoseconds since 1970 from 1.7 on.
type moment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler. What can't be read is unset.
func (m *moment) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &m.Time) == nil {
		return nil
	}
	var since struct {
		Seconds int64 `json:"seconds"`
		Nanos   int64 `json:"nanos"`
	}
	if json.Unmarshal(data, &since) == nil && since.Seconds > 0 {
		m.Time = time.Unix(since.Seconds, since.Nanos)
	}
	return nil
}

// readExits reads events as ctr prints them, until they end, and looks how each container has ended.
func (l *ledger) readExits(events io.Reader) error {
	return ReadExits(events, func(e Exit) { l.looking.Go(func() { l.exited(e.Container) }) })
}

// exitPoll is how often to look whether the container runtime knows of an exit, which it hears of
// as others do.
const exitPoll = 20 * time.Millisecond

// exited records the end of a container once the container runtime knows of it. That it does not within a time is a loss,
// until the kubelet asks for the container's status, and gets it.
func (l *ledger) exited(id string) {
	since := time.Now()
	for err := error(nil); l.runs(id); {
		switch err = l.look(l.open, id); {
		case l.open.Err() != nil:
			return
		case time.Since(since) > lookLimit:
			l.loseEnd(id, since, err)
			return
		}
		select {
		case <-time.After(exitPoll):
		case <-l.open.Done():
		}
	}
}

// errStillRuns is of a container that has ended.
var errStillRuns = errors.New("it says that it runs")

// loseEnd records that it is not known how a container has ended, or whether it has, unless that is known by now.
func (l *ledger) loseEnd(id string, since time.Time, err error) {
	l.mu.Lock()
	c := l.containers[id]
	if c == nil || !c.started || c.exited() || c.lost != nil {
		l.mu.Unlock()
		return
	}
	lost := record.Losing(since, fmt.Errorf("asking the container runtime how container %s has ended: %w", c.path, cmp.Or(err, errStillRuns)), record.ContainerExited{})
	c.lost = &lost
	l.mu.Unlock()
	l.record(c.path, lost)
}

// runs reports whether a container that the kubelet started has not ended, as far as is known.
func (l *ledger) runs(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.containers[id]
	return c != nil && c.started && !c.exited()
}
