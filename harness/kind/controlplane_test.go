package kind

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

// onRuntime is a control plane whose container runtime knows no container that runs, and answers a question after the other
// for the status of one. Once it has no answer left, it knows no such container.
func onRuntime(t *testing.T, answered func(), answers ...*cri.ContainerStatus) *controlPlane {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///none", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
			into, is := reply.(*cri.ContainerStatusResponse)
			switch {
			case !is:
				return nil
			case len(answers) == 0:
				return status.Error(codes.NotFound, "no such container")
			}
			into.Status, answers = answers[0], answers[1:]
			answered()
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &controlPlane{conn: conn}
}

var (
	runs   = &cri.ContainerStatus{State: cri.ContainerState_CONTAINER_RUNNING}
	exited = &cri.ContainerStatus{State: cri.ContainerState_CONTAINER_EXITED, ExitCode: 2, FinishedAt: 1e9}
)

// TestAComponentThatHasStopped: how it has ended is asked for until it is known, and is never made up.
func TestAComponentThatHasStopped(t *testing.T) {
	t.Parallel()
	end, err := onRuntime(t, func() {}, runs, exited).awaitStopped(t.Context(), record.Scheduler, "a")
	if want := (End{Code: 2, At: time.Unix(1, 0)}); err != nil || end != want {
		t.Errorf("%+v, %v, want %+v", end, err, want)
	}
	end, err = onRuntime(t, func() {}).awaitStopped(t.Context(), record.Scheduler, "a")
	if status.Code(err) != codes.NotFound || !end.At.IsZero() {
		t.Errorf("of a container that was removed: %+v, %v", end, err)
	}
	k := &Cluster{controlPlane: onRuntime(t, func() {}, exited)}
	k.lasting = t.Context()
	k.containerEnded("a")
	if end, err = k.controlPlane.awaitStopped(t.Context(), record.Scheduler, "a"); err != nil || end.Code != 2 {
		t.Errorf("of one whose end was heard of before it was removed: %+v, %v", end, err)
	}
}

// TestAwaitEnd: a container that still runs has no end.
func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if s := onRuntime(t, cancel, runs).awaitEnd(ctx, "a"); s != nil {
		t.Errorf("while it runs: %v", s)
	}
	if end := endOf(runs); end != (End{}) {
		t.Errorf("while it runs: %+v", end)
	}
	if s := onRuntime(t, func() {}, runs, exited).awaitEnd(t.Context(), "a"); s != exited {
		t.Errorf("when it has ended: %v", s)
	}
}
