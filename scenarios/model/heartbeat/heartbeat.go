// Package heartbeat says how a kubelet keeps its node Ready: it renews a Lease,
// and reports its status rarely. It knows the requests that this takes and the
// times between them, and nothing else of a kubelet.
//
// Sources: KEP-0589 for the idea, and for what a kubelet does
// k8s.io/component-helpers/apimachinery/lease/controller.go and
// k8s.io/kubernetes/pkg/kubelet/kubelet_node_status.go.
package heartbeat

import (
	"cmp"
	"time"
)

// Timing is when a kubelet sends what. The zero Timing is a kubelet's by
// default (pkg/kubelet/apis/config/v1beta1/defaults.go).
type Timing struct {
	// Interval is the time between two renewals. If unset, 10 s: a quarter of a
	// lease of 40 s. Up to a 25th more is added, at random.
	Interval time.Duration
	// Timeout is how long a request waits for an answer. If unset, 10 s.
	Timeout time.Duration
	// Status is how often a kubelet looks at its own status, and reports it if
	// another client has changed it. If unset, 10 s. Those up to 4 % which a kubelet
	// adds are left out: nothing depends on them.
	Status time.Duration
	// Report is the time between two reports of a status that stays the same. If
	// unset, 5 min.
	Report time.Duration
}

// WithDefaults is the timing with everything set.
func (t Timing) WithDefaults() Timing {
	t.Interval = cmp.Or(t.Interval, 10*time.Second)
	t.Timeout = cmp.Or(t.Timeout, 10*time.Second)
	t.Status = cmp.Or(t.Status, 10*time.Second)
	t.Report = cmp.Or(t.Report, 5*time.Minute)
	return t
}

// What the lease controller of component-helpers is compiled with.
const (
	jitter      = 0.04
	maxUpdates  = 5                      // in a row
	firstWait   = 100 * time.Millisecond // doubled before it is waited for
	longestWait = 7 * time.Second
)

// Answer is what comes of a request.
type Answer int

// The answers. Refused is any that says at once that it did not work; a request
// that is Lost waits until its timeout.
const (
	Done Answer = iota
	Refused
	Lost
)

// Round is where a kubelet is in renewing its lease. It writes the version that
// it knows, up to five times; if that doesn't work it reads the lease until it
// has it, waiting longer each time, and writes again up to five times; and then
// it is the next round's turn. The zero Round is the beginning of one.
//
// Conflicts and deleted leases are left out: in the model only the kubelet writes
// its lease.
type Round struct {
	updates int // that failed, in a row
	reading bool
	read    bool // in this round
	wait    time.Duration
}

// First is the first round of a kubelet that has just started: it knows no
// version yet, so that it begins by reading.
func First() Round { return Round{reading: true, read: true, wait: firstWait} }

// Next is what comes of the answer to a request: the next request is due after
// some time, and if renewed is true the lease has just been written. Random is
// any number from 0 up to, but not including, 1. The timing has everything set.
func (r Round) Next(got Answer, t Timing, random float64) (next Round, after time.Duration, renewed bool) {
	if got == Lost {
		after = t.Timeout
	}
	switch {
	case got == Done && r.reading:
		return Round{read: true}, after, false
	case got == Done:
		return Round{}, t.interval(random), true
	case r.reading:
		r.wait = min(2*r.wait, longestWait)
		return r, after + r.wait, false
	case r.updates+1 < maxUpdates:
		r.updates++
		return r, after, false
	case !r.read:
		return First(), after, false
	default:
		return Round{}, after + t.interval(random), false
	}
}

func (t Timing) interval(random float64) time.Duration {
	return t.Interval + time.Duration(random*jitter*float64(t.Interval))
}
