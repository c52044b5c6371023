package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/podsapi/mask"
	"github.com/skewrig/skewrig/record"
)

// patience bounds every wait for what is sure to come.
const patience = 30 * time.Second

// node is a server of the API whose answers a test sets.
type node struct {
	v1alpha1.UnimplementedPodsServer
	root string

	mu    sync.Mutex
	pods  [][]byte
	err   error
	masks []string
	calls int
	// atOnce is how many lists must be open before any is answered.
	atOnce int
	open   int
	// events has the events of a watch, which ends with an error when the channel is closed.
	events chan *v1alpha1.WatchPodsEvent
}

func encoded(t *testing.T, name string) []byte {
	t.Helper()
	text, err := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// newNode serves at the place below its root.
func newNode(t *testing.T, place string) *node {
	t.Helper()
	n := &node{root: t.TempDir(), events: make(chan *v1alpha1.WatchPodsEvent)}
	socket := filepath.Join(n.root, place)
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	v1alpha1.RegisterPodsServer(server, n)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return n
}

func (n *node) answers(err error, pods ...[]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pods, n.err = pods, err
}

func (n *node) asked(ctx context.Context) ([][]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	n.masks = append(n.masks, strings.Join(metadata.ValueFromIncomingContext(ctx, mask.MetadataKey), ","))
	return n.pods, n.err
}

// joined waits until as many lists are open as there must be. It reports whether they
// came.
func (n *node) joined(ctx context.Context) bool {
	n.mu.Lock()
	n.open++
	n.mu.Unlock()
	return await.Until(ctx, patience, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.open >= n.atOnce
	})
}

func (n *node) ListPods(ctx context.Context, _ *v1alpha1.ListPodsRequest) (*v1alpha1.ListPodsResponse, error) {
	if !n.joined(ctx) {
		return nil, status.Error(codes.Unavailable, "alone")
	}
	pods, err := n.asked(ctx)
	return &v1alpha1.ListPodsResponse{Pods: pods}, err
}

func (n *node) GetPod(ctx context.Context, r *v1alpha1.GetPodRequest) (*v1alpha1.GetPodResponse, error) {
	pods, err := n.asked(ctx)
	if err == nil && r.GetPodUID() != "uid" {
		err = status.Errorf(codes.NotFound, "no %s", r.GetPodUID())
	}
	if err != nil {
		return nil, err
	}
	return &v1alpha1.GetPodResponse{Pod: pods[0]}, nil
}

func (n *node) WatchPods(_ *v1alpha1.WatchPodsRequest, stream grpc.ServerStreamingServer[v1alpha1.WatchPodsEvent]) error {
	if _, err := n.asked(stream.Context()); err != nil {
		return err
	}
	for {
		select {
		case e, more := <-n.events:
			if !more {
				return status.Error(codes.ResourceExhausted, "too slow")
			}
			if err := stream.Send(e); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func newAgent(t *testing.T, n *node) (*Agent, *record.History) {
	t.Helper()
	history := record.NewHistory(nil)
	a := &Agent{Node: "node-a", Root: n.root, Recorder: history}
	t.Cleanup(a.Close)
	return a, history
}

// recorded are the payloads of a kind in a record.
func recorded[P record.Payload](h *record.History) (all []P) {
	for _, p := range record.All[P](h.Events()) {
		all = append(all, p)
	}
	return all
}

func awaitRecord(t *testing.T, h *record.History, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := h.Wait(ctx, func([]record.Event) bool { return is() }); err != nil {
		t.Fatal(err)
	}
}

// A limit of requests a second is reached by asking at once, however slow an answer is.
func TestAnAgentAsksAtOnce(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[0])
	n.atOnce = 2
	a, history := newAgent(t, n)
	if err := a.Ask(t.Context(), "many", Request{Method: ListPods}, 2, 0); err != nil {
		t.Fatal(err)
	}
	for _, answer := range recorded[record.PodsAnswer](history) {
		if answer.Code != codes.OK.String() {
			t.Errorf("%s: %s", answer.Code, answer.Message)
		}
	}
}

func TestAnAgentAsks(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[0])
	a, history := newAgent(t, n)
	n.answers(nil, encoded(t, "web"), []byte("garbage"))
	const every = 5 * time.Millisecond
	must := func(name string, r Request, times int) {
		begun := time.Now()
		if err := a.Ask(t.Context(), name, r, times, every); err != nil {
			t.Fatal(err)
		}
		if took, least := time.Since(begun), time.Duration(times)*every; took < least {
			t.Errorf("%s took %v, want %v at least", name, took, least)
		}
	}
	must("list", Request{Method: ListPods, Fields: "metadata.name"}, 1)
	must("get", Request{Method: GetPod, UID: "uid"}, 1)
	must("none", Request{Method: GetPod, UID: "other"}, 1)
	n.answers(status.Error(codes.FailedPrecondition, "not yet"))
	must("refused", Request{Method: ListPods}, 2)
	must("watch", Request{Method: WatchPods}, 1)
	must("what", Request{Method: "PatchPods"}, 1)
	must("other service", Request{Method: ListPods, Service: "v9.Pods"}, 1)

	type summary struct {
		method, code, message string
		pods, bytes           int
	}
	var got []summary
	for _, answer := range recorded[record.PodsAnswer](history) {
		got = append(got, summary{answer.Method, answer.Code, answer.Message, len(answer.List), answer.Bytes})
		if answer.Node != "node-a" || answer.Socket.Path != Places[0] || answer.Socket.Mode != "srw-------" || answer.Socket.DirMode != "drwx------" {
			t.Errorf("the node is %q, its socket %+v", answer.Node, answer.Socket)
		}
	}
	size := len(encoded(t, "web"))
	want := []summary{
		{ListPods, "OK", "", 2, size + len("garbage")},
		{GetPod, "OK", "", 1, size},
		{GetPod, "NotFound", "no other", 0, 0},
		{ListPods, "FailedPrecondition", "not yet", 0, 0},
		{ListPods, "FailedPrecondition", "not yet", 0, 0},
		{WatchPods, "FailedPrecondition", "not yet", 0, 0},
		{"PatchPods", "Unimplemented", "there is no method PatchPods", 0, 0},
		{ListPods, "Unimplemented", "unknown service v9.Pods", 0, 0},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(summary{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	list := recorded[record.PodsAnswer](history)[0].List
	var web corev1.Pod
	if err := json.Unmarshal(list[0], &web); err != nil || web.Name != "web" {
		t.Errorf("the first pod is %s: %v", list[0], err)
	}
	var bad map[string]string
	if err := json.Unmarshal(list[1], &bad); err != nil || bad[Unreadable] == "" {
		t.Errorf("what can't be read is %s: %v", list[1], err)
	}
	if n.masks[0] != "metadata.name" || n.masks[1] != "" {
		t.Errorf("the masks were %q", n.masks)
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	a := &Agent{Node: "node-a", Root: t.TempDir(), Recorder: history}
	if err := a.Ask(t.Context(), "list", Request{Method: ListPods}, 1, 0); err != nil {
		t.Fatal(err)
	}
	answer := recorded[record.PodsAnswer](history)[0]
	if answer.Code != "Unavailable" || answer.Socket != (record.PodsSocket{}) {
		t.Errorf("%+v", answer)
	}
}

func TestAPollRecordsWhatChanges(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[1])
	a, history := newAgent(t, n)
	n.answers(nil, encoded(t, "web"))
	if err := a.Poll(t.Context(), "poll", Request{Method: ListPods}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	views := func() []record.PodsPolled { return recorded[record.PodsPolled](history) }
	awaitRecord(t, history, func() bool { return len(views()) == 1 })
	limited := status.Error(codes.ResourceExhausted, "too many")
	n.answers(limited)
	asked := n.count() // refused for their rate: nothing is recorded
	if !await.Until(t.Context(), patience, func() bool { return n.count() >= asked+3 }) {
		t.Fatal("it asks no more")
	}
	n.answers(status.Error(codes.FailedPrecondition, "not yet"))
	awaitRecord(t, history, func() bool { return len(views()) == 2 })
	n.answers(nil, encoded(t, "web"))
	awaitRecord(t, history, func() bool { return len(views()) == 3 })
	if !a.End("poll") || a.End("poll") {
		t.Error("it does not end once")
	}
	var codes []string
	for _, v := range views() {
		codes = append(codes, v.Code)
	}
	if diff := cmp.Diff([]string{"OK", "FailedPrecondition", "OK"}, codes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	end := recorded[record.PodsEnded](history)
	if len(end) != 1 || end[0].Code != "Canceled" || end[0].Calls["ResourceExhausted"] < 2 || end[0].Calls["OK"] < 2 {
		t.Errorf("it ended as %+v", end)
	}
}

func (n *node) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls
}

func TestAHeldWatchReadsOnDemand(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[1])
	a, history := newAgent(t, n)
	events := func() int { return len(recorded[record.PodsEvent](history)) }
	held := make(chan error)
	go func() { held <- a.Hold(t.Context(), "held", "") }()
	n.events <- &v1alpha1.WatchPodsEvent{Type: v1alpha1.EventType_ADDED, Pod: encoded(t, "web")}
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	n.events <- &v1alpha1.WatchPodsEvent{Type: v1alpha1.EventType_MODIFIED, Pod: encoded(t, "web")}
	if events() != 0 || a.Release("other") || !a.Release("held") {
		t.Errorf("it read %d events before its release, or can't be released", events())
	}
	awaitRecord(t, history, func() bool { return events() == 2 })
	if err := (&Agent{Root: t.TempDir(), Recorder: history}).Hold(t.Context(), "absent", ""); err != nil {
		t.Fatal(err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[0])
	if err := Remove(n.root); err != nil {
		t.Fatal(err)
	}
	if _, found := Find(n.root); found.Path != "" || Remove(n.root) == nil {
		t.Errorf("%+v is left", found)
	}
}

func TestAWatchIsRecordedUntilItEnds(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[1])
	a, history := newAgent(t, n)
	if err := a.Watch(t.Context(), "watch", "", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*v1alpha1.WatchPodsEvent{
		{Type: v1alpha1.EventType_ADDED, Pod: encoded(t, "web")},
		{Type: v1alpha1.EventType_INITIAL_SYNC_COMPLETE},
		{Type: v1alpha1.EventType_DELETED, Pod: encoded(t, "web")},
	} {
		n.events <- e
	}
	close(n.events)
	awaitRecord(t, history, func() bool { return len(recorded[record.PodsEnded](history)) == 1 })
	var types []string
	for _, e := range recorded[record.PodsEvent](history) {
		types = append(types, e.Type)
	}
	if diff := cmp.Diff([]string{"ADDED", "INITIAL_SYNC_COMPLETE", "DELETED"}, types); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if end := recorded[record.PodsEnded](history)[0]; end.Code != "ResourceExhausted" || end.Message != "too slow" {
		t.Errorf("it ended as %+v", end)
	}
}

func TestClosingEndsWhatGoesOn(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[1])
	a, history := newAgent(t, n)
	if err := errors.Join(a.Watch(t.Context(), "watch", "", 0), a.Poll(t.Context(), "poll", Request{Method: ListPods}, time.Hour)); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if ends := recorded[record.PodsEnded](history); len(ends) != 2 {
		t.Errorf("they ended as %+v", ends)
	}
}
