package spec

import "github.com/skewrig/skewrig/fakeservers/behavior"

// NodeMonitor is how kube-controller-manager looks after nodes.
type NodeMonitor struct {
	// Period is how often it looks, and Grace for how long a node may be silent
	// before it is Unknown. If unset, what the release does.
	Period behavior.Duration `json:"period,omitempty"`
	Grace  behavior.Duration `json:"grace,omitempty"`
}

// LeaseNodes are simulated nodes that do nothing but renew their leases, as a
// kubelet does.
type LeaseNodes struct {
	// Count is how many there are, and Zones how many in each zone, by the zone's
	// name. Exactly one of them is set.
	Count int            `json:"count,omitempty"`
	Zones map[string]int `json:"zones,omitempty"`
	// Duration is that of a lease. If unset, 40 s.
	Duration behavior.Duration `json:"duration,omitempty"`
	// Interval is the time between two renewals. If unset, a quarter of Duration.
	Interval behavior.Duration `json:"interval,omitempty"`
	// Seed determines when each node renews. If unset, 0.
	Seed int64 `json:"seed,omitempty"`
}

// Garden makes the rig a shoot of Gardener's, with a seed on which
// dependency-watchdog runs.
type Garden struct {
	// Watchdog is the release of dependency-watchdog, or "none". If unset, the
	// newest that is known.
	Watchdog string `json:"watchdog,omitempty"`
	// Prober is its configuration.
	Prober Prober `json:"prober"`
	// Dependents are the Deployments of the shoot's control plane, with their
	// replicas. If unset, there is one replica of each that the prober scales.
	Dependents map[string]int32 `json:"dependents,omitempty"`
	// Shoot is a JSON merge patch (RFC 7386) of the Shoot that the rig makes, which
	// has workers and was reconciled. If unset, it is that.
	Shoot map[string]any `json:"shoot,omitempty"`
}

// NoWatchdog is the release of a garden that has none.
const NoWatchdog = "none"

// Prober is the configuration file of dependency-watchdog's prober, field by
// field (api/prober/types.go). If a duration is unset, it is the watchdog's
// default (internal/prober/config.go).
type Prober struct {
	KubeConfigSecretName        string              `json:"kubeConfigSecretName"`
	ProbeInterval               behavior.Duration   `json:"probeInterval,omitempty"`
	InitialDelay                behavior.Duration   `json:"initialDelay,omitempty"`
	ProbeTimeout                behavior.Duration   `json:"probeTimeout,omitempty"`
	BackoffJitterFactor         *float64            `json:"backoffJitterFactor,omitempty"`
	KCMNodeMonitorGraceDuration behavior.Duration   `json:"kcmNodeMonitorGraceDuration,omitempty"`
	NodeLeaseFailureFraction    *float64            `json:"nodeLeaseFailureFraction,omitempty"`
	DependentResourceInfos      []DependentResource `json:"dependentResourceInfos"`
}

// DependentResource is what the prober scales.
type DependentResource struct {
	Ref      ResourceRef `json:"ref"`
	Optional bool        `json:"optional,omitempty"`
	// ScaleUp and ScaleDown say in which order. The watchdog wants both.
	ScaleUp   *Scaling `json:"scaleUp,omitempty"`
	ScaleDown *Scaling `json:"scaleDown,omitempty"`
}

// ResourceRef names a Deployment.
type ResourceRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Scaling is the order of one direction of scaling.
type Scaling struct {
	// Level is the turn: the lowest comes first.
	Level        int               `json:"level"`
	InitialDelay behavior.Duration `json:"initialDelay,omitempty"`
	Timeout      behavior.Duration `json:"timeout,omitempty"`
}

// Answer has the link of dependency-watchdog to an API server answer requests
// itself, or late.
type Answer struct {
	// From is who asks: dependency-watchdog, or its link to another API server, as
	// dependency-watchdog->seed/kube-apiserver.
	From string `json:"from"`
	// Path is that of the requests. If unset, all.
	Path string `json:"path,omitempty"`
	// Status is the HTTP status of the answer. If unset, the API server answers.
	Status int `json:"status,omitempty"`
	// RetryAfter goes with a status. If unset, nothing does.
	RetryAfter behavior.Duration `json:"retryAfter,omitempty"`
	// Delay is how much later the answer comes. If unset, at once.
	Delay behavior.Duration `json:"delay,omitempty"`
}

// Clock sets the clock of a node. Exactly one of its fields other than Of is set.
type Clock struct {
	// Of is lease-nodes, or those of a zone, as lease-nodes/a.
	Of string `json:"of"`
	// Offset is how far it is ahead from now on, or behind if negative; "0s" makes
	// it right.
	Offset *behavior.Duration `json:"offset,omitempty"`
	// Step sets it forward, or back if negative.
	Step behavior.Duration `json:"step,omitempty"`
	// Drift is by how many millionths it is too fast from now on.
	Drift float64 `json:"drift,omitempty"`
	// Frozen stops it.
	Frozen bool `json:"frozen,omitempty"`
}
