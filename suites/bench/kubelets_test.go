package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// manyKubelets are the nodes of a large rig. The newest three releases take turns.
const manyKubelets = 100

// BenchmarkKubelets measures a rig of 100 real kubelets with a record, as a scenario has it: how
// long it takes from when the API server is ready until every node is, and what the rig and this
// process have taken until then. proportional and resident say how memory is counted. Kubelets
// without inotify are those for which the machine had no instance left: it gives a user 128
// (fs.inotify.max_user_instances), a kubelet takes five and an API server three. Their
// nodes are Ready all the same.
func BenchmarkKubelets(b *testing.B) {
	config := kubeletsRig(b)
	for b.Loop() {
		history, cpuBefore := record.NewHistory(nil), processorTime(os.Getpid())
		c, err := cluster.New(b.Context(), config(history))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(sinceServing(history).Seconds(), "s-until-ready")
		reportProcesses(b, c, processorTime(os.Getpid())-cpuBefore)
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// kubeletsRig returns the rig's configuration for a history.
func kubeletsRig(b *testing.B) func(*record.History) cluster.Config {
	b.Helper()
	releases := release.Supported()[:3]
	targets, topology := build.AllOf(release.Newest), record.Topology{Version: release.Newest}
	for _, v := range releases {
		targets = append(targets, build.Target{Component: build.Kubelet, Version: v})
	}
	builder := new(build.Builder)
	if _, err := builder.Build(b.Context(), targets); err != nil {
		b.Fatal(err)
	}
	for i := range manyKubelets {
		topology.Nodes = append(topology.Nodes, record.Node{Name: fmt.Sprintf("node-%d", i), Version: releases[i%len(releases)]})
	}
	library, err := images.Library(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	return func(history *record.History) cluster.Config {
		config := rig.ClusterConfig(topology, library, history)
		config.Binary = builder.Binary
		return config
	}
}

// sinceServing is how long ago the API server was ready.
func sinceServing(history *record.History) time.Duration {
	for e := range record.All[record.ComponentStarted](history.Events()) {
		if e.Subject == string(build.APIServer) {
			return time.Since(e.At)
		}
	}
	return 0
}

// reportProcesses reports what the processes of a rig take, and this one, which has taken
// some processor time.
func reportProcesses(b *testing.B, c *cluster.Cluster, own time.Duration) {
	b.Helper()
	all := []int{os.Getpid()}
	var unwatched float64
	for _, i := range c.Instances() {
		all = append(all, i.PID)
		if strings.HasPrefix(i.Name, "kubelet/") && !usesInotify(i.PID) {
			unwatched++
		}
	}
	var pss, rss float64
	cpu := own
	for _, pid := range all {
		pss, rss = pss+proportional(pid), rss+resident(pid)
		if pid != os.Getpid() {
			cpu += processorTime(pid)
		}
	}
	b.ReportMetric(pss, "PSS-MB")
	b.ReportMetric(rss, "RSS-MB")
	b.ReportMetric(proportional(os.Getpid()), "own-PSS-MB")
	b.ReportMetric(cpu.Seconds(), "CPU-s")
	b.ReportMetric(own.Seconds(), "own-CPU-s")
	b.ReportMetric(unwatched, "without-inotify")
}
