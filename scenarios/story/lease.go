package story

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/lease"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// leases are those of simulated nodes, by zone, and those of real nodes that the
// history has.
type leases struct {
	rows     lanes
	duration time.Duration // of the leases of simulated nodes
	renewed  map[string]renewal
}

// renewal is a renewal of a real node's lease.
type renewal struct {
	time  string
	until float64 // when it expires
}

func newLeases(c plan.Cell) leases {
	l := leases{renewed: make(map[string]renewal)}
	if c.Topology.LeaseNodes != nil {
		l.duration = time.Duration(c.Topology.LeaseNodes.Duration)
	}
	return l
}

func (l *leases) saw(e record.Event, at float64) {
	switch e.Kind {
	case record.LeaseAges{}.EventKind():
		if ages, ok := record.As[record.LeaseAges](e); ok {
			l.aged(ages, at)
		}
	case record.LeaseNodesStopped{}.EventKind():
		l.rows.named(story.Leases, e.Subject).mark(at, "nodes stopped", "", story.Faulty)
	case record.LeaseNodesStarted{}.EventKind():
		l.rows.named(story.Leases, e.Subject).mark(at, "nodes started", "", story.Changed)
	case record.LeaseClockSet{}.EventKind():
		if set, ok := record.As[record.LeaseClockSet](e); ok {
			text := "clocks " + set.Clock.String()
			if set.Step != 0 {
				text = "clocks set by " + set.Step.String()
			}
			l.rows.named(story.Leases, e.Subject).mark(at, text, "", story.Faulty)
		}
	}
}

// aged shows each zone by how many of its leases have expired, as far as that can
// be told by the oldest, the median and what is between them.
func (l *leases) aged(ages record.LeaseAges, at float64) {
	for _, z := range ages.Zones {
		s := story.Span{Label: "renewed", Tone: story.Good}
		switch limit := l.duration.Seconds(); {
		case limit == 0:
			s.Tone = ""
		case z.Median > limit:
			s = story.Span{Label: "half of them or more expired", Tone: story.Bad}
		case z.P99 > limit:
			s = story.Span{Label: "some expired", Tone: story.Bad}
		case z.Oldest > limit:
			s = story.Span{Label: "the oldest expired", Tone: story.Bad}
		}
		s.Detail = fmt.Sprintf("%s, leases of %s", reports.Counted(z.Nodes, "node"), l.duration)
		l.rows.named(story.Leases, strings.TrimSuffix(lease.Component+"/"+z.Zone, "/")).becomes(at, s)
	}
}

// skewed is by how much a renewal may be off that came over a watch, in seconds.
const skewed = 5

// observed shows the lease of a real node: renewed, renewed by a clock that is
// wrong, or expired.
func (l *leases) observed(o observed) {
	if o.Namespace != "kube-node-lease" {
		return
	}
	when := text(o.body, "spec", "renewTime")
	duration, _ := number(o.body, "spec", "leaseDurationSeconds")
	last := l.renewed[o.key]
	if o.deleted() || when == "" || when == last.time {
		return
	}
	row := l.rows.named(story.Leases, o.key)
	l.expire(row, o.key, o.at)
	l.renewed[o.key] = renewal{time: when, until: o.at + cmp.Or(float64(duration), math.Inf(1))}
	s := story.Span{Label: "renewed", Detail: "by " + text(o.body, "spec", "holderIdentity"), Tone: story.Good}
	if t, err := time.Parse(time.RFC3339, when); err == nil {
		switch behind := o.when.Sub(t).Round(time.Second); {
		case behind.Seconds() > skewed:
			s.Label, s.Tone = fmt.Sprintf("renewed %s in the past", behind), story.Faulty
		case behind.Seconds() < -skewed:
			s.Label, s.Tone = fmt.Sprintf("renewed %s in the future", -behind), story.Faulty
		}
	}
	row.becomes(o.at, s)
}

// expire has a lease be expired from when nobody renewed it any more.
func (l *leases) expire(row *lane, key string, at float64) {
	if last, is := l.renewed[key]; is && last.until < at {
		row.becomes(last.until, story.Span{Label: "expired", Tone: story.Bad})
	}
}

// lanes are the leases until the end.
func (l *leases) lanes(end float64) []story.Lane {
	for _, row := range l.rows.all {
		l.expire(row, row.Name, end)
	}
	return l.rows.until(end)
}
