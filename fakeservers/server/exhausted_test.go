package server

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// exhausted is a listener of a process that has too many files open for a while.
type exhausted struct {
	net.Listener

	fails int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.fails--; e.fails >= 0 {
		return nil, syscall.EMFILE
	}
	return nil, net.ErrClosed
}

// TestTooManyFilesAreOpen: that no connection can be accepted is in the record, once, and not taken for a slow container.
func TestTooManyFilesAreOpen(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	s := &Server{config: Config{Container: "default/web/app", Recorder: history, Listener: behavior.Listener{Port: 80}}, listener: &exhausted{fails: 3}}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	defer s.cancel()
	s.accept()
	var failed []string
	for e, f := range record.All[record.ListenFailed](history.Events()) {
		failed = append(failed, e.Subject+": "+f.Error)
	}
	if got, want := strings.Join(failed, "; "), "default/web/app: accepting a connection: too many open files"; got != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

// TestAPortThatIsShutDown, as each is before it is closed, is no failure.
func TestAPortThatIsShutDown(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	history := record.NewHistory(nil)
	s := &Server{config: Config{Container: "default/web/app", Recorder: history, Listener: behavior.Listener{Port: 80}}, listener: listener}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	defer s.cancel()
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	s.accept()
	for e, f := range record.All[record.ListenFailed](history.Events()) {
		t.Errorf("recorded %s: %s", e.Subject, f.Error)
	}
}
