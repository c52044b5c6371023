package lease

import (
	"time"

	"github.com/skewrig/skewrig/harness/clock"
)

// Stopped is recorded when nodes were told to do nothing any more.
type Stopped struct{}

// EventKind implements record.Payload.
func (Stopped) EventKind() string { return "lease.stopped" }

// Started is recorded when nodes were told to do again what nodes do.
type Started struct{}

// EventKind implements record.Payload.
func (Started) EventKind() string { return "lease.started" }

// ClockSet is recorded when the clocks of nodes were set.
type ClockSet struct {
	// Clock is what all of them have now, if Step is unset.
	Clock clock.Clock `json:"clock"`
	// Step is by how much each was set forward, or back if it is negative.
	Step time.Duration `json:"step,omitempty"`
}

// EventKind implements record.Payload.
func (ClockSet) EventKind() string { return "lease.clock-set" }

// Ages is recorded once a second: how long ago the nodes of each zone last
// renewed their leases, in seconds of real time.
type Ages struct {
	Zones []ZoneAges `json:"zones"`
}

// ZoneAges are the ages of a zone's leases.
type ZoneAges struct {
	Zone   string  `json:"zone,omitempty"`
	Nodes  int     `json:"nodes"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Oldest float64 `json:"oldest"`
}

// EventKind implements record.Payload.
func (Ages) EventKind() string { return "lease.ages" }
