package kind

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/record"
)

// onRuntime is a control plane whose container runtime knows no container that runs, and answers a question after the other
// for the status of one. Once it has no answer left, it knows no such container.
func onRuntime(t *testing.T, answered func(), answers ...*cri.ContainerStatus) *controlPlane {
	t.Helper()
	return asked(t, func(reply any) error {
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
	})
}

// asked is a control plane whose container runtime answers a question by what a function writes.
func asked(t *testing.T, answer func(reply any) error) *controlPlane {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///none", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
			return answer(reply)
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
	unheard, cancel := context.WithTimeout(t.Context(), 2*readyPoll)
	defer cancel()
	end, err = onRuntime(t, func() {}).awaitStopped(unheard, record.Scheduler, "a")
	if status.Code(err) != codes.NotFound || !end.At.IsZero() {
		t.Errorf("of a container that was removed: %+v, %v", end, err)
	}
	k := &Cluster{controlPlane: onRuntime(t, func() {}, exited)}
	k.lasting = t.Context()
	k.containerEnded(containerd.Exit{Container: "a", Code: 2, At: time.Unix(1, 0)})
	if end, err = k.controlPlane.awaitStopped(t.Context(), record.Scheduler, "a"); err != nil || end.Code != 2 {
		t.Errorf("of one whose end was heard of before it was removed: %+v, %v", end, err)
	}
}

// TestASlowNode says late that a container has ended. An end is not lost for that.
func TestASlowNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := append(slices.Repeat([]*cri.ContainerStatus{runs}, 300), exited) // a minute
		if s, err := onRuntime(t, func() {}, late...).awaitEnd(t.Context(), "a"); err != nil || s != exited {
			t.Errorf("when it has ended: %v, %v", s, err)
		}
		c := onRuntime(t, func() {})
		time.AfterFunc(time.Minute, func() { c.ends.Store("a", End{Code: 2}) })
		if end, err := c.awaitStopped(t.Context(), record.Scheduler, "a"); err != nil || end.Code != 2 {
			t.Errorf("when it was removed: %+v, %v", end, err)
		}
	})
}

// TestAComponentWhoseContainerIsRemovedAtOnce: how it has ended is what its node says, however late.
func TestAComponentWhoseContainerIsRemovedAtOnce(t *testing.T) {
	t.Parallel()
	var c *controlPlane
	asks := 0
	c = asked(t, func(reply any) error {
		if _, is := reply.(*cri.ContainerStatusResponse); !is {
			return nil
		}
		if asks++; asks == 2 {
			c.ends.Store("a", End{Code: 2, At: time.Unix(1, 0)})
		}
		return status.Error(codes.NotFound, "no such container")
	})
	end, err := c.awaitStopped(t.Context(), record.Scheduler, "a")
	if want := (End{Code: 2, At: time.Unix(1, 0)}); err != nil || end != want {
		t.Errorf("%+v, %v, want %+v", end, err, want)
	}
}

// TestAwaitEnd: a container that still runs has no end.
func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if s, err := onRuntime(t, cancel, runs).awaitEnd(ctx, "a"); s != nil || err == nil {
		t.Errorf("while it runs: %v, %v", s, err)
	}
	if end := endOf(runs); end != (End{}) {
		t.Errorf("while it runs: %+v", end)
	}
	if s, err := onRuntime(t, func() {}, runs, exited).awaitEnd(t.Context(), "a"); s != exited || err != nil {
		t.Errorf("when it has ended: %v, %v", s, err)
	}
}

// TestAnEndThatIsNotKnown is a loss of all components of the control plane: it may be of any. That of a container which is
// none, or is removed, is not.
func TestAnEndThatIsNotKnown(t *testing.T) {
	t.Parallel()
	for code, want := range map[codes.Code]int{codes.Unavailable: len(components), codes.NotFound: 0} {
		t.Run(code.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				history := record.NewHistory(nil)
				k := &Cluster{config: Config{Recorder: history}, controlPlane: asked(t, func(any) error { return status.Error(code, "no answer") })}
				k.lasting = t.Context()
				k.containerEnded(containerd.Exit{Container: "a"})
				lost := lossesIn(history)
				if len(lost) != want || want > 0 && !strings.HasPrefix(lost[0], `component.stopped of "kube-apiserver" over: false: waiting for how container a has ended: `) {
					t.Errorf("lost %q", lost)
				}
			})
		})
	}
	if s, err := onRuntime(t, func() {}).awaitEnd(t.Context(), "a"); err != nil || s != nil {
		t.Errorf("of a sandbox: %v, %v", s, err)
	}
}

// TestAComponentThatCanNotBeEnded is not away, and the kubelet is not either.
func TestAComponentThatCanNotBeEnded(t *testing.T) {
	programs := t.TempDir()
	commands := filepath.Join(programs, "commands")
	for name, script := range map[string]string{"systemctl": "", "ctr": "echo no such task >&2; exit 1", "rm": ""} {
		text := "#!/bin/sh\necho " + name + " $1 >>" + commands + "\n" + script
		if err := os.WriteFile(filepath.Join(programs, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	inPlaceOfDocker(t, "PATH="+programs+":$PATH; shift 2; exec \"$@\"")
	k := &Cluster{controlPlane: asked(t, func(reply any) error {
		if list, is := reply.(*cri.ListContainersResponse); is {
			list.Containers = []*cri.Container{{Id: "a", State: cri.ContainerState_CONTAINER_RUNNING}}
		}
		return nil
	})}
	k.controlPlane.container = "cell-control-plane"
	if _, err := k.KillComponent(t.Context(), record.Scheduler); err == nil || !strings.Contains(err.Error(), "no such task") {
		t.Errorf("%v, want why it can't be killed", err)
	}
	want := "systemctl stop\nctr --namespace=k8s.io\nsystemctl start\n"
	if got, err := os.ReadFile(commands); string(got) != want {
		t.Errorf("the node ran\n%s%v, want\n%s", got, err, want)
	}
	if k.away.cover(record.Scheduler, time.Now()) {
		t.Error("its next end is asked for")
	}
}
