package spec

import (
	"cmp"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
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
	// Via are the API servers that the nodes connect to. If unset, the first one.
	Via Via `json:"via,omitempty"`
}

// Garden makes the rig a shoot of Gardener's, with a seed on which
// dependency-watchdog runs.
type Garden struct {
	// Watchdog is the release of dependency-watchdog, or "none". If unset, the
	// newest that is known.
	Watchdog release.Version `json:"watchdog,omitempty"`
	// Prober is its configuration. If unset, all of it is the default.
	Prober record.Prober `json:"prober,omitzero"`
	// Dependents are the Deployments of the shoot's control plane, with their
	// replicas. If unset, there is one replica of each that the prober scales.
	Dependents map[string]int32 `json:"dependents,omitempty"`
	// Shoot is a JSON merge patch (RFC 7386) of the Shoot that the rig makes, which
	// has workers and was reconciled. If unset, it is that.
	Shoot map[string]any `json:"shoot,omitempty"`
	// Via are the API servers of the shoot that the watchdog connects to. If unset, the first
	// one.
	Via Via `json:"via,omitempty"`
}

// NoWatchdog is the release of a garden that has none.
const NoWatchdog = "none"

// WithDefaults returns a configuration with the fields that the watchdog wants to
// be set.
func WithDefaults(p record.Prober) record.Prober {
	p.KubeConfigSecretName = cmp.Or(p.KubeConfigSecretName, "dependency-watchdog-probe")
	if p.DependentResourceInfos == nil {
		of := func(name string, up, down int) record.DependentResource {
			return record.DependentResource{
				Ref:     record.ResourceRef{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
				ScaleUp: &record.Scaling{Level: up}, ScaleDown: &record.Scaling{Level: down},
			}
		}
		machines, autoscaler := of("machine-controller-manager", 1, 0), of("cluster-autoscaler", 2, 0)
		machines.ScaleUp.InitialDelay = behavior.Duration(30 * time.Second)
		autoscaler.Optional = true
		p.DependentResourceInfos = []record.DependentResource{of(ControllerManager, 0, 1), machines, autoscaler}
	}
	return p
}
