package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

const (
	// podsServed are the pods of each node.
	podsServed = 100
	// lists are how many there are, one every 12 ms: a kubelet refuses more than
	// 100 a second.
	lists     = 300
	listEvery = 12 * time.Millisecond
	// watchers is how many begin at the same time.
	watchers = 50
)

// BenchmarkPodsAPI asks a real kubelet and the reference side by side for the same
// number of pods (KEP-4188, Scalability): how long a list takes, whole and under a
// mask of three fields, what is sent, and until all of many watches have their
// initial pods. Processor time and memory are those of the kubelet; the reference
// is part of this process, with its clients, so that it has none of its own.
func BenchmarkPodsAPI(b *testing.B) {
	c := podsRig(b)
	for _, node := range []string{"kubelet", "reference"} {
		root, err := c.KubeletDir(node)
		if err != nil {
			b.Fatal(err)
		}
		socket, _ := client.Find(root)
		pid := pidOf(c, node)
		for name, fields := range map[string]string{"full": "", "masked": "metadata.name,metadata.uid,status.phase"} {
			b.Run(fmt.Sprintf("of=%s/%s", node, name), func(b *testing.B) {
				for b.Loop() {
					benchmarkLists(b, socket, fields, pid)
				}
			})
		}
		b.Run(fmt.Sprintf("of=%s/watches", node), func(b *testing.B) {
			for b.Loop() {
				benchmarkWatches(b, socket)
			}
		})
	}
}

func pidOf(c *cluster.Cluster, node string) int {
	for _, i := range c.Instances() {
		if i.Name == "kubelet/"+node && i.PID != os.Getpid() {
			return i.PID
		}
	}
	return 0
}

// podsRig has a node with a kubelet and one with the reference, both with pods.
func podsRig(b *testing.B) *cluster.Cluster {
	b.Helper()
	builder := new(build.Builder)
	if _, err := builder.Build(b.Context(), build.AllOf(release.Newest)); err != nil {
		b.Fatal(err)
	}
	library, err := images.Library(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	config := rig.ClusterConfig(record.Topology{Version: release.Newest, Nodes: []record.Node{
		{Name: "kubelet", Version: release.Newest, Gates: map[string]bool{"PodsAPI": true}},
		{Name: "reference", Version: release.Reference},
	}}, library, nil)
	config.Binary = builder.Binary
	c := started(b, config)
	for _, node := range []string{"kubelet", "reference"} {
		runPods(b, c.Client(), node)
	}
	return c
}

// runPods runs pods on a node, and returns when all of them run.
func runPods(b *testing.B, client kubernetes.Interface, node string) {
	b.Helper()
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	for i := range podsServed {
		_, err := pods.Create(b.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", node, i), Labels: map[string]string{"node": node}},
			Spec: corev1.PodSpec{
				NodeName:   node,
				Containers: []corev1.Container{{Name: "app", Image: "registry.k8s.io/pause:3.10"}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			b.Fatal(err)
		}
	}
	err := wait.PollUntilContextTimeout(b.Context(), 100*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "node=" + node})
		if err != nil {
			return false, err
		}
		running := 0
		for _, p := range list.Items {
			if p.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		return running >= podsServed, nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func benchmarkLists(b *testing.B, socket, fields string, pid int) {
	b.Helper()
	c, err := client.Dial(socket)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var took []time.Duration
	var bytes int
	before := processorTime(max(pid, 1))
	ticker := time.NewTicker(listEvery)
	defer ticker.Stop()
	for range lists {
		<-ticker.C
		began := time.Now()
		answer := c.Ask(b.Context(), client.Request{Method: client.ListPods, Fields: fields})
		took = append(took, time.Since(began))
		if answer.Code != "OK" || len(answer.List) != podsServed {
			b.Fatalf("%s %s, %d pods", answer.Code, answer.Message, len(answer.List))
		}
		bytes = answer.Bytes
	}
	slices.Sort(took)
	b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
	b.ReportMetric(milliseconds(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(float64(bytes), "B/list")
	if pid != 0 {
		b.ReportMetric(milliseconds(processorTime(pid)-before)/lists, "cpu-ms/list")
		b.ReportMetric(resident(pid), "MB")
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func benchmarkWatches(b *testing.B, socket string) {
	b.Helper()
	// The reference limits how many watches are opened, too: they are opened as
	// fast as both allow.
	ticker := time.NewTicker(listEvery)
	defer ticker.Stop()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	synced := make(chan time.Duration, watchers)
	for range watchers {
		<-ticker.C
		c, err := client.Dial(socket)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		go c.Watch(ctx, "", func(e record.PodsEvent) {
			if e.Type == "INITIAL_SYNC_COMPLETE" {
				synced <- time.Since(began)
			}
		})
	}
	var took []time.Duration
	for range watchers {
		select {
		case d := <-synced:
			took = append(took, d)
		case <-time.After(time.Minute):
			b.Fatalf("%d of %d watches have their pods after a minute", len(took), watchers)
		}
	}
	slices.Sort(took)
	b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
	b.ReportMetric(milliseconds(took[len(took)*99/100]), "p99-ms")
}
