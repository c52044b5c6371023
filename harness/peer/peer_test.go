package peer_test

import (
	"net"
	"testing"

	"github.com/skewrig/skewrig/harness/peer"
	"github.com/skewrig/skewrig/harness/peer/peertest"
)

func TestMain(m *testing.M) { peertest.Main(m) }

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func accept(t *testing.T, listener net.Listener) net.Conn {
	t.Helper()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	return accepted
}

func dial(t *testing.T, listener net.Listener) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func TestForeign(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	dial(t, listener)
	if uid, foreign := peer.Foreign(accept(t, listener)); foreign {
		t.Errorf("this process's own connection is that of %d", uid)
	}
	cmd := peertest.Connect(t, listener.Addr().String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if uid, foreign := peer.Foreign(accept(t, listener)); !foreign || uid != peertest.OtherUID {
		t.Errorf("got %d, %t", uid, foreign)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestGone has a client that does not wait for an answer, as a TCP probe.
func TestGone(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	dial(t, listener).Close()
	if uid, foreign := peer.Foreign(accept(t, listener)); foreign {
		t.Errorf("this process's own connection is that of %d", uid)
	}
}

func TestOwn(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	cmd := peertest.Connect(t, listener.Addr().String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	got := make(chan net.Conn, 1)
	go func() {
		if c, err := peer.Own(listener).Accept(); err == nil {
			got <- c
		}
	}()
	if err := cmd.Wait(); err != nil { // it ends when its connection is closed
		t.Fatal(err)
	}
	mine := dial(t, listener)
	accepted := <-got
	defer accepted.Close()
	if accepted.RemoteAddr().String() != mine.LocalAddr().String() {
		t.Errorf("accepted %s, want %s", accepted.RemoteAddr(), mine.LocalAddr())
	}
}
