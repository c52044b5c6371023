package oracle

import (
	"encoding/json"
	"time"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/record"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/model"
	"github.com/skewrig/skewrig/scenarios/plan"
)

const apiserver = "kube-apiserver"

// run is a record, put in order for the oracles.
type run struct {
	cell   plan.Cell
	events []record.Event
	// lives are the processes of each component, in their order.
	lives map[string][]life
	// versions are the states of objects other than events, in the order in
	// which they were seen.
	versions []version
	// asked are the answers to the scenario's own requests that succeeded.
	asked []asked
}

// life is one process of a component. It begins when the one before it has
// ended: the record says when a process is ready, and it works before.
type life struct {
	model.Component
	from, until         int // places in the record
	ready               int // the place where it is recorded as ready
	fromTime, untilTime time.Time
	readyTime           time.Time
}

// version is a state of an object, at its place in the record.
type version struct {
	at   int
	time time.Time
	name string // resource/namespace/name
	gone bool
	object
}

// asked is an object as the API server returned it to the scenario.
type asked struct {
	at   int
	step string // its name
	name string
	// created is false for a change.
	created bool
	object
}

func newRun(cell plan.Cell, events []record.Event) *run {
	r := &run{cell: cell, events: events, lives: make(map[string][]life)}
	for i, e := range events {
		if started, ok := record.As[cluster.ComponentStarted](e); ok {
			r.started(i, e, started)
		}
		if _, ok := record.As[cluster.ComponentStopped](e); ok {
			r.stopped(i, e)
		}
		if seen, ok := record.As[cluster.ObjectObserved](e); ok && seen.Resource != "events" {
			o := decode(seen.Object)
			r.versions = append(r.versions, version{at: i, time: e.At, name: e.Subject, gone: seen.Change == "deleted", object: o})
		}
		if written, ok := record.As[cluster.StaticPodWritten](e); ok {
			o := decode(written.Pod)
			o.pod.NodeName = written.Node
			r.versions = append(r.versions, version{at: i, time: e.At, name: "pods/" + e.Subject, object: o})
		}
		if answer, ok := record.As[check.Answer](e); ok && answer.Code < 300 {
			body, err := json.Marshal(answer.Response)
			if err != nil {
				continue // it was decoded just now
			}
			r.asked = append(r.asked, asked{at: i, step: e.Subject, name: answer.Object, created: answer.Code == 201, object: decode(body)})
		}
	}
	return r
}

func (r *run) started(i int, e record.Event, started cluster.ComponentStarted) {
	l := life{
		Component: model.Component{Version: started.Version, Gates: started.Gates},
		ready:     i, readyTime: e.At, until: len(r.events), untilTime: r.events[len(r.events)-1].At,
	}
	if before := r.lives[e.Subject]; len(before) > 0 {
		l.from, l.fromTime = before[len(before)-1].until, before[len(before)-1].untilTime
	}
	r.lives[e.Subject] = append(r.lives[e.Subject], l)
}

func (r *run) stopped(i int, e record.Event) {
	lives := r.lives[e.Subject]
	if len(lives) == 0 {
		return
	}
	last := &lives[len(lives)-1]
	last.until, last.untilTime = i, e.At
}

// serverAt returns the API server that ran at a place in the record, or was
// being started.
func (r *run) serverAt(at int) (life, bool) {
	for _, l := range r.lives[apiserver] {
		if l.from <= at && at < l.until {
			return l, true
		}
	}
	return life{}, false
}

// slack is how long after the end of a process what it did may still turn up
// elsewhere: a connection that waits to be accepted.
const slack = 2 * time.Second

// around returns the processes of a component that may have done something that
// was noticed at that time.
func (r *run) around(component string, t time.Time) (lives []life) {
	for _, l := range r.lives[component] {
		if !t.Before(l.fromTime) && t.Before(l.untilTime.Add(slack)) {
			lives = append(lives, l)
		}
	}
	return lives
}

// byUID returns the states of each object, in the order of their appearance.
// That an object is gone is not among them.
func (r *run) byUID() (all [][]version) {
	places := make(map[string]int)
	for _, v := range r.versions {
		if v.gone || v.Metadata.UID == "" {
			continue
		}
		i, seen := places[v.Metadata.UID]
		if !seen {
			i = len(all)
			places[v.Metadata.UID] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], v)
	}
	return all
}
