package record

import (
	"time"

	"github.com/skewrig/skewrig/harness/clock"
)

// LeaseNodesStopped is recorded when nodes began to do nothing.
type LeaseNodesStopped struct{}

// LeaseNodesStarted is recorded when nodes began to do again what nodes do.
type LeaseNodesStarted struct{}

// LeaseClockSet is recorded when the clocks of nodes were set.
type LeaseClockSet struct {
	// Clock is what all of them have now, if Step is unset.
	Clock clock.Clock `json:"clock"`
	// Step is by how much each was set forward, or back if it is negative.
	Step time.Duration `json:"step,omitempty"`
}

// LeaseAges is recorded once a second: how long ago the nodes of each zone last
// renewed their leases, in seconds of real time.
type LeaseAges struct {
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
