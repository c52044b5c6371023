package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

func TestClientsSayWhatEachDid(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"))
	ctx := t.Context()
	_, _ = g.ListPods(ctx, &pods.ListPodsRequest{})
	_, _ = g.GetPod(ctx, &pods.GetPodRequest{PodUID: "absent"})
	_, _ = g.GetPod(ctx, &pods.GetPodRequest{PodUID: strings.Repeat("u", maxRequestBytes)})
	err := g.conn.Invoke(ctx, "/v1alpha1.Pods/DropPods", &pods.ListPodsRequest{}, &pods.ListPodsResponse{})
	wantCode(t, err, codes.Unimplemented, "/v1alpha1.Pods/WatchPods")
	w := g.watch(t)
	w.expect(t, "ADDED pod-1 Running", "INITIAL_SYNC_COMPLETE")
	second := pods.NewPodsClient(g.connect(t))
	_, _ = second.ListPods(masked(ctx, "oops"), &pods.ListPodsRequest{})
	want := []Calls{
		{"GetPod", "NotFound", 1}, {"GetPod", "ResourceExhausted", 1},
		{"ListPods", "OK", 1},
		{"other", "Unimplemented", 1},
	}
	eventually(t, "all calls have ended", func() bool { return len(g.client(t, 0).Calls) == len(want) })
	got := g.client(t, 0)
	if diff := cmp.Diff(want, got.Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got.Watching != 1 || got.Events != 2 || got.Missed != 0 || got.Behind != nil {
		t.Errorf("client %+v, want one watch, two events and nothing missed", got)
	}
	if got := g.client(t, 1); !slices.Equal(got.Calls, []Calls{{"ListPods", "InvalidArgument", 1}}) || got.ID != 2 {
		t.Errorf("second client %+v", got)
	}
	g.conn.Close()
	eventually(t, "the client is gone, and its watch was canceled", func() bool { // a call is counted a moment after it has ended
		c := g.client(t, 0)
		return !c.Disconnected.IsZero() && c.Watching == 0 && slices.Contains(c.Calls, Calls{"WatchPods", "Canceled", 1})
	})
}

func TestClientsAsJSON(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(Client{ID: 1, PID: 2, UID: 3, Calls: []Calls{{"GetPod", "OK", 4}}, Events: 5, Missed: 6, LargestList: 7, Behind: []types.UID{"a"}})
	want := `{"id":1,"pid":2,"uid":3,"connected":"0001-01-01T00:00:00Z","calls":[{"method":"GetPod","code":"OK","count":4}],` +
		`"watching":0,"events":5,"missed":6,"largestList":7,"behind":["a"]}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, error %v\nwant %s", got, err, want)
	}
}

func TestBehind(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"), small(2, "Running"), small(3, "Running"))
	behind := func(numbers ...int) {
		t.Helper()
		var want []types.UID
		for _, number := range numbers {
			want = append(want, uidOf(number))
		}
		if got := g.client(t, 0).Behind; !slices.Equal(got, want) {
			t.Errorf("behind on %q, want %q", got, want)
		}
	}
	list := func() {
		t.Helper()
		if _, err := g.ListPods(masked(t.Context(), "metadata.uid,status.phase"), &pods.ListPodsRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	list()
	behind()
	g.set(t, small(2, "Failed"))
	g.set(t, small(4, "Pending"))
	g.Remove(uidOf(3))
	hidden := small(1, "Running")
	hidden.Spec.NodeName = "elsewhere"
	g.set(t, hidden)
	behind(2, 3, 4)
	w := g.watch(t)
	w.expect(t, "ADDED pod-1 Running", "ADDED pod-2 Failed")
	eventually(t, "the watch has caught up", func() bool { return len(g.client(t, 0).Behind) == 0 })
	g.SetReady(false) // which ends the watch
	w.expect(t, "ADDED pod-4 Pending", "INITIAL_SYNC_COMPLETE", "FailedPrecondition")
	g.SetReady(true)
	g.set(t, small(4, "Running"))
	eventually(t, "the watch has ended", func() bool { return g.client(t, 0).Watching == 0 })
	behind(4)
	list()
	behind()
}

// TestAClientThatIsGoneIsAsItWent: later events do not change the entry of a client that has disconnected.
func TestAClientThatIsGoneIsAsItWent(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"), small(2, "Running"))
	lister := g.connect(t)
	if _, err := pods.NewPodsClient(lister).ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil {
		t.Fatal(err)
	}
	g.set(t, small(2, "Failed"))
	g.Disturb(Disturbance{Delay: time.Hour})
	g.watch(t) // which gets no event
	eventually(t, "the watch is open", func() bool { return len(g.Clients()) == 2 && g.client(t, 1).Watching == 1 })
	for _, c := range []*grpc.ClientConn{lister, g.conn} {
		c.Close()
	}
	eventually(t, "both are gone", func() bool { return !g.client(t, 0).Disconnected.IsZero() && g.client(t, 1).Watching == 0 })
	g.set(t, small(1, "Failed"), small(3, "Running"))
	g.Remove(uidOf(2))
	for i, want := range [][]types.UID{{uidOf(2)}, {uidOf(1), uidOf(2)}} {
		if got := g.client(t, i).Behind; !slices.Equal(got, want) {
			t.Errorf("client %d is behind on %q, want %q", i+1, got, want)
		}
	}
}

// TestACallIsMissingUntilItIsCounted: whoever reads what clients did can wait for it.
func TestACallIsMissingUntilItIsCounted(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.Disturb(Disturbance{Delay: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := g.ListPods(ctx, &pods.ListPodsRequest{})
		ended <- err
	}()
	eventually(t, "the call has begun", g.Answering)
	if calls := g.client(t, 0).Calls; len(calls) > 0 {
		t.Errorf("the call is counted before it ends: %v", calls)
	}
	cancel()
	<-ended
	eventually(t, "the call is counted", func() bool { return !g.Answering() })
	if calls := g.client(t, 0).Calls; !slices.Equal(calls, []Calls{{"ListPods", "Canceled", 1}}) {
		t.Errorf("the client has %v", calls)
	}
}

func TestTheLargestListIsKnown(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"), small(2, "Running"))
	whole, err := g.ListPods(t.Context(), &pods.ListPodsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.ListPods(masked(t.Context(), "metadata.uid"), &pods.ListPodsRequest{}); err != nil {
		t.Fatal(err)
	}
	if got, want := g.client(t, 0).LargestList, proto.Size(whole); got != want || got == 0 {
		t.Errorf("the largest list had %d bytes, want %d", got, want)
	}
}

func TestAClientThatAsksForSinglePodsIsNotBehind(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.set(t, small(1, "Running"), small(2, "Running"))
	if _, err := g.GetPod(t.Context(), &pods.GetPodRequest{PodUID: string(uidOf(1))}); err != nil {
		t.Fatal(err)
	}
	if got := g.client(t, 0).Behind; got != nil {
		t.Errorf("behind on %v", got)
	}
}

func TestClientsThatAreGoneAreForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	all := newClients(newStore())
	stays := all.connected(credential{pid: 1})
	for range maxGone + 10 {
		all.connected(credential{pid: 2}).disconnected()
	}
	all.connected(credential{pid: 3})
	known := all.all()
	if len(known) != maxGone+2 || known[0] != stays || known[1].so.ID != 12 {
		t.Errorf("%d clients, the second with id %d, want %d and 12", len(known), known[1].so.ID, maxGone+2)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	before := `# HELP pod_info_endpoint_requests_total Calls of the Pods API, by code.
# TYPE pod_info_endpoint_requests_total counter
pod_info_endpoint_requests_total{code="OK"} 0
# HELP pod_info_endpoint_requests_list Calls of ListPods, by code.
# TYPE pod_info_endpoint_requests_list counter
pod_info_endpoint_requests_list{code="OK"} 0
# HELP pod_info_endpoint_requests_get Calls of GetPod, by code.
# TYPE pod_info_endpoint_requests_get counter
pod_info_endpoint_requests_get{code="OK"} 0
# HELP pod_info_endpoint_requests_watch Calls of WatchPods, by code.
# TYPE pod_info_endpoint_requests_watch counter
pod_info_endpoint_requests_watch{code="OK"} 0
# HELP pod_info_endpoint_errors_get Calls of GetPod that failed.
# TYPE pod_info_endpoint_errors_get counter
pod_info_endpoint_errors_get 0
`
	if diff := cmp.Diff(before, g.metrics(t)); diff != "" {
		t.Errorf("before any call (-want +got):\n%s", diff)
	}
	g.set(t, small(1, "Running"))
	_, _ = g.GetPod(t.Context(), &pods.GetPodRequest{PodUID: string(uidOf(1))})
	_, _ = g.GetPod(t.Context(), &pods.GetPodRequest{PodUID: "absent"})
	_, _ = g.GetPod(t.Context(), &pods.GetPodRequest{})
	_, _ = g.ListPods(t.Context(), &pods.ListPodsRequest{})
	_, _ = g.watch(t, "oops").Recv()
	w := g.watch(t)
	w.expect(t, "ADDED pod-1 Running", "INITIAL_SYNC_COMPLETE")
	for _, line := range []string{
		`pod_info_endpoint_requests_total{code="OK"} 3`,
		`pod_info_endpoint_requests_total{code="InvalidArgument"} 2`,
		`pod_info_endpoint_requests_get{code="NotFound"} 1`,
		`pod_info_endpoint_requests_list{code="OK"} 1`,
		`pod_info_endpoint_requests_watch{code="OK"} 1`,
		`pod_info_endpoint_requests_watch{code="InvalidArgument"} 1`,
		`pod_info_endpoint_errors_get 2`,
	} {
		eventually(t, line, func() bool { return strings.Contains(g.metrics(t), line+"\n") })
	}
	g.SetReady(false) // A watch that ends is not counted again.
	w.expect(t, "FailedPrecondition")
	eventually(t, "the watch is over", func() bool { return g.client(t, 0).Watching == 0 })
	if text := g.metrics(t); strings.Contains(text, "FailedPrecondition") {
		t.Errorf("metrics:\n%s", text)
	}
}

func TestACallWithoutAConnectionHasNoClient(t *testing.T) {
	t.Parallel()
	s := &service{Server: &Server{store: newStore(), clients: newClients(nil)}}
	s.SetReady(true)
	if _, err := s.ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil {
		t.Error(err)
	}
	if _, _, err := (callers{}).ServerHandshake(nil); err == nil {
		t.Error("a connection that is not guarded was taken on")
	}
}

func TestStreamsOfAConnectionAreBounded(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	var open []grpc.ServerStreamingClient[pods.WatchPodsEvent]
	for range maxStreams {
		w := g.watch(t)
		w.expect(t, "INITIAL_SYNC_COMPLETE")
		open = append(open, w)
	}
	if got := g.client(t, 0).Watching; got != len(open) {
		t.Errorf("%d watches, want %d", got, len(open))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := g.ListPods(ctx, &pods.ListPodsRequest{})
	wantCode(t, err, codes.DeadlineExceeded)
}
