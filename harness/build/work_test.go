package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/skewrig/skewrig/harness/release"
)

// TestProblemsOfABuildAreReported while what is in the cache is there at once.
func TestProblemsOfABuildAreReported(t *testing.T) {
	etcd := Target{Component: Etcd, Version: release.Etcd}
	kubelet := Target{Component: Kubelet, Version: release.Newest, Overlay: map[string]string{"pkg/probe/grpc/grpc.go": filepath.Join(t.TempDir(), "no.go")}}
	states := make(map[string]State)
	b := &Builder{Dir: t.TempDir(), Progress: func(p Progress) { states[p.Target.String()] = p.State }}
	s, recipe, err := b.prepare(t.Context(), etcd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.entry(etcd, recipe.key()).create(recipe, func(out string) error { return os.WriteFile(out, []byte("etcd"), 0o755) }); err != nil {
		t.Fatal(err)
	}
	wait, err := b.Start(t.Context(), []Target{kubelet, etcd})
	if err != nil {
		t.Fatal(err)
	}
	if b.Pending(etcd) || states[etcd.String()] != Cached {
		t.Errorf("what is in the cache is %s, and waited for", states[etcd.String()])
	}
	built, err := wait()
	failures, _ := errors.AsType[Errors](err)
	if len(built) != 1 || built[0].Component != Etcd || len(failures) != 1 || failures[0].Target.Component != Kubelet {
		t.Errorf("built %v, %v; want etcd, and why there is no kubelet", built, err)
	}
	if states[kubelet.String()] != Failed || b.Pending(kubelet) || len(b.Built()) != 1 {
		t.Errorf("the kubelet is %s; built are %v", states[kubelet.String()], b.Built())
	}
}

// TestWhoWantsWhatIsBuiltWaits, and builds it itself if who did was interrupted.
func TestWhoWantsWhatIsBuiltWaits(t *testing.T) {
	b := &Builder{Dir: t.TempDir()}
	target := Target{Component: "etcd", Version: "v1.0.0"}
	o := b.order(t.Context(), target) // it runs the Go command
	synctest.Test(t, func(t *testing.T) {
		w, mine := b.claim(target)
		if !mine || !b.Pending(target) {
			t.Fatal("another caller builds it")
		}
		var got Binary
		var err error
		go func() { got, err = b.Binary(t.Context(), target) }()
		synctest.Wait()
		b.finish(t.Context(), o, w, Binary{Path: "here"}, nil)
		synctest.Wait()
		if got.Path != "here" || err != nil || b.Pending(target) {
			t.Errorf("got %v, %v", got, err)
		}

		other := Target{Component: "kube-proxy", Version: "v1.0.0"} // can't be built
		w, _ = b.claim(other)
		go func() { _, err = b.Binary(t.Context(), other) }()
		synctest.Wait()
		interrupted, cancel := context.WithCancel(t.Context())
		cancel()
		b.finish(interrupted, &order{target: other}, w, Binary{}, context.Canceled)
		synctest.Wait()
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want why it can't be built", err)
		}
	})
}
