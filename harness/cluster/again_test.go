package cluster

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/rigs"
	"github.com/skewrig/skewrig/record"
)

// TestAControllerIsStartedAgain as a kubelet restarts the container of a static pod: at once, and
// then after a longer delay each time, until Kill ends it.
func TestAControllerIsStartedAgain(t *testing.T) {
	guard, err := rigs.NewDir(t.TempDir(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var tried []time.Duration
		c := &Cluster{guard: guard, servers: make([]server, 1), cfg: Config{
			Recorder: (*record.History)(nil),
			Binary: func(context.Context, build.Target) (build.Binary, error) {
				tried = append(tried, time.Since(began))
				return build.Binary{}, errors.New("no binary")
			},
		}}
		c.ctx, c.fail = context.WithCancelCause(t.Context())
		defer c.fail(nil)
		comp := &component{name: "kube-scheduler/a", kind: build.Scheduler}
		c.add(comp)
		if err := c.introduce(); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(c.ctx)
		comp.leave.Store(&leave)
		ended := make(chan struct{})
		go func() { c.startAgain(ctx, comp); close(ended) }()
		time.Sleep(71 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, 10 * time.Second, 30 * time.Second, 70 * time.Second}
		if !slices.Equal(tried, want) {
			t.Errorf("it was started after %v, not after %v", tried, want)
		}
		if err := c.Kill(comp.name); err != nil {
			t.Fatal(err)
		}
		<-ended
		if len(tried) != len(want) {
			t.Errorf("it was started again after Kill: %v", tried)
		}
	})
}

func TestOnlyOneOfSeveralControllersIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"kube-scheduler/a": true, "kube-controller-manager/b": true,
		"kube-scheduler": false, "kube-apiserver/a": false, "kubelet/node-a": false, "etcd": false,
	} {
		comp := &component{name: name, kind: programOf(name)}
		if got := comp.startsAgain(); got != want {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
		comp.crashed.Store(true)
		if !comp.startsAgain() {
			t.Errorf("%s is not started again after its link has killed it", name)
		}
	}
}
