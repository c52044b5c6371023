package bench

import (
	"cmp"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/scenarios/spec"
)

const (
	// probed are the containers of the pod, each probed once a second.
	probed = 20
	// probedFor is how long their cost is measured.
	probedFor = 20 * time.Second
	probeGate = "GRPCContainerProbeTLS"
)

// BenchmarkHealthProbe has a real kubelet probe 20 TLS servers once a second each (KEP-4939,
// Motivation): not at all, by itself, and by an exec probe that runs the released
// grpc_health_probe. It measures processor time of the kubelet, of the fake runtime with
// the servers, and of the processes, and how long a probe takes: the connection of a native
// one, the command of the other. A real runtime adds to that what it takes to enter a
// container, which nothing here does.
func BenchmarkHealthProbe(b *testing.B) {
	for _, by := range []string{"none", "native", "exec"} {
		b.Run("by="+by, func(b *testing.B) {
			history := record.NewHistory(nil)
			c := probedRig(b, history)
			runProbed(b, c, history, by)
			for b.Loop() {
				measureProbes(b, history, pidOf(c, "node-a"), by)
			}
		})
	}
}

// probedRig has a node whose containers serve gRPC over TLS.
func probedRig(b *testing.B, history *record.History) *cluster.Cluster {
	b.Helper()
	builder := built(b)
	var served []spec.Image
	for i := range probed {
		served = append(served, spec.Image{
			Image: fmt.Sprintf("registry.example/served-%d", i), HealthProbe: release.HealthProbe,
			Listen: []behavior.Listener{{Port: int32(6000 + i), Protocol: behavior.GRPCTLS}},
		})
	}
	if _, err := builder.Build(b.Context(), []build.Target{{Component: build.HealthProbe, Version: release.HealthProbe}}); err != nil {
		b.Fatal(err)
	}
	library, err := images.Library(b.Context(), served, builder.Binary)
	if err != nil {
		b.Fatal(err)
	}
	gates := release.Gates{probeGate: true}
	config := rig.ClusterConfig(record.Topology{
		Version: release.Newest, Gates: gates, Nodes: []record.Node{{Name: "node-a", Version: release.Newest, Gates: gates}},
	}, library, history)
	config.Binary = builder.Binary
	return started(b, config)
}

// runProbed runs the pod, and returns when all of its containers were probed.
func runProbed(b *testing.B, c *cluster.Cluster, history *record.History, by string) {
	b.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probed"}, Spec: corev1.PodSpec{NodeName: "node-a"}}
	mode := corev1.GRPCProbeModeTLS
	for i := range probed {
		container := corev1.Container{Name: fmt.Sprintf("served-%d", i), Image: fmt.Sprintf("registry.example/served-%d", i)}
		probe := &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 10}
		switch by {
		case "native":
			probe.GRPC = &corev1.GRPCAction{Port: int32(6000 + i), Mode: &mode}
		case "exec":
			probe.Exec = &corev1.ExecAction{Command: []string{"grpc_health_probe", fmt.Sprintf("-addr=:%d", 6000+i), "-tls", "-tls-no-verify"}}
		}
		if by != "none" {
			container.ReadinessProbe = probe
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
	}
	if _, err := c.Client().CoreV1().Pods(metav1.NamespaceDefault).Create(b.Context(), pod, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	var running int
	var asked map[string]bool
	if !await.Until(b.Context(), 2*time.Minute, func() bool {
		running, asked = 0, make(map[string]bool)
		for range record.All[record.ContainerStarted](history.Events()) {
			running++
		}
		for e := range record.All[record.Connection](history.Events()) {
			asked[e.Subject] = true
		}
		return running == probed && (by == "none" || len(asked) == probed)
	}) {
		b.Fatalf("%d containers were started and %d probed", running, len(asked))
	}
}

func measureProbes(b *testing.B, history *record.History, kubelet int, by string) {
	b.Helper()
	before, began := len(history.Events()), time.Now()
	kubeletBefore, ownBefore := processorTime(kubelet), processorTime(os.Getpid())
	time.Sleep(probedFor)
	seconds := time.Since(began).Seconds()
	perSecond := func(d time.Duration) float64 { return milliseconds(d) / seconds }
	b.ReportMetric(perSecond(processorTime(kubelet)-kubeletBefore), "kubelet-ms/s")
	b.ReportMetric(perSecond(processorTime(os.Getpid())-ownBefore), "runtime-ms/s")

	events := history.Events()[before:]
	var probes, processes, wall, cpu float64
	for _, c := range record.All[record.Connection](events) {
		if by == "native" {
			probes, wall = probes+1, wall+c.Closed.Sub(c.Opened).Seconds()
		}
	}
	for _, ran := range record.All[record.ProcessRan](events) {
		processes, cpu = processes+1, cpu+ran.CPUSeconds
	}
	for _, command := range record.All[record.Exec](events) {
		if command.ExitCode != 0 {
			b.Fatalf("%v ended with %d %s", command.Args, command.ExitCode, command.Error)
		}
		probes, wall = probes+1, wall+command.DurationSeconds
	}
	b.ReportMetric(processes/seconds, "processes/s")
	b.ReportMetric(probes/seconds, "probes/s")
	b.ReportMetric(cpu*1000/seconds, "processes-ms/s")
	b.ReportMetric(wall*1000/cmp.Or(probes, 1), "wall-ms/probe")
}
