package spec

import (
	"cmp"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

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
	// Offset is how far the clocks of all nodes are ahead from the beginning, or
	// behind if it is negative. If unset, they are right.
	Offset behavior.Duration `json:"offset,omitempty"`
	// Seed determines when each node renews. If unset, 0.
	Seed int64 `json:"seed,omitempty"`
}

// Garden makes the rig a shoot of Gardener's, with a seed on which
// dependency-watchdog runs.
type Garden struct {
	// Watchdog is the release of dependency-watchdog, or "none". If unset, the
	// newest that is known.
	Watchdog string `json:"watchdog,omitempty"`
	// Prober is its configuration. If unset, all of it is the default.
	Prober Prober `json:"prober,omitzero"`
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
// field (api/prober/types.go). What is unset is the watchdog's default
// (internal/prober/config.go), but for the two fields that have none.
type Prober struct {
	// KubeConfigSecretName is the secret that leads to the shoot. If unset,
	// dependency-watchdog-probe.
	KubeConfigSecretName        string            `json:"kubeConfigSecretName,omitempty"`
	ProbeInterval               behavior.Duration `json:"probeInterval,omitempty"`
	InitialDelay                behavior.Duration `json:"initialDelay,omitempty"`
	ProbeTimeout                behavior.Duration `json:"probeTimeout,omitempty"`
	BackoffJitterFactor         *float64          `json:"backoffJitterFactor,omitempty"`
	KCMNodeMonitorGraceDuration behavior.Duration `json:"kcmNodeMonitorGraceDuration,omitempty"`
	NodeLeaseFailureFraction    *float64          `json:"nodeLeaseFailureFraction,omitempty"`
	// DependentResourceInfos are what is scaled. If unset, what a Gardener scales:
	// down, first machine-controller-manager and cluster-autoscaler, which may be
	// missing, and then kube-controller-manager; up, kube-controller-manager,
	// machine-controller-manager half a minute later, and cluster-autoscaler.
	DependentResourceInfos []DependentResource `json:"dependentResourceInfos,omitempty"`
}

// WithDefaults returns the configuration with the fields that the watchdog wants
// to be set.
func (p Prober) WithDefaults() Prober {
	p.KubeConfigSecretName = cmp.Or(p.KubeConfigSecretName, "dependency-watchdog-probe")
	if p.DependentResourceInfos == nil {
		of := func(name string, up, down int) DependentResource {
			return DependentResource{
				Ref:     ResourceRef{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
				ScaleUp: &Scaling{Level: up}, ScaleDown: &Scaling{Level: down},
			}
		}
		machines, autoscaler := of("machine-controller-manager", 1, 0), of("cluster-autoscaler", 2, 0)
		machines.ScaleUp.InitialDelay = behavior.Duration(30 * time.Second)
		autoscaler.Optional = true
		p.DependentResourceInfos = []DependentResource{of(ControllerManager, 0, 1), machines, autoscaler}
	}
	return p
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
	// Of is kubelet/<node>, or lease-nodes, of which those of a zone are
	// lease-nodes/<zone>. A kubelet whose clock is set is one that was compiled for
	// it, which takes minutes the first time.
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
