package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// BenchmarkServers measures what a second API server adds to the cold start and the memory of a
// rig with one node.
func BenchmarkServers(b *testing.B) {
	for _, servers := range []int{1, 2} {
		b.Run(fmt.Sprintf("servers=%d", servers), func(b *testing.B) {
			config := serversRig(b, release.Newest, []string{"a", "b"}[:servers], nil)
			for b.Loop() {
				c, err := cluster.New(b.Context(), config)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				var memory float64
				for _, i := range c.Instances() {
					memory += proportional(i.PID)
				}
				b.ReportMetric(memory, "PSS-MB")
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// workloads is how many Deployments a control plane has that is rolled.
const workloads = 10

// patience bounds the wait until they are ready.
const patience = time.Minute

// BenchmarkRoll measures how long it takes to upgrade a control plane of two API servers, two
// controller managers and two schedulers with its node, and to roll all of it back, in the order
// that the version skew policy allows. Its workloads are ready afterwards.
func BenchmarkRoll(b *testing.B) {
	config := serversRig(b, release.Previous, []string{"a", "b"}, []string{"a", "b"})
	order := []string{
		"kube-apiserver/a", "kube-apiserver/b", "kube-controller-manager/a", "kube-controller-manager/b",
		"kube-scheduler/a", "kube-scheduler/b", "kubelet/node-a",
	}
	for b.Loop() {
		b.StopTimer()
		c := started(b, config)
		createWorkloads(b, c)
		b.StartTimer()
		roll(b, c, order, release.Newest)
		slices.Reverse(order)
		roll(b, c, order, release.Previous)
		b.StopTimer()
		slices.Reverse(order)
		if !await.Until(b.Context(), patience, func() bool { return ready(b, c) == workloads }) {
			b.Fatalf("%d of %d workloads are ready", ready(b, c), workloads)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func roll(b *testing.B, c *cluster.Cluster, order []string, to release.Version) {
	b.Helper()
	for _, name := range order {
		if err := c.Restart(b.Context(), name, cluster.Change{Version: to}); err != nil {
			b.Fatal(err)
		}
	}
}

// serversRig is the configuration of a rig with a node and with members of these names, without
// controllers if there are no names of them.
func serversRig(b *testing.B, v release.Version, servers, controllers []string) cluster.Config {
	b.Helper()
	topology := record.Topology{Version: v, Nodes: []record.Node{{Name: "node-a", Version: v}}}
	add := func(program build.Component, names []string) {
		for _, name := range names {
			via := []string{name}
			if program == build.APIServer {
				via = nil
			}
			topology.Members = append(topology.Members, record.Component{Name: fmt.Sprintf("%s/%s", program, name), Version: v, Via: via})
		}
	}
	add(build.APIServer, servers)
	add(build.ControllerManager, controllers)
	add(build.Scheduler, controllers)
	topology.ControllerManager, topology.Scheduler = len(controllers) > 0, len(controllers) > 0
	builder := new(build.Builder)
	if _, err := builder.Build(b.Context(), slices.Concat(build.AllOf(release.Newest), build.AllOf(release.Previous))); err != nil {
		b.Fatal(err)
	}
	return configOf(b, builder, topology)
}

func createWorkloads(b *testing.B, c *cluster.Cluster) {
	b.Helper()
	for i := range workloads {
		labels := map[string]string{"app": fmt.Sprintf("web-%d", i)}
		d := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: labels["app"]},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{
						Name: "app", Image: "registry.k8s.io/e2e-test-images/agnhost:2.66.1", Args: []string{"pause"},
					}}},
				},
			},
		}
		if _, err := c.Client().AppsV1().Deployments(metav1.NamespaceDefault).Create(b.Context(), d, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	if !await.Until(b.Context(), patience, func() bool { return ready(b, c) == workloads }) {
		b.Fatalf("%d of %d workloads are ready", ready(b, c), workloads)
	}
}

// ready is how many workloads have all that they want, as far as their controller says.
func ready(b *testing.B, c *cluster.Cluster) (count int) {
	b.Helper()
	all, err := c.Client().AppsV1().Deployments(metav1.NamespaceDefault).List(b.Context(), metav1.ListOptions{})
	if err != nil {
		return 0 // an API server that has just started does not know yet who may do what
	}
	for _, d := range all.Items {
		if d.Status.ReadyReplicas == 1 && d.Status.ObservedGeneration == d.Generation {
			count++
		}
	}
	return count
}
