// Package bench measures what docs/results.md shows, on real components.
package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// BenchmarkRig measures a cold start, binaries built: etcd, API server and
// kubelets until every node is Ready.
func BenchmarkRig(b *testing.B) {
	for _, nodes := range []int{1, 5} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			builder := built(b)
			var kubelets float64
			for b.Loop() {
				c, err := cluster.New(b.Context(), rigConfig(b, builder, nodes))
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
	cells := catalog.Default(all, release.Releases{})
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

func rigConfig(b *testing.B, builder *build.Builder, nodes int) cluster.Config {
	b.Helper()
	topology := record.Topology{Version: release.Newest}
	for i := range nodes {
		topology.Nodes = append(topology.Nodes, record.Node{Name: fmt.Sprintf("node-%d", i), Version: release.Newest})
	}
	return configOf(b, builder, topology)
}

// configOf is the configuration of a rig without a record.
func configOf(b *testing.B, builder *build.Builder, topology record.Topology) cluster.Config {
	b.Helper()
	library, err := images.Library(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	config := rig.ClusterConfig(topology, library, nil)
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
