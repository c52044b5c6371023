package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/rigs"
)

// TestKubeletsStartSomeAtATime: of many kubelets, only as many start at the same time as the
// processors can do with. None gets further than to its binary.
func TestKubeletsStartSomeAtATime(t *testing.T) {
	guard, err := rigs.NewDir(t.TempDir(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	synctest.Test(t, func(t *testing.T) {
		var starting atomic.Int32
		enough, noBinary := make(chan struct{}), errors.New("no binary")
		c := &Cluster{guard: guard, servers: make([]server, 1), cfg: Config{Binary: func(context.Context, build.Target) (build.Binary, error) {
			starting.Add(1)
			<-enough
			return build.Binary{}, noBinary
		}}}
		c.ctx, c.fail = context.WithCancelCause(t.Context())
		want := int32(kubeletsAtOnce * runtime.NumCPU())
		for i := range 2 * want {
			c.add(&component{name: fmt.Sprintf("kubelet/node-%d", i), kind: build.Kubelet})
		}
		if err := c.introduce(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- c.startKubelets(t.Context()) }()
		synctest.Wait() // all starts wait
		if got := starting.Load(); got != want {
			t.Errorf("%d start at the same time, want %d", got, want)
		}
		close(enough)
		if err := <-ended; !errors.Is(err, noBinary) {
			t.Errorf("starting without a binary: %v", err)
		}
	})
}
