package server_test

import (
	"testing"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/peer/peertest"
	"github.com/skewrig/skewrig/record"
)

func TestMain(m *testing.M) { peertest.Main(m) }

// TestAnotherUser is about users of this machine who connect to a container.
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.HTTP1})
	for range 2 {
		if answer, err := peertest.Connect(t, r.addr()).Output(); err != nil || len(answer) > 0 {
			t.Errorf("another user was answered %q, %v", answer, err)
		}
	}
	if err := r.server.Close(); err != nil {
		t.Fatal(err)
	}
	if seen := r.wait(0); len(seen) > 0 {
		t.Errorf("recorded as connections: %+v", seen)
	}
	refused := 0
	for _, of := range record.All[record.ForeignRefused](r.history.Events()) {
		refused++
		if of.UID != peertest.OtherUID || of.Port != int32(r.server.Addr().Port()) {
			t.Errorf("recorded as %+v", of)
		}
	}
	if refused != 1 {
		t.Errorf("recorded %d times", refused)
	}
}
