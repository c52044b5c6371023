package world

import (
	"time"

	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// Event is something that happened: one of the types below.
type Event any

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
