package bench

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/lease"
)

// hold is how long the simulated nodes renew their leases while they are
// measured.
const hold = 2 * time.Minute

// BenchmarkLeaseNodes measures simulated nodes against a real API server: how
// long it takes until all are ready, and then, with a kubelet's timing, the
// oldest lease (the 99.9th percentile at its worst, in intervals), the renewals a
// second, and what the simulator itself takes.
func BenchmarkLeaseNodes(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			builder := built(b)
			for b.Loop() {
				cfg := rig(b, builder, 0)
				cfg.ControlPlane.WithoutControllerManager, cfg.ControlPlane.WithoutScheduler = true, true
				c, err := cluster.New(b.Context(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				measureFleet(b, c, nodes)
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func measureFleet(b *testing.B, c *cluster.Cluster, nodes int) {
	b.Helper()
	before := resident(os.Getpid())
	began := time.Now()
	fleet, err := lease.Start(b.Context(), lease.Config{Client: c.RESTConfig(), Zones: []lease.Zone{{Count: nodes}}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(began).Seconds(), "s-until-ready")
	const interval = 10 * time.Second
	var worst time.Duration
	first, since, busy := fleet.Count().Renewed, time.Now(), cpu(b)
	for time.Since(since) < hold {
		time.Sleep(time.Second)
		ages := fleet.Ages(time.Now())
		slices.Sort(ages)
		worst = max(worst, ages[len(ages)*999/1000])
	}
	count := fleet.Count()
	b.ReportMetric(worst.Seconds()/interval.Seconds(), "intervals-p99.9")
	b.ReportMetric(float64(count.Renewed-first)/time.Since(since).Seconds(), "renewals/s")
	b.ReportMetric((cpu(b)-busy).Seconds()/time.Since(since).Seconds()/float64(nodes)*1000, "CPUs/1000-nodes")
	b.ReportMetric(resident(os.Getpid())-before, "MB")
	if count.Failed > 0 {
		b.Errorf("%d requests failed", count.Failed)
	}
	if err := fleet.Close(); err != nil {
		b.Error(err)
	}
}

// cpu is the processor time that this process has taken so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
