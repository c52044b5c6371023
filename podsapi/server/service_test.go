package server

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/podsapi/internal/samples"
	"github.com/skewrig/skewrig/podsapi/mask"
)

func TestList(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	list, err := g.ListPods(t.Context(), &pods.ListPodsRequest{})
	if err != nil || len(list.GetPods()) != 0 {
		t.Errorf("of no pods: %v, error %v", list, err)
	}
	g.set(t, small(2, "Running"), small(0, "Running"))
	g.set(t, small(1, "Running"))
	list, err = g.ListPods(t.Context(), &pods.ListPodsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, list); got != "pod-0 pod-1 pod-2" {
		t.Errorf("got %s, want them by UID", got)
	}
	g.Remove(uidOf(1), uidOf(7))
	if list, _ = g.ListPods(t.Context(), &pods.ListPodsRequest{}); names(t, list) != "pod-0 pod-2" {
		t.Errorf("after a removal: %s", names(t, list))
	}
}

func TestPodsAreAsTheyWereMarshalled(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	p := samples.Pod(1)
	g.set(t, p)
	want, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	p.Name = "changed" // What is set is what it was then.
	list, err := g.ListPods(t.Context(), &pods.ListPodsRequest{})
	if err != nil || !bytes.Equal(list.Pods[0], want) {
		t.Errorf("ListPods: other bytes, error %v", err)
	}
	got, err := g.GetPod(t.Context(), &pods.GetPodRequest{PodUID: string(p.UID)})
	if err != nil || !bytes.Equal(got.Pod, want) {
		t.Errorf("GetPod: other bytes, error %v", err)
	}
}

func TestMasks(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, samples.Pod(1))
	want := &corev1.Pod{}
	want.Name, want.Status.Phase = samples.Pod(1).Name, corev1.PodRunning
	for _, values := range [][]string{{"metadata.name,status.phase"}, {"metadata.name", " status.phase"}} {
		ctx := masked(t.Context(), values...)
		list, err := g.ListPods(ctx, &pods.ListPodsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.GetPod(ctx, &pods.GetPodRequest{PodUID: string(uidOf(1))})
		if err != nil {
			t.Fatal(err)
		}
		event, err := g.watch(t, values...).Recv()
		if err != nil {
			t.Fatal(err)
		}
		for method, wire := range map[string][]byte{"ListPods": list.Pods[0], "GetPod": got.Pod, "WatchPods": event.Pod} {
			if got := decode(t, wire); got.String() != want.String() {
				t.Errorf("%s with %q: %v", method, values, got)
			}
		}
	}
}

func TestBadMasksAreInvalidWhateverTheState(t *testing.T) {
	t.Parallel()
	for _, ready := range []bool{true, false} {
		g := newRig(t)
		g.SetReady(ready)
		ctx := masked(t.Context(), "metadata.nam", "spec.x,status.phase")
		says := []string{mask.MetadataKey, `"metadata.nam"`, `did you mean "name"`, `"spec.x"`}
		_, err := g.ListPods(ctx, &pods.ListPodsRequest{})
		wantCode(t, err, codes.InvalidArgument, says...)
		_, err = g.GetPod(ctx, &pods.GetPodRequest{PodUID: "any"})
		wantCode(t, err, codes.InvalidArgument, says...)
		_, err = g.watch(t, "metadata.nam", "spec.x,status.phase").Recv()
		wantCode(t, err, codes.InvalidArgument, says...)
		_, err = g.ListPods(masked(t.Context(), strings.Repeat("a,b,", 3000)), &pods.ListPodsRequest{})
		wantCode(t, err, codes.InvalidArgument, "at most 8192")
	}
}

func TestGetErrors(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"))
	for uid, want := range map[string]struct {
		code codes.Code
		says string
	}{
		"":                         {codes.InvalidArgument, "metadata.uid"},
		"absent":                   {codes.NotFound, `"absent"`},
		"a\nb":                     {codes.NotFound, `"a\nb"`},
		strings.Repeat("u", 10000): {codes.NotFound, "uuu\"… (10000 bytes)"},
		strings.Repeat("u", 20000): {codes.ResourceExhausted, "larger than max"},
	} {
		_, err := g.GetPod(t.Context(), &pods.GetPodRequest{PodUID: uid})
		wantCode(t, err, want.code, want.says)
		if len(err.Error()) > 500 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

func TestANodeThatIsNotReadySaysSo(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.SetReady(false)
	g.set(t, small(1, "Running"))
	_, err := g.ListPods(t.Context(), &pods.ListPodsRequest{})
	wantCode(t, err, codes.FailedPrecondition, "initializing")
	_, err = g.GetPod(t.Context(), &pods.GetPodRequest{PodUID: string(uidOf(1))})
	wantCode(t, err, codes.FailedPrecondition, "initializing")
	_, err = g.watch(t).Recv()
	wantCode(t, err, codes.FailedPrecondition, "initializing")
	_, err = g.GetPod(t.Context(), &pods.GetPodRequest{})
	wantCode(t, err, codes.InvalidArgument)
	g.SetReady(true)
	if list, err := g.ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil || len(list.Pods) != 1 {
		t.Errorf("ready: %v, error %v", list, err)
	}
}

func TestTheInitialStateIsNotReady(t *testing.T) {
	t.Parallel()
	if _, err := newStore().list(); err != errInitializing { //nolint:errorlint // it is this very error
		t.Errorf("error %v", err)
	}
}

func TestSetIsAllOrNothing(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	nameless := small(2, "Running")
	nameless.UID = ""
	for _, bad := range []*corev1.Pod{nil, nameless} {
		if err := g.Set(small(1, "Running"), bad); err == nil {
			t.Errorf("%v was set", bad)
		}
	}
	if err := g.Set(nameless); err == nil || !strings.Contains(err.Error(), "default/pod-2 has no UID") {
		t.Errorf("error %v, want one that names the pod", err)
	}
	if list, err := g.ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil || len(list.Pods) != 0 {
		t.Errorf("got %v, error %v, want no pod", list, err)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	g := newRigWith(t, Config{})
	g.limiter.SetLimit(1e-9) // No fourth call in any test's time.
	g.limiter.SetBurst(3)
	w := g.watch(t)
	w.expect(t, "INITIAL_SYNC_COMPLETE")
	for range 2 {
		if _, err := g.ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := g.ListPods(t.Context(), &pods.ListPodsRequest{})
	wantCode(t, err, codes.ResourceExhausted, "calls a second")
	_, err = g.watch(t).Recv()
	wantCode(t, err, codes.ResourceExhausted)
	g.set(t, small(1, "Running")) // An open watch goes on.
	w.expect(t, "ADDED pod-1 Running")
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	g := newRigWith(t, Config{})
	if qps, burst := g.limiter.Limit(), g.limiter.Burst(); qps != 100 || burst != 10 {
		t.Errorf("%v calls a second, %d at once, want 100 and 10", qps, burst)
	}
}
