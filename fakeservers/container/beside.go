package container

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/skewrig/skewrig/record"
)

// serve has the main process take what other processes of its container record, each until it ends.
func (o *output) serve(listener net.Listener, container string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go o.take(conn, container)
	}
}

func (o *output) take(conn net.Conn, container string) {
	defer conn.Close()
	if json.NewEncoder(conn).Encode(Greeting{Container: container}) != nil {
		return // it has ended already
	}
	sender := 0 // no message has arrived
	for from := bufio.NewReader(conn); ; {
		line, err := from.ReadString('\n')
		var m Message
		switch {
		case err != nil && sender > 0:
			o.tell(sender, Message{Ended: true})
			return
		case err != nil:
			return
		case json.Unmarshal([]byte(line), &m) == nil && m.Up: // it asks when the program has come up
			<-o.up
			_, _ = io.WriteString(conn, "\n")
			continue
		case sender == 0:
			sender = o.join()
		}
		o.write(sender, strings.TrimSuffix(line, "\n"))
		if !m.Draft {
			_, _ = io.WriteString(conn, "\n")
		}
	}
}

// retry is how long there is between two attempts to reach a main process that does not listen yet.
const retry = 5 * time.Millisecond

// dialMain returns the recorder of the main process of this container. A command may run before
// that listens.
func dialMain(socket string) (*recorder, error) {
	for deadline := time.Now().Add(patience); ; {
		to, _, err := dial(socket)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().After(deadline) {
			return to, err
		}
		<-time.After(retry)
	}
}

// maxOutput is how much of what a command wrote is recorded, in bytes.
const maxOutput = 1 << 10

// beginning keeps the first bytes of what goes to a writer.
type beginning struct {
	io.Writer
	kept []byte
}

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), maxOutput-len(b.kept))]...)
	return b.Writer.Write(p)
}

// command records that a command is run beside the main process, and how it ends: where there is no
// runtime that says it, the process does.
func (r *recorder) command(args []string, stdout, stderr *beginning, run func() int) int {
	event := record.Exec{Args: args, ExitCode: -1}
	began := time.Now()
	r.send(event, true)
	code := run()
	output := append(stdout.kept, stderr.kept...)
	event.ExitCode, event.Output = int32(code), string(output[:min(len(output), maxOutput)])
	event.DurationSeconds = time.Since(began).Seconds()
	r.send(event, false)
	return code
}
