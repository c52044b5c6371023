package runtime

import (
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

func TestWhatARebootLeaves(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	runs := g.start(t, pod, containerConfig("runs", "ignore"))
	created := g.create(t, pod, containerConfig("created", "ignore"))
	over := g.start(t, pod, containerConfig("over", "exit", "3"))
	g.exited(t, over)

	if err := g.Reboot(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]*cri.ContainerStatus{
		runs:    {State: cri.ContainerState_CONTAINER_EXITED, ExitCode: 255, Reason: "Unknown"},
		created: {State: cri.ContainerState_CONTAINER_CREATED},
		over:    {State: cri.ContainerState_CONTAINER_EXITED, ExitCode: 3, Reason: "Error"},
	} {
		if got := g.status(t, id); got.State != want.State || got.ExitCode != want.ExitCode || got.Reason != want.Reason || got.FinishedAt == 0 != (id == created) {
			t.Errorf("%s is %v, exit %d %s at %d, want %v", got.Metadata.Name, got.State, got.ExitCode, got.Reason, got.FinishedAt, want)
		}
	}
	if ip := g.ip(t, pod); ip != "" {
		t.Errorf("the sandbox still has the address %s", ip)
	}
	for _, exit := range record.All[record.ContainerExited](g.history.Events()) {
		if exit.Signal != "" {
			t.Errorf("a container was sent %s", exit.Signal)
		}
	}
	if n := count[record.SandboxStopped](g); n != 1 {
		t.Errorf("%d sandboxes were recorded as stopped", n)
	}

	// The kubelet makes the next attempts.
	config := podConfig(g, "web")
	config.Metadata.Attempt = 1
	next := g.start(t, g.runPod(t, config), containerConfig("runs", "ignore"))
	if got := g.status(t, next); got.State != cri.ContainerState_CONTAINER_RUNNING {
		t.Errorf("after the reboot, a container is %v", got.State)
	}
	if err := g.Reboot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count[record.SandboxStopped](g); n != 2 {
		t.Errorf("%d sandboxes were recorded as stopped, of which the first was before", n)
	}
}

func count[T record.Payload](g *rig) (n int) {
	for range record.All[T](g.history.Events()) {
		n++
	}
	return n
}
