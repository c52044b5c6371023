package oracle

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
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
	// byName and byUID are the same by object. Those of one that is gone are in
	// byName only.
	byName map[string][]version
	byUID  [][]version
	// asked are the answers to the scenario's own requests that succeeded.
	asked []asked
	// connections are all that fake servers had.
	connections []connection
	// manifests are the objects with which the scenario creates others, by the
	// step and the name.
	manifests map[[2]string]object
	// patches are the patches of the scenario, by the step. An answer to another
	// step has one that changes nothing.
	patches map[string]*object
}

// connection is a connection to a container: namespace/pod/container.
type connection struct {
	container string
	record.Connection
}

// pod is the name of the object that the container is part of.
func (c connection) pod() string {
	return "pods/" + c.container[:max(0, strings.LastIndex(c.container, "/"))]
}

// life is one process of a component. It begins when the one before it has
// ended: the record says when a process is ready, and it works before.
type life struct {
	model.Component
	from, until         int // places in the record
	ready               int // the place where it is recorded as ready
	fromTime, untilTime time.Time
	started             time.Time // when the process was started
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
	r := &run{
		cell: cell, events: events, lives: make(map[string][]life),
		byName: make(map[string][]version), manifests: manifestsOf(cell), patches: patchesOf(cell),
	}
	for i, e := range events {
		switch e.Kind {
		case record.ComponentStarted{}.EventKind():
			r.started(i, e)
		case record.ComponentStopped{}.EventKind():
			r.stopped(i, e)
		case record.ObjectObserved{}.EventKind():
			r.observed(i, e)
		case record.StaticPodWritten{}.EventKind():
			r.written(i, e)
		case record.APIAnswer{}.EventKind():
			r.answeredTo(i, e)
		case record.Connection{}.EventKind():
			if c, ok := record.As[record.Connection](e); ok {
				r.connections = append(r.connections, connection{e.Subject, c})
			}
		}
	}
	r.byUID = groupByUID(r.versions)
	return r
}

func (r *run) observed(i int, e record.Event) {
	seen, ok := record.As[record.ObjectObserved](e)
	if !ok || seen.Resource == "events" || seen.Resource == "leases" || seen.Cluster != "" {
		return
	}
	r.add(version{at: i, time: e.At, name: e.Subject, gone: seen.Change == "deleted", object: decode(seen.Object)})
}

// written takes a static pod for a state of its pod: what its kubelet runs.
func (r *run) written(i int, e record.Event) {
	written, ok := record.As[record.StaticPodWritten](e)
	if !ok {
		return
	}
	o := decode(written.Pod)
	o.pod.NodeName = written.Node
	r.add(version{at: i, time: e.At, name: "pods/" + e.Subject, object: o})
}

func (r *run) add(v version) {
	r.versions = append(r.versions, v)
	r.byName[v.name] = append(r.byName[v.name], v)
}

func (r *run) answeredTo(i int, e record.Event) {
	answer, ok := record.As[record.APIAnswer](e)
	if !ok || answer.Code >= 300 {
		return
	}
	if body, err := json.Marshal(answer.Response); err == nil { // it was decoded just now
		r.asked = append(r.asked, asked{at: i, step: e.Subject, name: answer.Object, created: answer.Code == 201, object: decode(body)})
	}
}

// manifestsOf are the objects that the steps of a cell create.
func manifestsOf(cell plan.Cell) map[[2]string]object {
	all := make(map[[2]string]object)
	for _, step := range cell.Steps {
		apply, _ := step.Action.(plan.Apply)
		for _, manifest := range apply.Objects {
			if body, err := json.Marshal(manifest); err == nil { // it was read from a file
				o := decode(body)
				kind, _ := manifest["kind"].(string)
				all[[2]string{step.Name, strings.ToLower(kind) + "s/" + o.Metadata.Name}] = o
			}
		}
	}
	return all
}

// patchesOf are the patches of the steps of a cell, as far as they are about
// what the oracles look at.
func patchesOf(cell plan.Cell) map[string]*object {
	all := make(map[string]*object)
	for _, step := range cell.Steps {
		patch, _ := step.Action.(plan.Patch)
		body, err := json.Marshal(patch.Merge)
		if err != nil {
			continue // it was read from a file
		}
		o := decode(body)
		all[step.Name] = &o
	}
	return all
}

// manifest returns the object with which the scenario created one.
func (r *run) manifest(a asked) (object, bool) {
	resource, _, _ := strings.Cut(a.name, "/")
	o, known := r.manifests[[2]string{a.step, resource + "/" + a.Metadata.Name}]
	return o, known
}

func (r *run) started(i int, e record.Event) {
	started, ok := record.As[record.ComponentStarted](e)
	if !ok {
		return
	}
	l := life{
		Component: model.Component{Version: started.Version, Gates: started.Gates},
		ready:     i, until: len(r.events), untilTime: r.events[len(r.events)-1].At,
		started: e.At.Add(-time.Duration(started.ReadySeconds * float64(time.Second))),
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

// serverAt returns the API server that was ready at a place in the record. Where
// none was, what is seen may be the last one's or the next one's.
func (r *run) serverAt(at int) (life, bool) {
	for _, l := range r.lives[apiserver] {
		if l.ready <= at && at < l.until {
			return l, true
		}
	}
	return life{}, false
}

// slack is how long after the end of a process what it did may still turn up
// elsewhere, such as a connection that waits to be accepted. It is longer than a
// machine may be late and still be trusted (package check).
const slack = 4 * time.Second

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

// groupByUID returns the states of each object, in the order of their
// appearance. That an object is gone is not among them.
func groupByUID(versions []version) (all [][]version) {
	places := make(map[string]int)
	for _, v := range versions {
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
