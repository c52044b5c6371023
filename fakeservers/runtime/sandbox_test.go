package runtime

import (
	"maps"
	"net/netip"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

func TestSandboxLifecycle(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := podConfig(g, "web")
	config.Metadata.Attempt = 2
	pod := g.runPod(t, config)
	id := g.start(t, pod, containerConfig("app", "ignore"))

	status := func() *cri.PodSandboxStatus {
		resp, err := g.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: pod})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Status
	}
	ready := status()
	if ready.State != cri.PodSandboxState_SANDBOX_READY || ready.CreatedAt <= 0 || ready.Network.Ip != "127.77.0.2" {
		t.Errorf("ready: %v", ready)
	}
	if ready.Metadata.Attempt != 2 || !maps.Equal(ready.Labels, config.Labels) || !maps.Equal(ready.Annotations, config.Annotations) {
		t.Errorf("metadata not echoed: %v", ready)
	}

	if _, err := g.StopPodSandbox(t.Context(), &cri.StopPodSandboxRequest{PodSandboxId: pod}); err != nil {
		t.Fatal(err)
	}
	if got := status(); got.State != cri.PodSandboxState_SANDBOX_NOTREADY || got.Network.Ip != "" {
		t.Errorf("stopped: %v", got)
	}
	if got := g.status(t, id); got.State != cri.ContainerState_CONTAINER_EXITED || got.ExitCode != 137 {
		t.Errorf("the container of a stopped sandbox: %v", got)
	}

	if _, err := g.RemovePodSandbox(t.Context(), &cri.RemovePodSandboxRequest{PodSandboxId: pod}); err != nil {
		t.Fatal(err)
	}
	_, err := g.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: pod})
	wantCode(t, err, codes.NotFound, pod)
	_, err = g.ContainerStatus(t.Context(), &cri.ContainerStatusRequest{ContainerId: id})
	wantCode(t, err, codes.NotFound, id)
}

func TestRemovingASandboxKillsWhatRunsThere(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	g.start(t, pod, containerConfig("app", "ignore"))
	if _, err := g.RemovePodSandbox(t.Context(), &cri.RemovePodSandboxRequest{PodSandboxId: pod}); err != nil {
		t.Fatal(err)
	}
	if exit := onlyExit(t, g); exit.ExitCode != 137 {
		t.Errorf("exit %+v, want code 137", exit)
	}
	if left := g.Containers(); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

// A kubelet repeats these calls until they succeed, also for what is gone.
func TestStoppingAndRemovingAreIdempotent(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	created := g.create(t, pod, containerConfig("created", "exit", "0"))
	running := g.start(t, pod, containerConfig("running", "obey", "0"))
	ctx := t.Context()

	for range 2 {
		for _, id := range []string{created, running, "unknown"} {
			if _, err := g.StopContainer(ctx, &cri.StopContainerRequest{ContainerId: id, Timeout: 30}); err != nil {
				t.Errorf("stopping container %s: %v", id, err)
			}
		}
	}
	if got := g.status(t, created); got.State != cri.ContainerState_CONTAINER_CREATED {
		t.Errorf("stopping a container that never ran left it in state %s", got.State)
	}
	another := g.start(t, pod, containerConfig("another", "ignore"))
	for range 2 {
		for _, id := range []string{created, running, another, "unknown"} {
			if _, err := g.RemoveContainer(ctx, &cri.RemoveContainerRequest{ContainerId: id}); err != nil {
				t.Errorf("removing container %s: %v", id, err)
			}
		}
		for _, id := range []string{pod, "unknown"} {
			if _, err := g.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
				t.Errorf("stopping sandbox %s: %v", id, err)
			}
		}
	}
	for range 2 {
		for _, id := range []string{pod, "unknown"} {
			if _, err := g.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
				t.Errorf("removing sandbox %s: %v", id, err)
			}
		}
	}
	stops := 0
	for range record.All[record.SandboxStopped](g.history.Events()) {
		stops++
	}
	if stops != 1 {
		t.Errorf("sandbox.stopped was recorded %d times, want once", stops)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	g := newRigOn(t, "127.77.8.0/29") // .0 is the address of the network, .1 of the node, .7 for broadcasts
	var pods []string
	for i, want := range []string{"127.77.8.2", "127.77.8.3", "127.77.8.4", "127.77.8.5", "127.77.8.6"} {
		pods = append(pods, g.pod(t, string(rune('a'+i))))
		if got := g.ip(t, pods[i]); got != want {
			t.Errorf("pod %d has address %s, want %s", i, got, want)
		}
	}
	full := &cri.RunPodSandboxRequest{Config: podConfig(g, "one-more")}
	_, err := g.RunPodSandbox(t.Context(), full)
	wantCode(t, err, codes.ResourceExhausted, "no free pod address in 127.77.8.0/29: all 5 are held")

	for _, i := range []int{3, 1} {
		if _, err := g.StopPodSandbox(t.Context(), &cri.StopPodSandboxRequest{PodSandboxId: pods[i]}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = g.RunPodSandbox(t.Context(), full)
	wantCode(t, err, codes.ResourceExhausted, "no free pod address") // stopped sandboxes keep theirs
	for _, i := range []int{3, 1, 1} {
		if _, err := g.RemovePodSandbox(t.Context(), &cri.RemovePodSandboxRequest{PodSandboxId: pods[i]}); err != nil {
			t.Fatal(err)
		}
	}
	for _, next := range []struct{ name, want string }{{"one-more", "127.77.8.3"}, {"and-one", "127.77.8.5"}} {
		if got := g.ip(t, g.pod(t, next.name)); got != next.want {
			t.Errorf("pod %s has address %s, want %s: the lowest that is free", next.name, got, next.want)
		}
	}
}

// Two calls that remove a sandbox at once may both have found it there.
func TestAnAddressIsFreedOnce(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	first := g.sandbox(g.pod(t, "first"))
	g.forgetSandbox(first)
	second := g.pod(t, "second")
	g.forgetSandbox(first)
	if a, b := g.ip(t, second), g.ip(t, g.pod(t, "third")); a == b {
		t.Errorf("two pods have address %s", a)
	}
}

func TestHostNetworkPod(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := podConfig(g, "agent")
	config.Hostname = ""
	config.Linux = &cri.LinuxPodSandboxConfig{SecurityContext: &cri.LinuxSandboxSecurityContext{
		NamespaceOptions: &cri.NamespaceOption{Network: cri.NamespaceMode_NODE},
	}}
	pod := g.runPod(t, config)
	id := g.start(t, pod, containerConfig("app", "environment"))
	g.exited(t, id)
	if log := g.logged(t, id); len(log) != 1 || !strings.HasPrefix(log[0], "stdout F default/agent/app 127.77.0.1 ") {
		t.Errorf("log %q, want the node's address", log)
	}
	resp, err := g.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: pod, Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	if resp.Status.Network.Ip != "" {
		t.Errorf("the kubelet gets address %s, want none", resp.Status.Network.Ip)
	}
	if mode := resp.Status.Linux.Namespaces.Options.Network; mode != cri.NamespaceMode_NODE {
		t.Errorf("network namespace %s: a kubelet would make the sandbox anew", mode)
	}
	if want := `{"ip":"127.77.0.1","hostNetwork":true}`; resp.Info["info"] != want {
		t.Errorf("info %s, want %s", resp.Info["info"], want)
	}
	if got := g.ip(t, g.pod(t, "web")); got != "127.77.0.2" {
		t.Errorf("the next pod has address %s, want 127.77.0.2", got)
	}
}

// TestReportedAddresses: a kubelet gets addresses of another range, and containers those that they have.
func TestReportedAddresses(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.config.Reported = netip.MustParsePrefix("240.77.3.0/24")
	web, other := g.pod(t, "web"), g.pod(t, "other")
	host := podConfig(g, "agent")
	host.Linux = &cri.LinuxPodSandboxConfig{SecurityContext: &cri.LinuxSandboxSecurityContext{
		NamespaceOptions: &cri.NamespaceOption{Network: cri.NamespaceMode_NODE},
	}}
	for pod, want := range map[string]string{web: "240.77.3.2", other: "240.77.3.3", g.runPod(t, host): ""} {
		if got := g.ip(t, pod); got != want {
			t.Errorf("the kubelet gets %q, want %q", got, want)
		}
	}
	id := g.start(t, web, containerConfig("app", "environment"))
	g.exited(t, id)
	if log := g.logged(t, id); len(log) != 1 || !strings.HasPrefix(log[0], "stdout F default/web/app 127.77.0.2 ") {
		t.Errorf("log %q, want the address that the pod has", log)
	}
	if _, err := g.StopPodSandbox(t.Context(), &cri.StopPodSandboxRequest{PodSandboxId: web}); err != nil {
		t.Fatal(err)
	}
	if got := g.ip(t, web); got != "" {
		t.Errorf("the kubelet gets %s of a stopped sandbox", got)
	}
}

func TestSandboxesThatAreRefused(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	existing := g.pod(t, "web")
	for name, tc := range map[string]struct {
		req      *cri.RunPodSandboxRequest
		code     codes.Code
		contains string
	}{
		"no metadata":        {&cri.RunPodSandboxRequest{}, codes.InvalidArgument, "no metadata"},
		"unknown handler":    {&cri.RunPodSandboxRequest{Config: podConfig(g, "a"), RuntimeHandler: "gvisor"}, codes.InvalidArgument, `"gvisor"`},
		"same attempt again": {&cri.RunPodSandboxRequest{Config: podConfig(g, "web")}, codes.AlreadyExists, existing},
	} {
		_, err := g.RunPodSandbox(t.Context(), tc.req)
		t.Run(name, func(t *testing.T) { wantCode(t, err, tc.code, tc.contains) })
	}
}

func TestUpdatePodSandboxResources(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	_, err := g.UpdatePodSandboxResources(t.Context(), &cri.UpdatePodSandboxResourcesRequest{
		PodSandboxId: pod, Resources: &cri.LinuxContainerResources{CpuShares: 512},
	})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: pod, Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := `"resources":{"cpu_shares":512}`; !strings.Contains(resp.Info["info"], want) {
		t.Errorf("info %s, want %s in it", resp.Info["info"], want)
	}
	_, err = g.UpdatePodSandboxResources(t.Context(), &cri.UpdatePodSandboxResourcesRequest{PodSandboxId: "unknown"})
	wantCode(t, err, codes.NotFound, `"unknown"`)
}
