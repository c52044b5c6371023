package world

import (
	"fmt"
	"time"

	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// Event is something that happened: one of the types below. Its text is one
// line.
type Event interface{ fmt.Stringer }

// NodeChanged is that a node has another status: Unknown, when the controller
// says so, or True, when the node does.
type NodeChanged struct {
	Node  int
	Ready nodelife.Status
}

// ControllerRuns is that the node-lifecycle controller has started, without any
// memory, or that it has ended.
type ControllerRuns struct{ Runs bool }

// ReplicasReady is that a Deployment has another number of ready replicas.
type ReplicasReady struct {
	Deployment string
	Ready      int
}

// ProberChanged is what became of the prober, and why.
type ProberChanged struct {
	Action watchdog.Action
	Why    string
}

// Probed is that a probe has ended.
type Probed struct{ watchdog.Outcome }

// BackedOff is that the prober does not probe before a time.
type BackedOff struct{ Until time.Time }

// Changed is that the watchdog has changed a dependent.
type Changed struct{ watchdog.Applied }

// ScalingFailed is that an operation of the watchdog has failed.
type ScalingFailed struct{ Err error }

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
