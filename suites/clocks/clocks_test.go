// Package clocks shows that a real kubelet can have a clock of its own.
package clocks

import (
	"context"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

func TestClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "clocks")
}

// The nodes of the rig: one has a clock of its own, the other one shows the
// machine's time and is what the first is compared with.
const (
	skewed = "node-a"
	right  = "node-b"
)

var behind = clock.Clock{Offset: -35 * time.Second}

var _ = It("a node's leases follow its clock, and its timers don't", func(ctx SpecContext) {
	from := time.Now()
	rig := start(ctx, new(build.Builder).Binary)
	leases := watchLeases(ctx, rig)
	leases.await(behind, from)
	set := func(c clock.Clock) {
		GinkgoHelper()
		from = time.Now()
		Expect(rig.SetClock(skewed, c)).To(Succeed())
		leases.await(c, from)
	}

	for _, c := range []clock.Clock{{Offset: -10 * time.Minute}, {Offset: time.Hour}} {
		By("stepping to " + c.String())
		set(c)
		renewals := leases.during(3)
		Expect(renewals).To(Or(HaveLen(2), HaveLen(3), HaveLen(4)), "as many as of the other node")
		for _, r := range renewals {
			Expect(r.shown).To(r.by(c, from))
		}
	}

	By("freezing: one renewal brings the time, those after it change nothing")
	set(clock.Clock{Frozen: true, Since: time.Now()})
	Expect(leases.during(3)).To(BeEmpty())

	By("thawing")
	set(clock.Clock{})
})

var _ = It("a node's clock can be anything, and outlives its kubelet", func(ctx SpecContext) {
	rig := start(ctx, new(build.Builder).Binary)
	expectDate(ctx, rig, behind)
	now := time.Now()
	for _, c := range []clock.Clock{
		{},
		{Offset: 24 * time.Hour},
		{Drift: 200_000, Since: now.Add(-time.Hour)},
		{Offset: time.Minute, Drift: -200, Since: now},
		{Offset: -time.Minute, Frozen: true, Since: now},
	} {
		Expect(rig.SetClock(skewed, c)).To(Succeed())
		expectDate(ctx, rig, c)
	}
	ahead := clock.Clock{Offset: 20 * time.Minute}
	Expect(rig.Stop(ctx, "kubelet/"+skewed)).To(Succeed())
	Expect(rig.SetClock(skewed, ahead)).To(Succeed())
	Expect(rig.Start(ctx, "kubelet/"+skewed, cluster.Change{})).To(Succeed())
	expectDate(ctx, rig, ahead)
	Expect(rig.SetClock(right, ahead)).To(MatchError(ContainSubstring("no clock of its own")))
})

var _ = It("a kubelet that doesn't show its node's clock is not started", func(ctx SpecContext) {
	builder := new(build.Builder)
	_, err := cluster.New(ctx, config(ctx, func(ctx context.Context, t build.Target) (build.Binary, error) {
		t.Clock = false
		return builder.Binary(ctx, t)
	}))
	Expect(err).To(MatchError(ContainSubstring("kubelet/" + skewed + " shows the machine's time")))
})

type binary func(context.Context, build.Target) (build.Binary, error)

func start(ctx context.Context, b binary) *cluster.Cluster {
	GinkgoHelper()
	rig, err := cluster.New(ctx, config(ctx, b))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(rig.Close)
	Expect(rig.SetClock(skewed, behind)).To(Succeed())
	return rig
}

func config(ctx context.Context, b binary) cluster.Config {
	GinkgoHelper()
	library, err := images.Library(ctx, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	c := rig.ClusterConfig(record.Topology{
		Version: release.Newest,
		Nodes:   []record.Node{{Name: skewed, Version: release.Newest, OwnClock: true}, {Name: right, Version: release.Newest}},
	}, library, nil)
	c.Binary = b
	c.LogDir = GinkgoT().TempDir()
	return c
}

// expectDate asks the kubelet of the skewed node for something and wants its
// answer to be dated by a clock. A date has whole seconds.
func expectDate(ctx context.Context, rig *cluster.Cluster, c clock.Clock) {
	GinkgoHelper()
	endpoint, err := rig.Endpoint("kubelet/" + skewed)
	Expect(err).NotTo(HaveOccurred())
	client, err := rest.HTTPClientFor(endpoint)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.Host+"/healthz", nil)
	Expect(err).NotTo(HaveOccurred())
	earliest := c.Read(time.Now()).Truncate(time.Second)
	response, err := client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	date, err := http.ParseTime(response.Header.Get("Date"))
	Expect(err).NotTo(HaveOccurred())
	Expect(date).To(And(BeTemporally(">=", earliest), BeTemporally("<=", c.Read(time.Now()))), "by a clock that is %s", c)
}
