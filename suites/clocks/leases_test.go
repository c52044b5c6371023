package clocks

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/cluster"
)

// leases are the leases of the rig's nodes, as they change.
type leases struct {
	ctx    context.Context //nolint:containedctx // of the spec
	events <-chan watch.Event
}

func watchLeases(ctx context.Context, rig *cluster.Cluster) *leases {
	GinkgoHelper()
	w, err := rig.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).Watch(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.Stop)
	return &leases{ctx: ctx, events: w.ResultChan()}
}

// renewal is a lease as it was seen.
type renewal struct {
	node  string
	shown time.Time // when it was renewed, by the node's clock
	seen  time.Time // when it was seen, by the machine's
}

// next waits for a lease to be new or renewed.
func (l *leases) next() renewal {
	GinkgoHelper()
	select {
	case <-l.ctx.Done():
		Fail("waiting for a lease to be renewed: " + context.Cause(l.ctx).Error())
	case event := <-l.events:
		lease, ok := event.Object.(*coordinationv1.Lease)
		Expect(ok).To(BeTrue(), "%+v is not a lease", event)
		r := renewal{node: lease.Name, shown: lease.Spec.RenewTime.Time, seen: time.Now()}
		GinkgoWriter.Printf("%s renewed at %s, seen %s later\n", r.node, r.shown.Format(time.RFC3339Nano), r.seen.Sub(r.shown))
		return r
	}
	return renewal{}
}

// await waits for the skewed node to renew its lease by a clock that was set
// after a time. One renewal may have been under way then.
func (l *leases) await(c clock.Clock, from time.Time) {
	GinkgoHelper()
	r := l.nextOf(skewed)
	if matches, err := r.by(c, from).Match(r.shown); err != nil || !matches {
		r = l.nextOf(skewed)
	}
	Expect(r.shown).To(r.by(c, from), "by a clock that is %s", c)
}

func (l *leases) nextOf(node string) renewal {
	GinkgoHelper()
	for {
		if r := l.next(); r.node == node {
			return r
		}
	}
}

// during returns the renewals of the skewed node until the other one has
// renewed its lease a number of times: as long as that takes, not as long as
// this machine's clock says.
func (l *leases) during(times int) (renewals []renewal) {
	GinkgoHelper()
	for times > 0 {
		if r := l.next(); r.node == skewed {
			renewals = append(renewals, r)
		} else {
			times--
		}
	}
	return renewals
}

// by matches what a clock showed between a time and when the renewal was seen.
// A lease has microseconds.
func (r renewal) by(c clock.Clock, from time.Time) OmegaMatcher {
	return And(BeTemporally(">=", c.Read(from).Truncate(time.Microsecond)), BeTemporally("<=", c.Read(r.seen)))
}
