// Package timeline folds a history into what happened to each thing in it: the
// lives of components, the versions of objects, containers and who connected to
// them, links, leases, and what the Pods API of a node answered. All that judges or
// narrates a run asks a timeline instead of folding the history again.
//
// A timeline grows by one event at a time, so that a run can be judged while it is
// recorded, and the same events always make the same timeline. It is not safe for
// concurrent use: much of it is decoded when it is first asked for.
//
// The fields with a name in JSON are what expressions see (package check).
package timeline

import (
	"iter"
	"math"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// Moment is a place in a history, and its time.
type Moment struct {
	Place int       `json:"-"` // of an event, counted from 0
	Time  time.Time `json:"-"`
}

// Entry is an event with its payload decoded: see record.Decode.
type Entry struct {
	Moment
	record.Event
	Payload record.Payload
}

// Timeline is what a history amounts to. Slices have what happened, in its order.
// Maps have how things are at the end of the history, by the names that expressions
// have for them: see Name.
type Timeline struct {
	// Events is the history.
	Events []record.Event
	// Known are the pods and containers that were ever seen.
	Known map[string]bool

	// Steps are those that were begun, and Windows those of checks by id.
	Steps   []*Step
	Windows map[string]*Window
	// Answers are what the API server answered to requests about objects, and Answered
	// the last one to each step.
	Answers  []*Answer
	Answered map[string]*Answer
	// Rests are when all was at rest.
	Rests []*Rest
	// Metrics are what was scraped last, by component and metric. Scrapes are the
	// metrics that a step scraped, and Logs the lines that it found, by step.
	Metrics map[string]map[string]any
	Scrapes map[string]any
	Logs    map[string]any
	// Kubectl are how a kubectl ended, by the step that ran it.
	Kubectl map[string]*Raw
	// Stored are what etcd had of an object, by the step that read it.
	Stored map[string]*Raw
	// Sockets are what TCP sockets a component had, by the step that read them.
	Sockets map[string]any

	// Ran are the components that ever ran. For their processes, see Lives.
	Ran map[string]*Component
	// Routes are where components were led.
	Routes []Route
	// Faults are those of links, and Calls the requests that passed one, by link.
	Faults []*Fault
	Calls  map[string][]Call
	// Webhooks are what API servers asked admission webhooks, by name.
	Webhooks map[string][]WebhookCall
	// Conversions are what they asked conversion webhooks, by the name of the
	// CustomResourceDefinition.
	Conversions map[string][]ConversionCall
	// Leases are how old the leases of simulated nodes are, by zone: "lease-nodes/a".
	Leases map[string]record.ZoneAges

	// Versions are the states of objects that were seen, but for Events, and of static
	// pods that were written. History has those of each object that was there, and
	// Objects the last one if it still is.
	Versions []*Version
	History  map[string][]*Version
	Objects  map[string]*Version
	// Pods are those of Objects, Nodes the nodes of the rig itself, and Dependents the
	// Deployments of its seed.
	Pods       map[string]*Version
	Nodes      map[string]*Node
	Dependents map[string]*Dependent
	// Happenings are the Event objects that said something new, and PodEvents those
	// about pods, by pod.
	Happenings []Happening
	PodEvents  map[string][]*PodEvent

	// Runs are the programs of containers, and Containers what was seen of each container
	// by its name.
	Runs       []*Run
	Containers map[string]*Container
	// Connections are all that there were to containers, and Connected those that say
	// something of a container.
	Connections []*Connection
	Connected   map[string][]*Connection

	// PodsAnswers, PodsWatches and PodsPolls are what the Pods API of a node answered,
	// by step.
	PodsAnswers map[string]*PodsAnswers
	PodsWatches map[string]*PodsWatch
	PodsPolls   map[string]*PodsPoll

	// Losses are the times in which events may be missing: see Lost.
	Losses []*Loss

	observing  string                 // the API server that shows objects
	states     map[string][]*Version  // also those of static pods, and that objects are gone
	nodes      map[string]string      // by pod: where it got a sandbox
	sandboxed  map[string][]time.Time // by pod: when each of that name got its first one
	stopped    map[string]time.Time   // when a component ended last
	events     map[string]*PodEvent   // by name of the Event object
	nodeEvents map[string][]*PodEvent // by node
	counts     map[string]int         // how often an Event object was seen to have happened
	givenUp    []*Connection          // since the current step began
}

// New returns a timeline in which nothing happened.
func New() *Timeline {
	return &Timeline{
		Known: make(map[string]bool), Windows: make(map[string]*Window), Answered: make(map[string]*Answer),
		Metrics: make(map[string]map[string]any), Scrapes: make(map[string]any), Logs: make(map[string]any), Webhooks: make(map[string][]WebhookCall), Conversions: make(map[string][]ConversionCall), Kubectl: make(map[string]*Raw), Stored: make(map[string]*Raw), Sockets: make(map[string]any),
		Ran: make(map[string]*Component), Calls: make(map[string][]Call), Leases: make(map[string]record.ZoneAges),
		History: make(map[string][]*Version), Objects: make(map[string]*Version), Pods: make(map[string]*Version),
		Nodes: make(map[string]*Node), Dependents: make(map[string]*Dependent), PodEvents: make(map[string][]*PodEvent),
		Containers: make(map[string]*Container), Connected: make(map[string][]*Connection),
		PodsAnswers: make(map[string]*PodsAnswers), PodsWatches: make(map[string]*PodsWatch), PodsPolls: make(map[string]*PodsPoll),
		observing: record.APIServer, states: make(map[string][]*Version), nodes: make(map[string]string), sandboxed: make(map[string][]time.Time), stopped: make(map[string]time.Time),
		events: make(map[string]*PodEvent), nodeEvents: make(map[string][]*PodEvent), counts: make(map[string]int),
	}
}

// Of is the timeline of a history.
func Of(events []record.Event) *Timeline {
	t := New()
	for _, e := range events {
		t.Add(e)
	}
	return t
}

// Add adds the next event.
func (t *Timeline) Add(e record.Event) {
	t.Events = append(t.Events, e)
	entry := t.entry(len(t.Events) - 1)
	t.addCourse(entry)
	t.addRig(entry)
	t.addContainer(entry)
	t.addObject(entry)
	t.addPodsAPI(entry)
	for _, c := range t.Ran {
		if c.Running {
			c.Until = Moment{Place: len(t.Events), Time: e.At}
		}
	}
}

func (t *Timeline) entry(place int) Entry {
	e := t.Events[place]
	return Entry{Moment: Moment{Place: place, Time: e.At}, Event: e, Payload: record.Decode(e)}
}

// Entries yields all that happened, for what no other query has.
func (t *Timeline) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for place := range t.Events {
			if !yield(t.entry(place)) {
				return
			}
		}
	}
}

// Name is what expressions call a pod or a container: without the namespace if that
// is the default one.
func Name(path ...string) string { return strings.TrimPrefix(strings.Join(path, "/"), "default/") }

// Seconds is a time since the history began, to the millisecond.
func (t *Timeline) Seconds(at time.Time) float64 {
	return math.Round(at.Sub(t.Events[0].At).Seconds()*1000) / 1000
}
