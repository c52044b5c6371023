// Package nodelife says when kube-controller-manager's node-lifecycle controller
// calls a node Unknown. It believes no node's clock: what counts is when it saw
// itself that something changed, be it the lease or the status. But it takes
// only a later renewTime for a change.
//
// Source: k8s.io/kubernetes@v1.37.1,
// pkg/controller/nodelifecycle/node_lifecycle_controller.go (tryUpdateNodeHealth).
// What comes after the verdict (taints, evictions, and how many at a time) is
// not in the model.
package nodelife

import (
	"cmp"
	"time"
)

// Config is the controller's configuration.
type Config struct {
	// Period is the time between two looks at all nodes, nodeMonitorPeriod. If
	// unset, 5 s.
	Period time.Duration
	// Grace is how long a node may be silent, nodeMonitorGracePeriod. If unset,
	// 50 s, which is the default of 1.32 and later; before, it was 40 s.
	Grace time.Duration
	// Startup is how long a node may be silent that has never had a status,
	// nodeStartupGracePeriod. If unset, 60 s.
	Startup time.Duration
	// Trusting controllers don't look at the live lease before they call a node
	// Unknown. All before 1.37 are trusting, and later ones are without the gate
	// NodeControllerLeaseCircuitBreaker.
	Trusting bool
}

// WithDefaults is the configuration with everything set.
func (c Config) WithDefaults() Config {
	c.Period = cmp.Or(c.Period, 5*time.Second)
	c.Grace = cmp.Or(c.Grace, 50*time.Second)
	c.Startup = cmp.Or(c.Startup, 60*time.Second)
	return c
}

// Status is that of a node's condition Ready.
type Status string

// The statuses. A node without the condition has never had a status from its
// kubelet, nor from the controller.
const (
	None    Status = ""
	True    Status = "True"
	Unknown Status = "Unknown"
)

// Lease is a node's lease.
type Lease struct {
	// Version grows whenever the lease is written. It is 0 if there is no lease.
	Version int64
	// Renewed is its renewTime, as the node's own clock showed it.
	Renewed time.Time
}

// Node is a node as the API server shows it.
type Node struct {
	Created time.Time
	Ready   Status
	// Heartbeat is the condition's lastHeartbeatTime, by the node's own clock.
	Heartbeat time.Time
	Lease     Lease
}

// Memory is what the controller remembers of a node, and loses with its process.
// The zero Memory is that of a node which it has never seen.
type Memory struct {
	seen      bool
	posted    bool // the node had the condition Ready
	heartbeat time.Time
	lease     Lease
	changed   time.Time // when it last saw a change, by its own clock
}

// Lease is the lease that the controller remembers. It has none after it has
// seen a new status, until the next look.
func (m Memory) Lease() Lease { return m.lease }

// Until is when the grace period of a node ends that has a status. No look up to
// then comes to anything.
func (m Memory) Until(c Config) time.Time { return m.changed.Add(c.Grace) }

// Verdict is what a look at a node comes to.
type Verdict string

// The verdicts.
const (
	// Leave is that there is nothing to do.
	Leave Verdict = "leave"
	// Doubt is that the node would be called Unknown, but its lease is not the one
	// that the controller remembers. It leaves the node alone until its cache has
	// caught up, which may change nothing.
	Doubt Verdict = "doubt"
	// CallUnknown is that the node is called Unknown now.
	CallUnknown Verdict = "call unknown"
)

// Look is one look at a node, at a time by the controller's clock. The
// configuration has everything set.
//
// Two consequences are less than obvious. A lease whose renewTime went back, as
// its clock did, is no change until it has caught up with what is remembered: a
// trusting controller calls that node Unknown after the grace period
// (kubernetes#113081). And a controller that isn't trusting finds that the live
// lease is not the one it remembers, each time: it never calls such a node
// Unknown, not even when it has died, until the node reports its status or the
// controller starts anew.
func (c Config) Look(m Memory, n Node, now time.Time) (Memory, Verdict) {
	remembered := m.lease
	m = m.status(n, now)
	if n.Lease.Version != 0 && (remembered.Version == 0 || remembered.Renewed.Before(n.Lease.Renewed)) {
		m.lease, m.changed = n.Lease, now
	}
	grace := c.Grace
	if n.Ready == None {
		grace = c.Startup
	}
	switch {
	case !now.After(m.changed.Add(grace)):
		return m, Leave
	case !c.Trusting && n.Lease.Version != 0 && n.Lease.Version != m.lease.Version:
		return m, Doubt
	case n.Ready == Unknown:
		return m, Leave
	default:
		m.posted, m.heartbeat, m.lease = true, n.Heartbeat, n.Lease
		if n.Ready == None {
			m.heartbeat = n.Created
		}
		return m, CallUnknown
	}
}

// status is what the node's condition does to the memory. Any change of the
// heartbeat, also back, makes the controller forget the lease it knew.
func (m Memory) status(n Node, now time.Time) Memory {
	switch {
	case n.Ready == None && !m.seen:
		return Memory{seen: true, changed: n.Created}
	case n.Ready == None:
		m.posted = false
		return m
	case m.posted && m.heartbeat.Equal(n.Heartbeat):
		return m
	default:
		return Memory{seen: true, posted: true, heartbeat: n.Heartbeat, changed: now}
	}
}
