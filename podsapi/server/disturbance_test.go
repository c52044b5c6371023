package server

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

func TestDelay(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	w := g.watch(t)
	w.expect(t, "INITIAL_SYNC_COMPLETE")
	const delay = 60 * time.Millisecond
	g.Disturb(Disturbance{Delay: delay})
	began := time.Now()
	if _, err := g.ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < delay {
		t.Errorf("ListPods took %s", took)
	}
	g.Disturb(Disturbance{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := g.GetPod(ctx, &pods.GetPodRequest{PodUID: "x"})
	wantCode(t, err, codes.DeadlineExceeded)
}

func TestADelayedEventIsOfTheLatestState(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	w := g.watch(t)
	w.expect(t, "INITIAL_SYNC_COMPLETE")
	g.Disturb(Disturbance{Delay: 200 * time.Millisecond})
	for _, phase := range []string{"Pending", "Running", "Failed"} {
		p := small(1, "")
		p.Status.Message = phase
		g.set(t, p)
	}
	g.set(t, small(1, "Succeeded"))
	w.expect(t, "ADDED pod-1 Succeeded")
	if missed := g.client(t, 0).Missed; missed != 3 {
		t.Errorf("missed %d, want 3", missed)
	}
}

func TestBreakAfter(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"), small(2, "Running"))
	old := g.watch(t)
	old.expect(t, "ADDED pod-1 Running", "ADDED pod-2 Running", "INITIAL_SYNC_COMPLETE")
	g.Disturb(Disturbance{BreakAfter: 2})
	old.expect(t, "Unavailable")
	w := g.watch(t)
	w.expect(t, "ADDED pod-1 Running", "ADDED pod-2 Running")
	_, err := w.Recv()
	wantCode(t, err, codes.Unavailable, "after 2 events")
	g.Disturb(Disturbance{})
	g.watch(t).expect(t, "ADDED pod-1 Running", "ADDED pod-2 Running", "INITIAL_SYNC_COMPLETE")
}

func TestCloseDoesNotWaitForADelay(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.Disturb(Disturbance{Delay: time.Hour})
	w := g.watch(t)
	eventually(t, "the watch is open", func() bool { return len(g.Clients()) == 1 && g.client(t, 0).Watching == 1 })
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := w.Recv()
	wantCode(t, err, codes.Unavailable)
}

func TestADisturbanceThatEndsLetsGo(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"))
	g.Disturb(Disturbance{Delay: time.Hour})
	w := g.watch(t)
	eventually(t, "the watch is open", func() bool { return len(g.Clients()) == 1 && g.client(t, 0).Watching == 1 })
	g.Disturb(Disturbance{Delay: 2 * time.Hour})
	g.set(t, small(1, "Failed"))
	if events := g.client(t, 0).Events; events != 0 {
		t.Errorf("%d events were not held back", events)
	}
	g.Disturb(Disturbance{})
	w.expect(t, "ADDED pod-1 Failed", "INITIAL_SYNC_COMPLETE")
}
