// Package watchdog says what the prober of Gardener's dependency-watchdog does:
// it asks a shoot's API server how old the leases of the nodes are, and when too
// many of them have run out it takes the controllers away which would replace
// those nodes, until their leases are renewed again.
//
// It is written from the text that describes the prober (docs/concepts/prober.md
// of github.com/gardener/dependency-watchdog, "the text" from here on) and from
// what its releases were seen to do; where these differ is one table, Behaviors.
// All of it is values in, values out, in a time that is given.
package watchdog

import (
	"cmp"
	"time"
)

// Config is the configuration of a prober (api/prober/types.go, and for the
// defaults internal/prober/config.go).
type Config struct {
	// Grace is how long the node-lifecycle controller lets a node be silent,
	// kcmNodeMonitorGraceDuration. If unset, 40 s.
	Grace time.Duration
	// Fraction is the part of all candidates whose leases must have run out for
	// the probe to fail, nodeLeaseFailureFraction. If unset, 0.6.
	Fraction float64
	// Interval is the time from the end of a probe, and of all that came of it, to
	// the beginning of the next, probeInterval. If unset, 10 s.
	Interval time.Duration
	// Jitter is the largest part of Interval that is added at random,
	// backoffJitterFactor. If unset, 0.2.
	Jitter float64
	// InitialDelay is the time before the first probe. If unset, 30 s.
	InitialDelay time.Duration
	// Timeout is how long a request to the shoot's API server waits for an answer,
	// probeTimeout. If unset, 30 s.
	Timeout time.Duration
	// Dependents are what is scaled, dependentResourceInfos.
	Dependents []Dependent
}

// WithDefaults is the configuration with everything set.
func (c Config) WithDefaults() Config {
	c.Grace = cmp.Or(c.Grace, 40*time.Second)
	c.Fraction = cmp.Or(c.Fraction, 0.6)
	c.Interval = cmp.Or(c.Interval, 10*time.Second)
	c.Jitter = cmp.Or(c.Jitter, 0.2)
	c.InitialDelay = cmp.Or(c.InitialDelay, 30*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	return c
}

// For is the configuration of the prober of one cluster, whose own grace period
// comes first (controllers/cluster/cluster_controller.go).
func (c Config) For(cluster Cluster) Config {
	c.Grace = cmp.Or(cluster.Grace, c.Grace)
	return c
}

// Dependent is a resource that is scaled.
type Dependent struct {
	// Name is that of a Deployment in the shoot's namespace.
	Name string
	// Optional dependents need not be there.
	Optional bool
	// Up and Down are when the dependent's turn comes.
	Up, Down Scaling
}

// Scaling is when a dependent's turn comes. The timeout of the requests is left
// out: in the model, those to the seed take no time.
type Scaling struct {
	// Level is the order: what is on a level waits for all that is on lower ones.
	Level int
	// InitialDelay is waited for before each attempt. If unset, there is none.
	InitialDelay time.Duration
}

// ControllerManager is the Deployment in which the node-lifecycle controller runs.
const ControllerManager = "kube-controller-manager"
