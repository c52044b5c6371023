package skewtest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is a rig that the tests of a package have together. The first test that asks for
// it starts it. Its zero value has the zero Topology.
//
//	var shared = skewtest.Shared{Topology: skewtest.Topology{...}}
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
//
//	func TestOne(t *testing.T) {
//		rig := shared.Rig(t)
//		namespace := rig.Namespace(t)
//		...
type Shared struct {
	Topology Topology

	mu  sync.Mutex
	rig *Rig
	err error
}

// Rig is the rig. If it can't be started, the test ends here, and so does every other one
// that asks for it. If the test fails, it logs what happened on the rig.
func (s *Shared) Rig(t testing.TB) *Rig {
	t.Helper()
	r, err := s.start(t)
	if err != nil {
		giveUp(t, err)
	}
	r.Follow(t)
	return r
}

func (s *Shared) start(t testing.TB) (*Rig, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rig == nil && s.err == nil {
		ctx, cancel := bounded(t)
		defer cancel()
		s.rig, s.err = open(ctx, s.Topology, "shared", t.Logf)
	}
	return s.rig, s.err
}

// Main runs the tests of a package, ends the rig, and returns the exit code for
// os.Exit. Without it, the rig ends with the program, and its files stay.
func (s *Shared) Main(m *testing.M) int {
	code := m.Run()
	if s.rig == nil {
		return code
	}
	if err := s.rig.close(); err != nil {
		fmt.Fprintf(os.Stderr, "skewtest: ending the rig: %v\n", err)
		return max(code, 1)
	}
	return code
}
