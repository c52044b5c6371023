package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(2, "Pending"), small(1, "Running"))
	w := g.watch(t)
	w.expect(t, "ADDED pod-1 Running", "ADDED pod-2 Pending", "INITIAL_SYNC_COMPLETE")
	g.set(t, small(2, "Running"))
	w.expect(t, "MODIFIED pod-2 Running")
	g.set(t, small(2, "Running"), small(3, "Pending")) // The first is as it was.
	w.expect(t, "ADDED pod-3 Pending")
	g.Remove(uidOf(2))
	w.expect(t, "DELETED pod-2")
	g.Remove(uidOf(2), "absent")
	g.set(t, small(2, "Pending"))
	w.expect(t, "ADDED pod-2 Pending")
}

func TestWatchOfNoPods(t *testing.T) {
	t.Parallel()
	newRig(t).watch(t).expect(t, "INITIAL_SYNC_COMPLETE")
}

func TestADeletedPodIsNameNamespaceAndUID(t *testing.T) {
	t.Parallel()
	for mask, want := range map[string]corev1.Pod{
		"":                          *small(1, ""),
		"metadata":                  *small(1, ""),
		"metadata.name":             *small(1, ""),
		"status.phase":              *small(1, ""),
		"metadata.labels,spec":      *small(1, ""),
		"metadata.namespace,status": *small(1, ""),
	} {
		want.Spec = corev1.PodSpec{}
		if !slices.Contains([]string{"", "metadata", "metadata.name"}, mask) {
			want.Name = ""
		}
		if !slices.Contains([]string{"", "metadata", "metadata.namespace,status"}, mask) {
			want.Namespace = ""
		}
		g := newRig(t)
		g.set(t, small(1, "Running"))
		w := g.watch(t, mask)
		for range 2 {
			if _, err := w.Recv(); err != nil {
				t.Fatal(err)
			}
		}
		g.Remove(uidOf(1))
		event, err := w.Recv()
		if err != nil || event.Type != pods.EventType_DELETED {
			t.Fatalf("mask %q: %v, error %v", mask, event, err)
		}
		if got := decode(t, event.Pod); got.String() != want.String() {
			t.Errorf("mask %q: got %v, want %v", mask, got, want.String())
		}
	}
}

func TestChangesThatAMaskHidesAreNotSent(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"))
	w := g.watch(t, "metadata.name,status.phase")
	w.expect(t, "ADDED pod-1 Running", "INITIAL_SYNC_COMPLETE")
	hidden := small(1, "Running")
	hidden.Spec.NodeName = "elsewhere"
	g.set(t, hidden)
	g.set(t, small(1, "Failed"))
	w.expect(t, "MODIFIED pod-1 Failed")
}

func TestWatchesEndWhenTheNodeIsNotReady(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	w := g.watch(t)
	w.expect(t, "INITIAL_SYNC_COMPLETE")
	g.SetReady(false)
	_, err := w.Recv()
	wantCode(t, err, codes.FailedPrecondition, "initializing")
}

func TestCloseEndsWatches(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	w := g.watch(t)
	w.expect(t, "INITIAL_SYNC_COMPLETE")
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := w.Recv()
	wantCode(t, err, codes.Unavailable)
	g.set(t, small(1, "Running")) // No client watches, which is no error.
	g.SetReady(false)
}

// Watches are opened while pods change: each comes to know what is the case, and
// no event contradicts those before.
func TestThereIsNoGapAfterTheInitialPods(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const watchers, changes = 10, 300
	var all sync.WaitGroup
	for range watchers {
		all.Go(func() { follow(t, g.watch(t)) })
		for i := range changes {
			if i%7 == 3 {
				g.Remove(uidOf(i % 5))
			} else {
				g.set(t, small(i%5, corev1.PodPhase(fmt.Sprint(i))))
			}
		}
	}
	g.set(t, small(0, "end"), small(1, "end"), small(2, "end"), small(3, "end"), small(4, "end"))
	all.Wait()
}

// follow reads a watch until all five pods are in the phase "end".
func follow(t *testing.T, w watch) {
	known, synced := map[types.UID]corev1.PodPhase{}, false
	for ended := 0; ended < 5 || !synced; {
		event, err := w.Recv()
		if err != nil {
			t.Error(err)
			return
		}
		if event.Type == pods.EventType_INITIAL_SYNC_COMPLETE {
			synced = true
			continue
		}
		p := decode(t, event.Pod)
		phase, there := known[p.UID]
		if there != (event.Type != pods.EventType_ADDED) || there && phase == p.Status.Phase || !synced && event.Type != pods.EventType_ADDED {
			t.Errorf("%s %s %s, synced %t, was %q", event.Type, p.Name, p.Status.Phase, synced, phase)
		}
		known[p.UID] = p.Status.Phase
		if event.Type == pods.EventType_DELETED {
			delete(known, p.UID)
		}
		if p.Status.Phase == "end" {
			ended++
		}
	}
}

// stuffed is a pod of 64 KB, of which a few fill what a connection can hold.
func stuffed(number int, phase corev1.PodPhase) *corev1.Pod {
	p := small(number, phase)
	p.Annotations = map[string]string{"stuffing": strings.Repeat("x", 64<<10)}
	return p
}

func TestAClientThatNeverReadsBlocksNoOther(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for i := range 20 {
		g.set(t, stuffed(i, "0"))
	}
	stuck := g.watch(t)
	eventually(t, "the watch is open", func() bool { return g.client(t, 0).Watching == 1 })
	other := &rig{Server: g.Server, PodsClient: pods.NewPodsClient(g.connect(t))}
	well := other.watch(t, "metadata.name,status.phase")
	well.drain(t, "INITIAL_SYNC_COMPLETE")
	const rounds = 500
	for i := 1; i <= rounds; i++ {
		for number := range 20 {
			g.set(t, stuffed(number, corev1.PodPhase(fmt.Sprint(i))))
		}
		g.set(t, small(100+i, "Pending"))
		g.Remove(uidOf(100 + i)) // The slow watch gets no event of this pod.
	}
	well.drain(t, fmt.Sprint("MODIFIED pod-19 ", rounds))
	if got := pending(g); got > 21 {
		t.Errorf("%d events are kept for 20 pods", got)
	}
	report := g.client(t, 0)
	if report.Missed < 19*rounds/2 || len(report.Behind) < 10 {
		t.Errorf("missed %d, behind on %d, want most", report.Missed, len(report.Behind))
	}
	if healthy := g.client(t, 1); len(healthy.Behind) != 0 {
		t.Errorf("the client that reads is behind on %v", healthy.Behind)
	}
	seen := map[string]string{} // The last state is never lost.
	for len(seen) < 20 || !allAre(seen, fmt.Sprint(rounds)) {
		if event := strings.Fields(stuck.next(t)); len(event) == 3 {
			seen[event[1]] = event[2]
		} else if len(event) == 1 && event[0] != "INITIAL_SYNC_COMPLETE" {
			t.Fatalf("the watch ended with %s", event)
		}
	}
	eventually(t, "the client is up to date", func() bool { return len(g.client(t, 0).Behind) == 0 })
}

func allAre(states map[string]string, want string) bool {
	for _, state := range states {
		if state != want {
			return false
		}
	}
	return true
}

// pending returns the length of the longest queue.
func pending(g *rig) int {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	longest := 0
	for w := range g.store.watchers {
		longest = max(longest, w.queue.order.Len())
	}
	return longest
}

func TestTooManyPendingDeletionsEndAWatch(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const count = maxPendingDeletions + 1
	all, uids := make([]*corev1.Pod, count), make([]types.UID, count)
	for i := range all {
		all[i], uids[i] = small(i, "Running"), uidOf(i)
	}
	g.set(t, all...)
	w := g.watch(t)
	w.drain(t, "INITIAL_SYNC_COMPLETE")
	for i := range 40 { // Fill the connection, so that nothing more gets through.
		g.set(t, stuffed(count+i, "Running"))
	}
	eventually(t, "the client holds events up", func() bool { return pending(g) > 0 })
	g.Remove(uids...)
	for {
		if _, err := w.Recv(); err != nil {
			wantCode(t, err, codes.ResourceExhausted, "more than 10000 deletions")
			return
		}
	}
}
