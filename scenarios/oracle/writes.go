package oracle

import (
	"github.com/skewrig/skewrig/record/timeline"
)

// A controller that has nothing to do writes nothing. What it has to do is a
// few writes for each thing that happens, and for each replica; these bounds are
// far beyond that.
const (
	someWrites      = 30
	writesPerSecond = 1.0
	someChildren    = 2
)

// boundedWrites looks for objects that are written again and again, and for
// owners that get more and more children.
func boundedWrites(r *run) finding {
	var f finding
	children := make(map[string]map[string]bool) // by UID of the owner and kind
	for _, versions := range r.byUID {
		f.looked++
		first, last := versions[0], versions[len(versions)-1]
		some := someWrites*replicas(versions) + r.writesUnasked()
		if n := writes(versions); n > some+int(writesPerSecond*last.Time.Sub(first.Time).Seconds()) {
			f.fault("%s was written more often than %d times and once a second", first.Key, some)
		}
		for _, owner := range first.Meta().OwnerReferences {
			key := string(owner.UID) + "/" + first.Resource
			if children[key] == nil {
				children[key] = make(map[string]bool)
			}
			children[key][string(first.Meta().UID)] = true
		}
	}
	for _, versions := range r.byUID {
		owner := versions[0]
		for _, kind := range []string{"replicasets", "pods"} {
			n, bound := len(children[string(owner.Meta().UID)+"/"+kind]), r.childrenOf(versions)
			if n > bound {
				f.fault("%s got more than %d %s", owner.Key, bound, kind)
			}
		}
	}
	return f
}

// writes counts the versions that were written. The same one may be shown
// differently.
func writes(versions []*timeline.Version) int {
	seen := make(map[string]bool)
	for _, v := range versions {
		seen[v.Meta().ResourceVersion] = true
	}
	return len(seen)
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
func (r *run) childrenOf(versions []*timeline.Version) int {
	replicas, rounds := replicas(versions), len(r.ServerLives())
	if versions[0].Resource == "deployments" {
		replicas = 1 // a ReplicaSet has them all
	}
	if versions[0].Resource == "daemonsets" {
		replicas = len(r.cell.Topology.Nodes)
	}
	for _, a := range r.asked {
		if a.Object == versions[0].Key && !a.Created() {
			rounds++
		}
	}
	return replicas*(rounds+r.writesUnasked()) + someChildren
}

// writesUnasked is how often the scenario may write to an object without an answer that says so.
func (r *run) writesUnasked() (n int) {
	for _, s := range r.cell.Steps {
		n += s.Action.Facts().Unanswered
	}
	return n
}
