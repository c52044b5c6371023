package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/lease"
	"github.com/skewrig/skewrig/record"
)

// hold is how long simulated nodes renew their leases while they are measured,
// and interval how often each does: a kubelet's.
const (
	hold     = 2 * time.Minute
	giveUp   = 5 * time.Minute
	interval = 10 * time.Second
)

// BenchmarkLeaseNodes measures simulated nodes against a real API server: how
// long it takes until all are Ready and have a lease, and then the oldest lease
// (the 99.9th percentile at its worst, in intervals), the renewals a second, and
// what the simulator takes. KWOK does the same if the environment variable KWOK is
// the path of its program; KWOK_STAGES is the file of the stages that it then
// needs, those of its own for nodes with leases:
//
//	GOBIN=/tmp go install sigs.k8s.io/kwok/cmd/kwok@v0.8.0
//	cd $(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok@v0.8.0)/kustomize/stage/node
//	cat fast/node-initialize.yaml <(echo ---) heartbeat-with-lease/node-heartbeat-with-lease.yaml > /tmp/stages.yaml
//	KWOK=/tmp/kwok KWOK_STAGES=/tmp/stages.yaml go test ./suites/bench -run '^$' -bench LeaseNodes -benchtime 1x -timeout 30m
func BenchmarkLeaseNodes(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("by=skewrig/nodes=%d", nodes), func(b *testing.B) {
			simulated(b, nodes, func(b *testing.B, c *cluster.Cluster) int {
				b.Helper()
				return startHelper(b, c)
			})
		})
		b.Run(fmt.Sprintf("by=kwok/nodes=%d", nodes), func(b *testing.B) {
			program := os.Getenv("KWOK")
			if program == "" {
				b.Skip("KWOK is not set to the path of kwok")
			}
			simulated(b, nodes, func(b *testing.B, c *cluster.Cluster) int {
				b.Helper()
				pid := run(b, program, "--kubeconfig", c.Kubeconfig(), "--config", os.Getenv("KWOK_STAGES"), "--manage-all-nodes", "--node-lease-duration-seconds=40")
				createNodes(b, c.RESTConfig(), nodes)
				return pid
			})
		})
	}
}

// simulated starts an API server and something that simulates nodes, whose
// process it returns, and measures that.
func simulated(b *testing.B, nodes int, start func(*testing.B, *cluster.Cluster) int) {
	b.Helper()
	builder := built(b)
	for b.Loop() {
		cfg := rigConfig(b, builder, 0)
		cfg.Topology.ControllerManager, cfg.Topology.Scheduler = false, false
		c, err := cluster.New(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Setenv(helperNodes, strconv.Itoa(nodes))
		began := time.Now()
		pid := start(b, c)
		looked := look(b, c.Client())
		for looked.ready < nodes || len(looked.renewed) < nodes {
			if time.Since(began) > giveUp {
				b.Fatalf("%d nodes are ready and %d have a lease after %s", looked.ready, len(looked.renewed), giveUp)
			}
			time.Sleep(200 * time.Millisecond)
			looked = look(b, c.Client())
		}
		b.ReportMetric(time.Since(began).Seconds(), "s-until-ready")
		measure(b, c.Client(), pid, nodes)
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// measure looks at the leases from outside, as often as shows every renewal.
func measure(b *testing.B, client kubernetes.Interface, pid, nodes int) {
	b.Helper()
	var worst time.Duration
	var renewals int
	since, busy, last := time.Now(), processorTime(pid), look(b, client)
	for time.Since(since) < hold {
		time.Sleep(interval / 3)
		now := look(b, client)
		ages := make([]time.Duration, 0, nodes)
		for name, at := range now.renewed {
			ages = append(ages, now.at.Sub(at))
			if !at.Equal(last.renewed[name]) {
				renewals++
			}
		}
		slices.SortFunc(ages, cmp.Compare[time.Duration])
		worst, last = max(worst, ages[len(ages)*999/1000]), now
	}
	seconds := time.Since(since).Seconds()
	b.ReportMetric(worst.Seconds()/interval.Seconds(), "intervals-p99.9")
	b.ReportMetric(float64(renewals)/seconds, "renewals/s")
	b.ReportMetric((processorTime(pid)-busy).Seconds()/seconds/float64(nodes)*1000, "CPUs/1000-nodes")
	b.ReportMetric(resident(pid), "MB")
}

// leases are what an API server shows at a moment.
type leases struct {
	at      time.Time
	ready   int
	renewed map[string]time.Time
}

func look(b *testing.B, client kubernetes.Interface) leases {
	b.Helper()
	cached := metav1.ListOptions{ResourceVersion: "0"}
	nodes, err := client.CoreV1().Nodes().List(b.Context(), cached)
	if err != nil {
		b.Fatal(err)
	}
	all, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(b.Context(), cached)
	if err != nil {
		b.Fatal(err)
	}
	seen := leases{at: time.Now(), renewed: make(map[string]time.Time)}
	for _, n := range nodes.Items {
		if slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			seen.ready++
		}
	}
	for _, l := range all.Items {
		if l.Spec.RenewTime != nil {
			seen.renewed[l.Name] = l.Spec.RenewTime.Time
		}
	}
	return seen
}

func createNodes(b *testing.B, config *rest.Config, nodes int) {
	b.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(64)
	for i := range nodes {
		group.Go(func() error {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
			_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

// The simulated nodes of this program are measured in a process of their own,
// which is this test program again: these tell it what to do.
const (
	helperNodes      = "SKEWRIG_BENCH_NODES"
	helperKubeconfig = "SKEWRIG_BENCH_KUBECONFIG"
)

func startHelper(b *testing.B, c *cluster.Cluster) int {
	b.Helper()
	b.Setenv(helperKubeconfig, c.Kubeconfig())
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return run(b, self)
}

// run starts a program that ends with the benchmark, and returns its process.
func run(b *testing.B, program string, args ...string) int {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		_ = log.Close()
	})
	return cmd.Process.Pid
}

// asKubelets are nodes with the times of a kubelet.
func asKubelets(nodes int) record.LeaseNodes {
	const ten = behavior.Duration(10 * time.Second)
	return record.LeaseNodes{
		Zones: []record.Zone{{Count: nodes}}, Duration: 4 * ten, Interval: ten, Timeout: ten, Status: ten, Report: 30 * ten,
	}
}

// simulateNodes is what the process does that is measured.
func simulateNodes(kubeconfig string) error {
	config, err := restConfig(kubeconfig)
	if err != nil {
		return err
	}
	nodes, err := strconv.Atoi(os.Getenv(helperNodes))
	if err != nil {
		return err
	}
	if _, err := lease.Start(context.Background(), lease.Config{Client: config, Nodes: asKubelets(nodes)}); err != nil {
		return err
	}
	select {} // until it is killed
}
