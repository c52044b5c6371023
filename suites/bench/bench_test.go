// Package bench measures what docs/benchmarks.md shows, on real components.
package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/engine"
)

// BenchmarkRig measures a cold start, binaries built: etcd, API server and
// kubelets until every node is Ready.
func BenchmarkRig(b *testing.B) {
	for _, nodes := range []int{1, 5} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			builder := built(b)
			var kubelets float64
			for b.Loop() {
				c, err := cluster.New(b.Context(), rig(b, builder, nodes))
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				kubelets = kubeletMegabytes(b, c)
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(kubelets, "MB/kubelet")
		})
	}
}

// BenchmarkCatalog measures a whole run of the catalog.
func BenchmarkCatalog(b *testing.B) {
	builder := built(b)
	all, err := catalog.Cells()
	if err != nil {
		b.Fatal(err)
	}
	cells := catalog.Default(all)
	for b.Loop() {
		peak := watchMemory(b.Context())
		e := &engine.Engine{Binary: builder.Binary, Dir: b.TempDir(), Parallel: 2*runtime.NumCPU() + 1}
		results, err := e.Run(b.Context(), cells)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(peak(), "peak-MB")
		for _, r := range results {
			if r = r.Settled(); !r.Outcome.Judged() {
				b.Errorf("%s: %s %s", r.ID, r.Outcome, r.Reason)
			}
		}
	}
}

func built(b *testing.B) *build.Builder {
	b.Helper()
	builder := new(build.Builder)
	targets := append(build.AllOf(release.Newest), build.Target{Component: build.Kubelet, Version: release.Previous})
	if _, err := builder.Build(b.Context(), targets); err != nil {
		b.Fatal(err)
	}
	return builder
}

func rig(b *testing.B, builder *build.Builder, nodes int) cluster.Config {
	b.Helper()
	topology := record.Topology{Version: release.Newest}
	for i := range nodes {
		topology.Nodes = append(topology.Nodes, record.Node{Name: fmt.Sprintf("node-%d", i), Version: release.Newest})
	}
	library, err := engine.Library(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	config := engine.ClusterConfig(topology, library, nil)
	config.Binary = builder.Binary
	return config
}

// started is a rig that is closed after the benchmark.
func started(b *testing.B, config cluster.Config) *cluster.Cluster {
	b.Helper()
	c, err := cluster.New(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	return c
}

func kubeletMegabytes(b *testing.B, c *cluster.Cluster) float64 {
	b.Helper()
	var sum, count float64
	for _, i := range c.Instances() {
		if strings.HasPrefix(i.Name, "kubelet/") {
			sum, count = sum+resident(i.PID), count+1
		}
	}
	return sum / count
}

// resident is the resident memory of a process in MB, 0 if it is gone.
func resident(pid int) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kB, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			if err != nil {
				return 0
			}
			return kB / 1e3
		}
	}
	return 0
}

// watchMemory samples the memory of this process and of all its children until
// the returned function is called, which returns the peak in MB.
func watchMemory(ctx context.Context) (peak func() float64) {
	ctx, cancel := context.WithCancel(ctx)
	var most float64
	var sampling sync.WaitGroup
	sampling.Go(func() {
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			most = max(most, familyMegabytes())
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
	return func() float64 {
		cancel()
		sampling.Wait()
		return most
	}
}

func familyMegabytes() float64 {
	self := os.Getpid()
	total := resident(self)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && parent(pid) == self {
			total += resident(pid)
		}
	}
	return total
}

// stat is what /proc/PID/stat says of a process after its name, as proc(5)
// numbers it from the third field on. It is empty if the process is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

func parent(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	ppid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return ppid
}
