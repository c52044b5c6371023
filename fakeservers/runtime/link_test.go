package runtime

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

func (g *rig) fault(t *testing.T, f record.LinkFault) {
	t.Helper()
	if err := g.SetFault(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// ask makes a call, and sends how it ended.
func (g *rig) ask(ctx context.Context) <-chan codes.Code {
	answered := make(chan codes.Code, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		_, err := g.Version(ctx, &cri.VersionRequest{})
		answered <- status.Code(err)
	}()
	return answered
}

// hit returns when n calls have met the fault that there is.
func (g *rig) hit(t *testing.T, n int64) {
	t.Helper()
	if !await.Until(t.Context(), deadline, func() bool { return g.link.Met() == n }) {
		t.Fatalf("%d calls have met the fault, want %d", g.link.Met(), n)
	}
}

func TestAHungRuntimeAnswersOnceItIsHealed(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.fault(t, record.LinkFault{Cut: record.CutDrop})
	answered := g.ask(t.Context())
	impatient, giveUp := context.WithCancel(t.Context())
	givenUp := g.ask(impatient)
	g.hit(t, 2)
	giveUp()
	if got := <-givenUp; got != codes.Canceled {
		t.Errorf("a call of a client that gave up ended with %v", got)
	}
	select {
	case got := <-answered:
		t.Errorf("a call was answered (%v) while the runtime hung", got)
	default:
	}
	g.fault(t, record.LinkFault{})
	if got := <-answered; got != codes.OK {
		t.Errorf("after it was healed, the call ended with %v", got)
	}
	g.checkFaults(t, record.Effect{Requests: 2})
}

func TestADeadRuntimeComesBackWithItsContainers(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	container := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	g.fault(t, record.LinkFault{Cut: record.CutReset})
	for range 3 {
		if got := <-g.ask(t.Context()); got != codes.Unavailable {
			t.Errorf("a call ended with %v", got)
		}
	}
	g.fault(t, record.LinkFault{})
	g.connect(t)
	resp, err := g.ContainerStatus(t.Context(), &cri.ContainerStatusRequest{ContainerId: container})
	if err != nil || resp.Status.State != cri.ContainerState_CONTAINER_RUNNING {
		t.Errorf("the container is %v, error %v", resp.GetStatus().GetState(), err)
	}
	ended := g.faultsEnded()
	if len(ended) != 1 || ended[0].Effect.Reset < 2 {
		t.Errorf("recorded %+v; want two connections that were reset", ended)
	}
}

func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.fault(t, record.LinkFault{Method: "RunPodSandbox", Code: "ResourceExhausted", Message: "no space is left"})
	if got := <-g.ask(t.Context()); got != codes.OK {
		t.Errorf("a call of another method ended with %v", got)
	}
	_, err := g.RunPodSandbox(t.Context(), &cri.RunPodSandboxRequest{Config: podConfig(g, "web")})
	if status.Code(err) != codes.ResourceExhausted || status.Convert(err).Message() != "no space is left" {
		t.Errorf("the call ended with %v", err)
	}
	g.fault(t, record.LinkFault{Method: record.AnyMethod, Code: "Unimplemented"})
	stream, err := g.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Convert(err).Message() != "" || status.Code(err) != codes.Unimplemented {
		t.Errorf("a stream ended with %v", err)
	}
	g.fault(t, record.LinkFault{})
	g.pod(t, "web")
	g.checkFaults(t, record.Effect{Requests: 1}, record.Effect{Requests: 1})
}

func TestACallThatIsLateIsAnsweredOnceItIsHealed(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.fault(t, record.LinkFault{Delay: time.Hour})
	answered := g.ask(t.Context())
	g.hit(t, 1)
	g.fault(t, record.LinkFault{Delay: time.Millisecond})
	if got := <-answered; got != codes.OK {
		t.Errorf("the call ended with %v", got)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	g.checkFaults(t, record.Effect{Requests: 1}, record.Effect{Requests: 1})
}

// TestCodesHaveTheirNumbers: the codes of the record are those of gRPC.
func TestCodesHaveTheirNumbers(t *testing.T) {
	t.Parallel()
	for i, name := range record.Codes {
		if got := codes.Code(i + 1).String(); got != name { //nolint:gosec // there are 16 of them
			t.Errorf("code %d is %s, not %s", i+1, got, name)
		}
	}
	if more := codes.Code(len(record.Codes) + 1).String(); !strings.HasPrefix(more, "Code(") { //nolint:gosec // as above
		t.Errorf("the code %s is missing", more)
	}
}

func TestFaultsThatAreNotOfCalls(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for _, f := range []record.LinkFault{
		{Cut: record.CutDrop, Direction: record.Forward},
		{Cut: record.CutDrop, AfterBytes: 1},
		{Jitter: time.Second},
		{BytesPerSecond: 1},
		{Path: record.AnyPath, Status: 500},
		{Method: record.AnyMethod},
	} {
		if err := g.SetFault(t.Context(), f); err == nil {
			t.Errorf("%+v was set", f)
		}
	}
	if got := <-g.ask(t.Context()); got != codes.OK {
		t.Errorf("a call ended with %v", got)
	}
	g.checkFaults(t)
}

func (g *rig) faultsEnded() (all []record.FaultEnded) {
	for _, ended := range record.All[record.FaultEnded](g.history.Events()) {
		all = append(all, ended)
	}
	return all
}

// checkFaults reports if the effects of the faults that have ended are others.
func (g *rig) checkFaults(t *testing.T, want ...record.Effect) {
	t.Helper()
	ended := g.faultsEnded()
	if len(ended) != len(want) {
		t.Fatalf("recorded the ends of %+v, want %d", ended, len(want))
	}
	for i, e := range ended {
		if e.Effect != want[i] {
			t.Errorf("the effect of fault %d was %+v, want %+v", i, e.Effect, want[i])
		}
	}
}
