package containerd

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"time"
)

// follow calls a function with the id of each container whose program ends, until containerd ends. It
// begins a moment after it returns, when ctr has subscribed. An end before that is found by looking
// (run does), and one in that moment when the kubelet next asks for the container's status.
func (n *Node) follow(exited func(id string)) error {
	cmd := exec.Command(n.config.Found.Programs["ctr"], "--address", socket, "--namespace", "k8s.io", "events") //nolint:noctx // ends with the node
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := n.namespaces.Start(cmd); err != nil {
		return err
	}
	go func() {
		ReadExits(out, exited)
		_ = cmd.Wait() // it ends with containerd
	}()
	return nil
}

// ReadExits reads events as ctr prints them, until they end: the time, the namespace, the topic and the event as
// JSON (containerd, cmd/ctr/commands/events). It calls a function with the id of each container whose program has ended.
func ReadExits(events io.Reader, exited func(id string)) {
	for lines := bufio.NewScanner(events); lines.Scan(); {
		_, text, is := strings.Cut(lines.Text(), " /tasks/exit ")
		var event struct {
			ContainerID string `json:"container_id"`
			ID          string `json:"id"`
		}
		if is && json.Unmarshal([]byte(text), &event) == nil && event.ID == event.ContainerID { // others are of commands
			exited(event.ContainerID)
		}
	}
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
