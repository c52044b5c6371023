package watchdog

import (
	"maps"
	"slices"
	"time"
)

// Cluster is what a Cluster resource says of a shoot.
type Cluster struct {
	// Deleting is true if the shoot has a deletionTimestamp.
	Deleting bool
	// Hibernation is true if the shoot is to hibernate, and Hibernated if it does.
	Hibernation, Hibernated bool
	// LastOperation is status.lastOperation. If unset, there is none.
	LastOperation LastOperation
	// Workers are the shoot's worker pools.
	Workers []Worker
	// Grace is the shoot's own nodeMonitorGracePeriod. If unset, the
	// configuration's counts. A prober that runs keeps the one it was started with.
	Grace time.Duration
}

// LastOperation is what Gardener did last to a shoot.
type LastOperation struct{ Type, State string }

// Worker is a worker pool.
type Worker struct {
	Name string
	// Settings is true if the pool has settings of its own for the
	// machine-controller-manager.
	Settings bool
	// Conditions are those that make a node unhealthy, of these settings. If unset,
	// they are those of the code.
	Conditions []string
}

// Conditions are the node conditions that make nodes unhealthy, of the workers
// that have settings.
func (c Cluster) Conditions() map[string][]string {
	all := make(map[string][]string)
	for _, w := range c.Workers {
		if !w.Settings {
			continue
		}
		all[w.Name] = w.Conditions
		if len(w.Conditions) == 0 {
			all[w.Name] = unhealthyByDefault()
		}
	}
	return all
}

// Action is what becomes of a cluster's prober.
type Action string

// The actions.
const (
	Leave   Action = "leave"
	Start   Action = "start"
	Stop    Action = "stop"
	Restart Action = "restart"
)

// Lifecycle says what becomes of the prober, and why, when there is news of a
// cluster, which is nil if it was deleted. Running is the cluster for which the
// prober was started, nil if there is none.
func (b Behavior) Lifecycle(cluster, running *Cluster) (Action, string) {
	why := stops(cluster)
	switch {
	case why != "" && running != nil:
		return Stop, why
	case why != "":
		return Leave, why
	case b.Patient && !made(*cluster):
		return Leave, "it is being made, or wakes up"
	case running == nil:
		return Start, "it is there"
	case b.Restarts && !maps.EqualFunc(cluster.Conditions(), running.Conditions(), slices.Equal):
		return Restart, "the node conditions of its workers have changed"
	default:
		return Leave, "it has a prober"
	}
}

// stops is why a cluster has no prober (the text: Prober lifecycle), if it has
// none.
func stops(c *Cluster) string {
	switch {
	case c == nil:
		return "it is gone"
	case c.Deleting:
		return "it is being deleted"
	case c.Hibernation:
		return "it hibernates"
	case c.LastOperation.Type == "Migrate":
		return "it migrates"
	case len(c.Workers) == 0:
		return "it has no workers"
	default:
		return ""
	}
}

// made reports whether a cluster has been made: reconciling says so, whatever
// comes of it, and creating or restoring it only when that has succeeded.
func made(c Cluster) bool {
	if c.Hibernated {
		return false
	}
	switch c.LastOperation.Type {
	case "Reconcile":
		return true
	case "Create", "Restore":
		return c.LastOperation.State == "Succeeded"
	default:
		return false
	}
}
