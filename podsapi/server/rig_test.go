package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/podsapi/internal/samples"
	"github.com/skewrig/skewrig/podsapi/mask"
)

// deadline bounds every wait for a condition that is sure to come.
const deadline = 3 * time.Minute

// rig is a server and a client of it.
type rig struct {
	*Server
	pods.PodsClient
	conn *grpc.ClientConn
}

// newRig serves without a limit of calls, on a node that is ready.
func newRig(t testing.TB) *rig { return newRigWith(t, Config{Open: true}) }

func newRigWith(t testing.TB, config Config) *rig {
	t.Helper()
	config.Socket = filepath.Join(socketDir(t), "pods.sock")
	s, err := Listen(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.SetReady(true)
	g := &rig{Server: s}
	g.conn = g.connect(t)
	g.PodsClient = pods.NewPodsClient(g.conn)
	return g
}

func (g *rig) connect(t testing.TB) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+g.Socket(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// socketDir returns a directory whose path is short enough for a socket, which
// that of t.TempDir may not be.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pods") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (g *rig) set(t testing.TB, pods ...*corev1.Pod) {
	t.Helper()
	if err := g.Set(pods...); err != nil {
		t.Fatal(err)
	}
}

// small returns a pod with a number, a phase and little else.
func small(number int, phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Namespace, p.UID = fmt.Sprint("pod-", number), "default", samples.UID(number)
	p.Spec.NodeName = "node-a"
	p.Status.Phase = phase
	return p
}

// masked makes a context for calls with a mask.
func masked(ctx context.Context, values ...string) context.Context {
	for _, value := range values {
		ctx = metadata.AppendToOutgoingContext(ctx, mask.MetadataKey, value)
	}
	return ctx
}

func decode(t testing.TB, wire []byte) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if err := p.Unmarshal(wire); err != nil {
		t.Fatal(err)
	}
	return p
}

// names returns the names of the pods of a list.
func names(t testing.TB, list *pods.ListPodsResponse) string {
	t.Helper()
	var names []string
	for _, wire := range list.GetPods() {
		names = append(names, decode(t, wire).Name)
	}
	return strings.Join(names, " ")
}

// watch is an open watch, whose events are read when they are asked for.
type watch struct {
	grpc.ServerStreamingClient[pods.WatchPodsEvent]
}

func (g *rig) watch(t testing.TB, mask ...string) watch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	stream, err := g.WatchPods(masked(ctx, mask...), &pods.WatchPodsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return watch{stream}
}

// next returns the next event in short, such as "ADDED pod-1 Running".
func (w watch) next(t testing.TB) string {
	t.Helper()
	event, err := w.Recv()
	if err != nil {
		return status.Code(err).String()
	}
	if event.Type == pods.EventType_INITIAL_SYNC_COMPLETE {
		if event.Pod != nil {
			t.Errorf("the end of the initial pods has a pod")
		}
		return event.Type.String()
	}
	p := decode(t, event.Pod)
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", event.Type, p.Name, p.Status.Phase)), " ")
}

func (w watch) expect(t testing.TB, want ...string) {
	t.Helper()
	for _, event := range want {
		if got := w.next(t); got != event {
			t.Fatalf("the next event is %q, want %q", got, event)
		}
	}
}

// drain reads a watch up to an event.
func (w watch) drain(t testing.TB, last string) {
	t.Helper()
	for {
		event := w.next(t)
		if event == last {
			return
		}
		if !strings.Contains(event, " ") && event != "INITIAL_SYNC_COMPLETE" {
			t.Fatalf("the watch ended with %s before %q", event, last)
		}
	}
}

// eventually waits for a condition that becomes true on its own.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	if !await.Until(t.Context(), deadline, done) {
		t.Fatalf("waited %s in vain until %s", deadline, what)
	}
}

func wantCode(t testing.TB, err error, want codes.Code, contains ...string) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("error %v, want code %s", err, want)
	}
	for _, text := range contains {
		if !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("error %v doesn't say %q", err, text)
		}
	}
}

// client returns what the n-th client did.
func (g *rig) client(t testing.TB, n int) Client {
	t.Helper()
	all := g.Clients()
	if len(all) <= n {
		t.Fatalf("%d clients, want more than %d", len(all), n)
	}
	return all[n]
}

func (g *rig) metrics(t testing.TB) string {
	t.Helper()
	var text strings.Builder
	for _, family := range g.Metrics() {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

func uidOf(number int) types.UID { return samples.UID(number) }
