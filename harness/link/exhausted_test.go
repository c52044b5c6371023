package link

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/record"
)

// exhausted is a listener of a process that has too many files open. It ends its link after some attempts.
type exhausted struct {
	net.Listener

	left int
	end  func()
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.left--; e.left < 0 {
		e.end()
		return nil, net.ErrClosed
	}
	return nil, syscall.EMFILE
}

// TestTooManyFilesAreOpen: that the link can't accept connections is recorded, once. That it is closed is no failure.
func TestTooManyFilesAreOpen(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	l := &Link{cfg: Config{Name: "kubelet/a->kube-apiserver", Recorder: history}}
	l.closed, l.cancel = context.WithCancel(t.Context())
	l.listener = &exhausted{left: 3, end: l.cancel}
	l.accept()
	var failed []string
	for e, f := range record.All[record.LinkFailed](history.Events()) {
		failed = append(failed, e.Subject+": "+f.Error)
	}
	if got, want := strings.Join(failed, "; "), "kubelet/a->kube-apiserver: accepting a connection: too many open files"; got != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
}
