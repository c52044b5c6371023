package narrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// LeasePlan is what the plan of a cell says of leases, and of who looks at them.
type LeasePlan struct {
	// Duration is that of the leases of simulated nodes. If unset, it is not known.
	Duration time.Duration
	// Clocks are how wrong the clocks of simulated nodes are from the beginning: "8s
	// behind". If unset, they are right.
	Clocks string
	// Expiry is the age from which the watchdog takes a lease for expired, Threshold
	// the part of the leases from which it takes it that the nodes are cut off. If
	// unset, there is no watchdog.
	Expiry    time.Duration
	Threshold float64
	// Grace is for how long kube-controller-manager waits for a node. If unset, it
	// waits for none.
	Grace time.Duration
}

// The defaults of dependency-watchdog's prober.
const (
	proberGrace    = 40 * time.Second
	proberFraction = 0.6
)

// LeasesOf is what a plan says of leases.
func LeasesOf(p record.Plan) (l LeasePlan) {
	t := p.Topology
	if t.LeaseNodes != nil {
		l.Duration = time.Duration(t.LeaseNodes.Duration)
	}
	if t.LeaseNodes != nil && t.LeaseNodes.Offset != 0 {
		var set record.LeaseClockSet
		set.Clock.Offset = time.Duration(t.LeaseNodes.Offset)
		l.Clocks = set.Clock.String()
	}
	if t.ControllerManager {
		l.Grace = cmp.Or(time.Duration(t.NodeMonitor.Grace), defaultGrace(t))
	}
	if t.Garden != nil && t.Garden.Watchdog != "" {
		l.Expiry = cmp.Or(time.Duration(t.Garden.Prober.KCMNodeMonitorGraceDuration), proberGrace) * 3 / 4
		l.Threshold = proberFraction
		if fraction := t.Garden.Prober.NodeLeaseFailureFraction; fraction != nil {
			l.Threshold = *fraction
		}
	}
	return l
}

// defaultGrace is the default of --node-monitor-grace-period, which grew with v1.32.
func defaultGrace(t record.Topology) time.Duration {
	if t.Version.Compare("v1.32.0-alpha.0") < 0 {
		return 40 * time.Second
	}
	return 50 * time.Second
}

// limits are the ages at which a component acts.
func (p LeasePlan) limits() (all []Limit) {
	for _, l := range []struct {
		age  time.Duration
		text string
	}{{p.Expiry, "expired for the watchdog"}, {p.Grace, "kube-controller-manager gives the node up"}} {
		if l.age > 0 {
			all = append(all, Limit{Value: l.age.Seconds(), Label: fmt.Sprintf("%g s: %s", l.age.Seconds(), l.text)})
		}
	}
	return all
}

// leases are those of simulated nodes, by zone, and those of real nodes that the
// history has.
type leases struct {
	plan         LeasePlan
	zones, nodes lanes
	renewed      map[string]renewal
}

// renewal is a renewal of a real node's lease.
type renewal struct {
	time  string
	until float64 // when it expires
}

// aged shows a zone by the ages of its leases, and by how many have expired, as far as
// that follows from the oldest, the median and what is between them.
func (l *leases) aged(z record.ZoneAges, at float64) {
	s := Span{Label: "renewed", Tone: Good}
	switch limit := l.plan.Duration.Seconds(); {
	case limit == 0:
		s.Tone = ""
	case z.Median > limit:
		s = Span{Label: "half of them or more expired", Tone: Bad}
	case z.P99 > limit:
		s = Span{Label: "some expired", Tone: Bad}
	case z.Oldest > limit:
		s = Span{Label: "the oldest expired", Tone: Bad}
	}
	s.Detail = fmt.Sprintf("%s, leases of %s", reports.Counted(z.Nodes, "node"), l.plan.Duration)
	row := l.zones.named(Leases, timeline.ZoneName(z))
	row.becomes(at, s)
	if row.Series == nil {
		row.Series = []Series{{Label: oldestLease}, {Label: "99th percentile"}, {Label: "median"}}
		row.Limits = l.plan.limits()
		if l.plan.Clocks != "" {
			row.mark(at, "clocks "+l.plan.Clocks, "from the beginning", Faulty)
		}
	}
	for i, age := range []float64{z.Oldest, z.P99, z.Median} {
		row.Series[i].Points = append(row.Series[i].Points, [2]float64{at, age})
	}
}

// oldestLease is the series of the age of the oldest lease of some.
const oldestLease = "oldest"

// maxPoints is how many points of a series stay, about.
const maxPoints = 240

// reduced are as many points as can be distinguished: of each stretch of time the lowest
// and the highest.
func reduced(points [][2]float64) (all [][2]float64) {
	if len(points) <= maxPoints {
		return points
	}
	of := func(a, b [2]float64) int { return cmp.Compare(a[1], b[1]) }
	for some := range slices.Chunk(points, 2*len(points)/maxPoints+1) {
		low, high := slices.MinFunc(some, of), slices.MaxFunc(some, of)
		if high[0] < low[0] {
			low, high = high, low
		}
		all = append(all, low)
		if high != low {
			all = append(all, high)
		}
	}
	return all
}

// skewed is by how much a renewal may be off that came over a watch, in seconds.
const skewed = 5

// observed shows the lease of a real node: renewed, renewed by a clock that is
// wrong, or expired.
func (l *leases) observed(v *timeline.Version, at float64) {
	var lease struct {
		Spec struct {
			Holder  string  `json:"holderIdentity"`
			Seconds float64 `json:"leaseDurationSeconds"`
			Renewed string  `json:"renewTime"`
		} `json:"spec"`
	}
	_ = json.Unmarshal(v.Text(), &lease) // what is of another form stays empty
	when := lease.Spec.Renewed
	if v.Namespace != corev1.NamespaceNodeLease || v.Gone() || when == "" || when == l.renewed[v.Key].time {
		return
	}
	row := l.nodes.named(Leases, v.Key)
	l.expire(row, at)
	if l.renewed == nil {
		l.renewed = make(map[string]renewal)
	}
	l.renewed[v.Key] = renewal{time: when, until: at + cmp.Or(lease.Spec.Seconds, math.Inf(1))}
	s := Span{Label: "renewed", Detail: "by " + lease.Spec.Holder, Tone: Good}
	if t, err := time.Parse(time.RFC3339, when); err == nil {
		switch behind := v.Time.Sub(t).Round(time.Second); {
		case behind.Seconds() > skewed:
			s.Label, s.Tone = fmt.Sprintf("renewed %s in the past", behind), Faulty
		case behind.Seconds() < -skewed:
			s.Label, s.Tone = fmt.Sprintf("renewed %s in the future", -behind), Faulty
		}
	}
	row.becomes(at, s)
}

// expire has a lease be expired from when its last renewal ran out.
func (l *leases) expire(row *lane, at float64) {
	if last, is := l.renewed[row.Name]; is && last.until < at {
		row.becomes(last.until, Span{Label: "expired", Tone: Bad})
	}
}

// lanes are the leases until the end.
func (l *leases) lanes(end float64) []Lane {
	for _, row := range l.zones.all {
		for i := range row.Series {
			row.Series[i].Points = reduced(row.Series[i].Points)
		}
	}
	for _, row := range l.nodes.all {
		l.expire(row, end)
	}
	return slices.Concat(l.zones.until(end), l.nodes.until(end))
}
