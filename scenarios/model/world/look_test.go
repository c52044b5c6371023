package world

import (
	"fmt"
	"time"

	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// Nodes are all nodes.
func (w *World) Nodes() (all []int) {
	for i := range w.nodes {
		all = append(all, i)
	}
	return all
}

// Count is how many nodes have a status.
func (w *World) Count(s nodelife.Status) int {
	count := 0
	for i := range w.nodes {
		if w.nodes[i].api.Ready == s {
			count++
		}
	}
	return count
}

// Cluster returns the cluster as the watchdog knows it.
func (w *World) Cluster() *watchdog.Cluster { return w.watchdog.cluster }

// gardeners is the configuration that Gardener deploys
// (pkg/component/kubernetes/apiserver/dependency_watchdog.go, and for the interval
// pkg/component/nodemanagement/dependencywatchdog/access.go).
func gardeners() watchdog.Config {
	return watchdog.Config{
		Interval: 30 * time.Second,
		Dependents: []watchdog.Dependent{
			{Name: watchdog.ControllerManager, Up: watchdog.Scaling{Level: 0}, Down: watchdog.Scaling{Level: 1}},
			{Name: "machine-controller-manager", Up: watchdog.Scaling{Level: 1, InitialDelay: 30 * time.Second}, Down: watchdog.Scaling{Level: 0}},
			{Name: "cluster-autoscaler", Optional: true, Up: watchdog.Scaling{Level: 2}, Down: watchdog.Scaling{Level: 0}},
		},
	}
}

func (e NodeChanged) String() string { return fmt.Sprintf("node %d is Ready=%s", e.Node, e.Ready) }

func (e ControllerRuns) String() string {
	if e.Runs {
		return "the node-lifecycle controller starts"
	}
	return "the node-lifecycle controller ends"
}

func (e ReplicasReady) String() string { return fmt.Sprintf("%s: %d ready", e.Deployment, e.Ready) }

func (e ProberChanged) String() string { return fmt.Sprintf("prober: %s, as %s", e.Action, e.Why) }

func (e Probed) String() string {
	if e.Failed != "" {
		return fmt.Sprintf("probe: %s: %s", e.Failed, e.Answer)
	}
	do := string(e.Verdict.Do)
	if do == "" {
		do = "do nothing"
	}
	return fmt.Sprintf("probe: %d of %d have run out: %s", e.Verdict.Expired, e.Verdict.Candidates, do)
}

func (e BackedOff) String() string { return "prober: backs off" }

func (e Changed) String() string { return fmt.Sprintf("%s: %s", e.Dependent, e.Change) }

func (e ScalingFailed) String() string { return e.Err.Error() }
