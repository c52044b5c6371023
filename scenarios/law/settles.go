package law

import (
	"fmt"
	"time"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// Breaches by components that do not come to rest.
const (
	Endless = "it is written without end"
	Asked   = "it is asked for without end"
	Events  = "events about it do not end"
)

var settles = Law{
	Breach:    Endless,
	Statement: "A controller settles: an object, and what it owns, are written a few times after a change.",
	Source:    conventions + ", Controllers",
	proof:     true,
	breach:    func(c *Course, o Object) string { return c.tooMany("writes of it and of what it owns", c.writes(o)) },
	check: func(o Object, _ bool) Check {
		children := kube.ByName(o.Kind).PerTemplate
		if children == "" {
			return Check{}
		}
		made := fmt.Sprintf("history.filter(name, name.startsWith('%s/default/%s-')).size()", children, o.Name)
		return Check{ID: "ends", Observe: made, AtMost: map[string]any{"times": 10, "for": "15s"}}
	},
}

var asksNothing = Law{
	Breach:    Asked,
	Statement: "A controller that has nothing to change does not write.",
	Source:    conventions + ", Controllers",
	proof:     true,
	Follows:   []string{Endless},
	breach:    func(c *Course, o Object) string { return c.tooMany("requests to write it or what it owns", c.asked(o)) },
}

var reportsEnd = Law{
	Breach:    Events,
	Statement: "An event is reported a few times.",
	Source:    conventions + ", Events",
	proof:     true,
	Follows:   []string{Endless},
	breach:    func(c *Course, o Object) string { return c.tooMany("events about it and what it owns", c.reported(o)) },
}

// counts is how often something happens to an object in a phase.
type counts func(Phase) int

func (c *Course) writes(o Object) counts {
	return func(p Phase) int {
		from, to := c.span(p)
		return Writes(c.family(o).versions, from, to)
	}
}

func (c *Course) asked(o Object) counts { return func(p Phase) int { return c.requests[o.named()][p] } }

func (c *Course) reported(o Object) counts {
	return func(p Phase) (n int) {
		from, to := c.span(p)
		for _, e := range c.family(o).events {
			if isIn(e.Time, from, to) {
				n++
			}
		}
		return n
	}
}

// Busy is how often an object and what it owns are written in a phase, how often components ask for that, and how many events
// there are, by the breach of the law that bounds it.
func (c *Course) Busy(o Object, p Phase) map[string]int {
	return map[string]int{Endless: c.writes(o)(p), Asked: c.asked(o)(p), Events: c.reported(o)(p)}
}

// MaxWrites is how often an object and what it owns may be written in a phase, how often a component may ask
// for that, and how many events there may be: a mutation makes a few for each of some replicas.
const MaxWrites = 60

// tooMany says of which phase there is too much, if there is one.
func (c *Course) tooMany(what string, count counts) string {
	for _, p := range order {
		from, to := c.span(p)
		if n := count(p); n > MaxWrites {
			return fmt.Sprintf("%d %s in %.0f s of phase %s", n, what, to.Sub(from).Seconds(), p)
		}
	}
	return ""
}

// Writes counts how often objects were written between two times. The same version of an object may be shown again later, or
// differently. If to is unset, there is no end.
func Writes(versions []*timeline.Version, from, to time.Time) (n int) {
	had := make(map[string]bool)
	for _, v := range versions {
		id := string(v.Meta().UID) + "@" + v.Meta().ResourceVersion
		if !had[id] && isIn(v.Time, from, to) {
			n++
		}
		had[id] = true
	}
	return n
}

func isIn(at, from, to time.Time) bool { return !at.Before(from) && (to.IsZero() || at.Before(to)) }

// A controller that has nothing to do writes nothing. What it has to do is a few writes for each thing that happens, and for
// each replica; these bounds of a whole record are far beyond that. In a phase of a course, in which one thing happens,
// MaxWrites is enough.
const (
	SomeWrites      = 30
	WritesPerSecond = 1.0
	SomeChildren    = 2
)

// Clients is what is known of clients that write beside controllers.
type Clients struct {
	// Nodes is how many nodes there are.
	Nodes int
	// Unanswered is how often they may write to an object without an answer in the record.
	Unanswered int
	// Wrote is how often they changed an object, by its key, as answers say.
	Wrote func(key string) int
}

// Endlessly says which objects of a record, each with its versions, are written again and again, and which owners get more
// and more children.
func Endlessly(t *timeline.Timeline, objects [][]*timeline.Version, by Clients) (faults []string) {
	children := make(map[string]map[string]bool) // by UID of the owner and kind
	for _, versions := range objects {
		first, last := versions[0], versions[len(versions)-1]
		some := SomeWrites*replicas(versions) + by.Unanswered
		if n := Writes(versions, time.Time{}, time.Time{}); n > some+int(WritesPerSecond*last.Time.Sub(first.Time).Seconds()) {
			faults = append(faults, fmt.Sprintf("%s was written more often than %d times and once a second", first.Key, some))
		}
		for _, owner := range first.Meta().OwnerReferences {
			key := string(owner.UID) + "/" + first.Resource
			if children[key] == nil {
				children[key] = make(map[string]bool)
			}
			children[key][string(first.Meta().UID)] = true
		}
	}
	for _, versions := range objects {
		owner := versions[0]
		for _, kind := range []string{"replicasets", "pods"} {
			n, bound := len(children[string(owner.Meta().UID)+"/"+kind]), childrenOf(t, versions, by)
			if n > bound {
				faults = append(faults, fmt.Sprintf("%s got more than %d %s", owner.Key, bound, kind))
			}
		}
	}
	return faults
}

// replicas is how many pods an object had made of its template at most; one if it
// has none.
func replicas(versions []*timeline.Version) int {
	most := 1
	for _, v := range versions {
		if v.Resource != "pods" && v.PodSpec() != nil {
			most = max(most, int(v.Workload().Spec.Replicas))
		}
	}
	return most
}

// childrenOf is how many children of a kind an object may have in its life: for
// each replica one, and again with each change and with each API server, which
// may show it differently.
func childrenOf(t *timeline.Timeline, versions []*timeline.Version, by Clients) int {
	replicas, rounds := replicas(versions), len(t.ServerLives())
	if versions[0].Resource == "deployments" {
		replicas = 1 // a ReplicaSet has them all
	}
	if versions[0].Resource == "daemonsets" {
		replicas = by.Nodes
	}
	return replicas*(rounds+by.Wrote(versions[0].Key)+by.Unanswered) + SomeChildren
}
