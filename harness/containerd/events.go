package containerd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/process"
)

// follow calls a function with the id of each container whose program ends, as ctr says. It
// begins a moment after it returns, when ctr has subscribed. An end before that is found by looking (run does), and
// one in that moment when the kubelet next asks for the container's status. That ctr ends before ctx is done is a loss.
func (n *Node) follow(ctx context.Context, in *process.Namespaces, exited func(id string)) error {
	events := n.client("events")
	events.In = in
	ended, err := events.Follow(ctx, func(events io.Reader) error {
		return ReadExits(events, func(e Exit) { exited(e.Container) })
	})
	if err != nil {
		return err
	}
	n.following.Go(func() {
		if err := ended(); err != nil {
			n.lose(fmt.Errorf("the events of node %s have ended: %w", n.config.Name, err))
		}
	})
	return nil
}

// lose keeps why ends of containers are not heard of any more.
func (n *Node) lose(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost = errors.Join(n.lost, err)
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
// JSON (containerd, cmd/ctr/commands/events). It calls a function for each container whose program has ended.
func ReadExits(events io.Reader, exited func(Exit)) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		_, text, is := strings.Cut(lines.Text(), " /tasks/exit ")
		var event struct {
			ContainerID string `json:"container_id"`
			ID          string `json:"id"`
			ExitStatus  int32  `json:"exit_status"`
			ExitedAt    moment `json:"exited_at"`
		}
		if is && json.Unmarshal([]byte(text), &event) == nil && event.ID == event.ContainerID { // others are of commands
			exited(Exit{Container: event.ContainerID, Code: event.ExitStatus, At: event.ExitedAt.Time})
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

// exitPoll is how often to look whether the container runtime knows of an exit, which it hears of
// as others do.
const exitPoll = 20 * time.Millisecond

// exited records the end of a container once the container runtime knows of it.
func (l *ledger) exited(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	for l.runs(id) {
		l.look(ctx, id)
		select {
		case <-time.After(exitPoll):
		case <-ctx.Done():
			return
		}
	}
}

// runs reports whether a container that the kubelet started has not ended, as far as is known.
func (l *ledger) runs(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.containers[id]
	return c != nil && c.started && !c.exited()
}
