package container

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
	"time"

	"github.com/skewrig/skewrig/record"
)

// Greeting is the first line that a node sends on a connection, as JSON.
type Greeting struct {
	// Container is the path of the container that has connected, "namespace/pod/container".
	Container string `json:"container"`
}

// Message is a line that a process sends, as JSON. The node answers with an empty line once
// the event is in its record, so that what comes after it is recorded after it. A message with no
// field set says that the sender is there.
type Message struct {
	// Draft says that the event is a connection which is open, or a command that runs. It is not
	// answered, and recorded only if the process is killed.
	Draft bool `json:"draft,omitempty"`
	// Up says that the main process has come up, or has run for image.ComingUp. It is no
	// event, and not answered. Sent to a main process, it asks for that: the answer comes then.
	Up bool `json:"up,omitempty"`
	// Run, in the first message of a main process that writes into the output of its container, tells its
	// run from others of the same container. It is no event, as are the two that follow.
	Run string `json:"run,omitempty"`
	// Signal is one that the main process was sent.
	Signal string `json:"signal,omitempty"`
	// Ended says that the sender has ended. A main process that is killed does not say it.
	Ended bool `json:"ended,omitempty"`

	Kind string          `json:"kind,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

// patience is how long a process waits for its node to greet it.
const patience = 10 * time.Second

// recorder sends events to the node. It is safe for concurrent use.
type recorder struct {
	mu   sync.Mutex
	conn net.Conn // nil once the node is gone: nothing is recorded then
	from *bufio.Reader
}

var _ record.Drafter = (*recorder)(nil)

// dial returns the recorder at a socket, and the path of this container.
func dial(socket string) (*recorder, string, error) {
	conn, err := net.DialTimeout("unix", socket, patience) //nolint:noctx // bounded, and before anything else begins
	if err != nil {
		return nil, "", err
	}
	return greeted(conn)
}

// greeted waits for the greeting on a connection. From then on there is no limit: a node that is slow, or stopped,
// loses nothing, and one that ends closes the connection.
func greeted(conn net.Conn) (*recorder, string, error) {
	r := &recorder{conn: conn, from: bufio.NewReader(conn)}
	var greeting Greeting
	_ = conn.SetDeadline(time.Now().Add(patience))
	line, err := r.from.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &greeting)
	}
	if err != nil {
		_ = conn.Close()
		return nil, "", err
	}
	_ = conn.SetDeadline(time.Time{})
	return r, greeting.Container, nil
}

// Append implements record.Recorder. Source and subject are for the node to say.
func (r *recorder) Append(_, _ string, payload record.Payload) { r.send(payload, false) }

// Draft implements record.Drafter.
func (r *recorder) Draft(open record.Connection) { r.send(open, true) }

// up says that the program has come up.
func (r *recorder) up() { r.tell(Message{Up: true}, false) }

func (r *recorder) send(payload record.Payload, draft bool) { r.tell(message(payload, draft), !draft) }

// message is the one that has an event.
func message(payload record.Payload, draft bool) Message {
	data, err := json.Marshal(payload)
	if err != nil {
		data = nil // the reader says that something is missing
	}
	return Message{Draft: draft, Kind: payload.EventKind(), Data: data}
}

// tell sends a message, and waits for the answer if there is one.
func (r *recorder) tell(m Message, answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		return
	}
	err := json.NewEncoder(r.conn).Encode(m)
	if err == nil && answered {
		_, err = r.from.ReadBytes('\n')
	}
	if err != nil {
		_ = r.conn.Close()
		r.conn = nil
	}
}
