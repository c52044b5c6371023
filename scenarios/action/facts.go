package action

import (
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Facts are what is known of a planned action before it runs. Each kind of action fills in its own, and what asks about
// an action asks these: no other package has a list of kinds.
type Facts struct {
	// Needs is the ability that what the action runs on must have, and Component what it is used on, if that is one
	// component.
	Needs     Ability
	Component string
	// Reach is how far it reaches. It counts only if Needs is set.
	Reach Reach
	// Changes is true if afterwards something else runs, or runs differently.
	Changes bool
	// Silences is true if nodes may stop to report, so that a controller manager acts on it.
	Silences bool

	// Creates are the objects that an API server is asked to create.
	Creates []map[string]any
	// Writes is the request that changes an object. Its body is the object, or a JSON merge patch (RFC 7386).
	Writes *Write
	// Types is the release by whose types all of the object is written, and Times how often, if that is more than once.
	Types release.Version
	Times int
	// Deletes is the object that is deleted.
	Deletes spec.ObjectRef
	// WritesAnything is true if what it changes of objects is not known.
	WritesAnything bool
	// Unanswered is how often it may write to an object without an answer in the record.
	Unanswered int
	// Static is the static pod that it starts or removes.
	Static StaticPod

	// Restarts are what it restarts, in this order.
	Restarts []Restart
	// Ends are the components that end by it, those that it restarts among them.
	Ends []string
	// Links are those that must be able to have faults, or to lead elsewhere.
	Links []spec.Link
	// Inspects is the component whose requests must be seen; empty if none must.
	Inspects string
	// Starts are the programs that it starts which are no components of the rig.
	Starts []Program

	// Gives are what expressions can read once it is done.
	Gives []Reading
	// Checks are what is watched while it runs.
	Checks []Check

	// Rests is true if it waits until all is at rest. Laws of that look at many resources, which are observed then.
	Rests bool

	// Lasts is how long it takes on purpose, and Bounded is true if it ends by itself at a time of its own.
	Lasts   time.Duration
	Bounded bool
	// Estimate is about how long it takes, to compare cells with each other.
	Estimate time.Duration
}

// Program is a program of a release.
type Program struct {
	Name    string
	Version release.Version
}

// Reading is what an expression reads: a variable, at a name. Without one, it is the name of the step.
type Reading struct{ Variable, Name string }

// Merge returns the object of which the action changes a part, and the JSON merge patch of it.
func (f Facts) Merge() (of spec.ObjectRef, patch map[string]any, is bool) {
	if f.Writes == nil || f.Writes.Verb != Patches && f.Writes.Verb != Puts {
		return of, nil, false
	}
	return f.Writes.Ref, f.Writes.Body, true
}

// Ability is what an action needs of what it runs on.
type Ability int

// The abilities. An action that does not name one is taken for one that nothing has.
const (
	_ Ability = iota
	// NeedsNothing is for actions that only look at the record.
	NeedsNothing
	// NeedsObjects is for requests to an API server.
	NeedsObjects
	NeedsClients     // of releases
	NeedsKubectl     // of releases
	NeedsWebhooks    // that an API server asks
	NeedsDefinitions // of resources
	NeedsStaticPods
	NeedsRestarts
	NeedsStops
	NeedsTimedStops // which measure how long a component takes to end
	NeedsReboots
	NeedsMetrics
	NeedsLogs
	NeedsPaths // of components
	NeedsSockets
	NeedsPodsAPI
	NeedsEtcd
	NeedsRoutes // to other API servers
	NeedsLinks  // that can be faulty
	// NeedsRuntimeConfig is for a fault of the calls by which a kubelet asks its container runtime for its configuration.
	NeedsRuntimeConfig
	NeedsClocks // of nodes
)

// Abilities returns all of them.
func Abilities() (all []Ability) {
	for a := NeedsNothing; a <= NeedsClocks; a++ {
		all = append(all, a)
	}
	return all
}

// About how long actions take that start something, or wait for something to happen.
const (
	startEstimate = 4 * time.Second
	eventEstimate = 3 * time.Second
)

// gives is for an action that gives a variable by the name of its step.
func gives(variable string) []Reading { return []Reading{{Variable: variable}} }

// programs are the releases of a program.
func programs(name string, versions ...release.Version) (all []Program) {
	for _, v := range versions {
		all = append(all, Program{name, v})
	}
	return all
}
