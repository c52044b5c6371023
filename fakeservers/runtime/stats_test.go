package runtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestStatsAreThoseOfWhatRuns(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	config := containerConfig("app", "obey", "0")
	config.Linux = &cri.LinuxContainerConfig{Resources: &cri.LinuxContainerResources{MemoryLimitInBytes: 64 << 20}}
	running := g.start(t, pod, config)
	exited := g.start(t, pod, containerConfig("done", "exit", "0"))
	g.exited(t, exited)

	list, err := g.ListContainerStats(t.Context(), &cri.ListContainerStatsRequest{Filter: &cri.ContainerStatsFilter{PodSandboxId: pod}})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Stats) != 1 || list.Stats[0].Attributes.Id != running {
		t.Fatalf("stats %v, want those of %s only", list.Stats, running)
	}
	one, err := g.ContainerStats(t.Context(), &cri.ContainerStatsRequest{ContainerId: running})
	if err != nil {
		t.Fatal(err)
	}
	before, after := list.Stats[0], one.Stats
	if after.Cpu.UsageCoreNanoSeconds.Value <= before.Cpu.UsageCoreNanoSeconds.Value {
		t.Errorf("CPU time went from %v to %v", before.Cpu.UsageCoreNanoSeconds, after.Cpu.UsageCoreNanoSeconds)
	}
	if after.Memory.WorkingSetBytes.Value != 8<<20 || after.Memory.AvailableBytes.Value != 56<<20 {
		t.Errorf("memory %v", after.Memory)
	}
	if after.Attributes.Metadata.Name != "app" || after.WritableLayer.FsId.Mountpoint == "" || after.Swap == nil {
		t.Errorf("stats %v", after)
	}
	_, err = g.ContainerStats(t.Context(), &cri.ContainerStatsRequest{ContainerId: exited})
	wantCode(t, err, codes.FailedPrecondition, "CONTAINER_EXITED")
	_, err = g.ContainerStats(t.Context(), &cri.ContainerStatsRequest{ContainerId: "unknown"})
	wantCode(t, err, codes.NotFound, `"unknown"`)
}

// TestFilesTakeSpace: of a container and of the runtime, also when it has ended.
func TestFilesTakeSpace(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	layer := func() uint64 {
		t.Helper()
		resp, err := g.ContainerStats(t.Context(), &cri.ContainerStatsRequest{ContainerId: id})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Stats.WritableLayer.UsedBytes.Value
	}
	disk := func() uint64 {
		t.Helper()
		info, err := g.images.ImageFsInfo(t.Context(), &cri.ImageFsInfoRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return info.ContainerFilesystems[0].UsedBytes.Value
	}
	idle := layer()
	if before := disk(); before != idle {
		t.Errorf("the file system of containers has %d bytes, its only one %d", before, idle)
	}
	resp, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"write", "/big", "1000000"}})
	if err != nil || resp.ExitCode != 0 {
		t.Fatal(resp, err)
	}
	if got := layer() - idle; got != 1_000_000 {
		t.Errorf("the container has %d bytes more", got)
	}
	g.stopWithin(t, id, 1)
	if got := disk() - idle; got != 1_000_000 {
		t.Errorf("the file system of containers has %d bytes more", got)
	}
}

func TestSandboxStats(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	web, idle := g.pod(t, "web"), g.pod(t, "idle")
	id := g.start(t, web, containerConfig("app", "obey", "0"))

	for filter, want := range map[*cri.PodSandboxStatsFilter][]string{
		nil:        {web, idle},
		{Id: idle}: {idle},
		{LabelSelector: map[string]string{"io.kubernetes.pod.uid": "uid-web"}}: {web},
	} {
		resp, err := g.ListPodSandboxStats(t.Context(), &cri.ListPodSandboxStatsRequest{Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range resp.Stats {
			got = append(got, s.Attributes.Id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %v (-want +got):\n%s", filter, diff)
		}
	}
	resp, err := g.PodSandboxStats(t.Context(), &cri.PodSandboxStatsRequest{PodSandboxId: web})
	if err != nil {
		t.Fatal(err)
	}
	linux := resp.Stats.Linux
	if len(linux.Containers) != 1 || linux.Containers[0].Attributes.Id != id || linux.Process.ProcessCount.Value != 1 {
		t.Errorf("stats %v, want those of one container", linux)
	}
	if linux.Cpu.Timestamp <= 0 || linux.Memory.WorkingSetBytes.Value != 8<<20 || linux.Network.DefaultInterface == nil {
		t.Errorf("stats %v", linux)
	}
	_, err = g.PodSandboxStats(t.Context(), &cri.PodSandboxStatsRequest{PodSandboxId: "unknown"})
	wantCode(t, err, codes.NotFound, `"unknown"`)
}
