package runtime

import (
	"context"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Next to nothing is measured: programs share this process. What is reported are
// the figures of a small program that is nearly idle, the same for all, so that a
// kubelet's summaries are complete. What differs are the files that containers
// make: a pod can be evicted for those, and for nothing else.
const (
	idleMemoryBytes    = 8 << 20
	idleNanoCores      = 1_000_000 // a thousandth of a core
	writableLayerBytes = 4 << 10
)

// ContainerStats returns the stats of a container that runs.
func (s runtimeService) ContainerStats(_ context.Context, req *cri.ContainerStatsRequest) (*cri.ContainerStatsResponse, error) {
	c, err := s.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &cri.ContainerStatsResponse{Stats: s.containerStats(c, time.Now().UnixNano())}, nil
}

// ListContainerStats returns the stats of the containers that run and match
// the filter.
func (s runtimeService) ListContainerStats(_ context.Context, req *cri.ListContainerStatsRequest) (*cri.ListContainerStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().UnixNano()
	resp := &cri.ListContainerStatsResponse{}
	for _, c := range s.selectContainers(runningOnly(req.GetFilter())) {
		resp.Stats = append(resp.Stats, s.containerStats(c, now))
	}
	return resp, nil
}

// PodSandboxStats returns the stats of a sandbox and its running containers.
func (s runtimeService) PodSandboxStats(_ context.Context, req *cri.PodSandboxStatsRequest) (*cri.PodSandboxStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.sandboxes[req.GetPodSandboxId()]
	if !ok {
		return nil, notFound("pod sandbox", req.GetPodSandboxId())
	}
	return &cri.PodSandboxStatsResponse{Stats: s.sandboxStats(b, time.Now().UnixNano())}, nil
}

// ListPodSandboxStats returns the stats of the sandboxes that match the filter.
func (s runtimeService) ListPodSandboxStats(_ context.Context, req *cri.ListPodSandboxStatsRequest) (*cri.ListPodSandboxStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().UnixNano()
	resp := &cri.ListPodSandboxStatsResponse{}
	filter := &cri.PodSandboxFilter{Id: req.GetFilter().GetId(), LabelSelector: req.GetFilter().GetLabelSelector()}
	for _, b := range s.selectSandboxes(filter) {
		resp.Stats = append(resp.Stats, s.sandboxStats(b, now))
	}
	return resp, nil
}

// containerStats is called with mu held.
func (r *Runtime) containerStats(c *container, now int64) *cri.ContainerStats {
	memory := memoryUsage(now, 1)
	if limit := c.resources.GetMemoryLimitInBytes(); limit > idleMemoryBytes {
		memory.AvailableBytes = uint64Value(uint64(limit - idleMemoryBytes))
	}
	return &cri.ContainerStats{
		Attributes: &cri.ContainerAttributes{
			Id:          c.id,
			Metadata:    c.config.Metadata,
			Labels:      c.config.Labels,
			Annotations: c.config.Annotations,
		},
		Cpu:           cpuUsage(now, c.startedAt, 1),
		Memory:        memory,
		WritableLayer: r.usage(now, c.layerBytes(), 1),
		Swap:          &cri.SwapUsage{Timestamp: now, SwapAvailableBytes: uint64Value(0), SwapUsageBytes: uint64Value(0)},
	}
}

// layerBytes is the size of a container's writable layer, which stays when the
// container has ended. It is called with mu held.
func (c *container) layerBytes() uint64 {
	if c.process == nil {
		return writableLayerBytes
	}
	return writableLayerBytes + c.process.program.Files.Bytes()
}

// sandboxStats is called with mu held.
func (r *Runtime) sandboxStats(b *sandbox, now int64) *cri.PodSandboxStats {
	var containers []*cri.ContainerStats
	for _, c := range r.selectContainers(runningOnly(&cri.ContainerStatsFilter{PodSandboxId: b.id})) {
		containers = append(containers, r.containerStats(c, now))
	}
	return &cri.PodSandboxStats{
		Attributes: &cri.PodSandboxAttributes{
			Id:          b.id,
			Metadata:    b.config.Metadata,
			Labels:      b.config.Labels,
			Annotations: b.config.Annotations,
		},
		Linux: &cri.LinuxPodSandboxStats{
			Cpu:        cpuUsage(now, b.createdAt, len(containers)),
			Memory:     memoryUsage(now, len(containers)),
			Network:    networkUsage(now),
			Process:    &cri.ProcessUsage{Timestamp: now, ProcessCount: uint64Value(uint64(len(containers)))},
			Containers: containers,
		},
	}
}

// cpuUsage grows with the time since something began: a counter that stood
// still, or fell, would look like a restart.
func cpuUsage(now, since int64, programs int) *cri.CpuUsage {
	const nanosecondsPerSecond = uint64(time.Second)
	lifetime := uint64(max(now-since, 0))
	return &cri.CpuUsage{
		Timestamp:            now,
		UsageCoreNanoSeconds: uint64Value(lifetime / (nanosecondsPerSecond / idleNanoCores)),
		UsageNanoCores:       uint64Value(uint64(programs) * idleNanoCores),
	}
}

func memoryUsage(now int64, programs int) *cri.MemoryUsage {
	bytes := uint64(programs) * idleMemoryBytes
	return &cri.MemoryUsage{
		Timestamp:       now,
		WorkingSetBytes: uint64Value(bytes),
		UsageBytes:      uint64Value(bytes),
		RssBytes:        uint64Value(bytes),
		PageFaults:      uint64Value(0),
		MajorPageFaults: uint64Value(0),
	}
}

func networkUsage(now int64) *cri.NetworkUsage {
	return &cri.NetworkUsage{Timestamp: now, DefaultInterface: &cri.NetworkInterfaceUsage{
		Name:     "eth0",
		RxBytes:  uint64Value(0),
		RxErrors: uint64Value(0),
		TxBytes:  uint64Value(0),
		TxErrors: uint64Value(0),
	}}
}

// usage describes files on the runtime's file system.
func (r *Runtime) usage(now int64, bytes uint64, files int) *cri.FilesystemUsage {
	return &cri.FilesystemUsage{
		Timestamp:  now,
		FsId:       &cri.FilesystemIdentifier{Mountpoint: r.mountpoint},
		UsedBytes:  uint64Value(bytes),
		InodesUsed: uint64Value(uint64(files)),
	}
}

func uint64Value(n uint64) *cri.UInt64Value { return &cri.UInt64Value{Value: n} }
