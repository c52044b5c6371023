package oracle

import (
	"strings"

	"github.com/skewrig/skewrig/scenarios/plan"
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
		some := someWrites * replicas(versions)
		if n := writes(versions); n > some+int(writesPerSecond*last.time.Sub(first.time).Seconds()) {
			f.fault("%s was written more often than %d times and once a second", first.name, some)
		}
		kind, _, _ := strings.Cut(first.name, "/")
		for _, owner := range first.Metadata.OwnerReferences {
			key := owner.UID + "/" + kind
			if children[key] == nil {
				children[key] = make(map[string]bool)
			}
			children[key][first.Metadata.UID] = true
		}
	}
	for _, versions := range r.byUID {
		owner := versions[0]
		for _, kind := range []string{"replicasets", "pods"} {
			n, bound := len(children[owner.Metadata.UID+"/"+kind]), r.childrenOf(versions)
			if n > bound {
				f.fault("%s got more than %d %s", owner.name, bound, kind)
			}
		}
	}
	return f
}

// writes counts the versions that were written. The same one may be shown
// differently.
func writes(versions []version) int {
	seen := make(map[string]bool)
	for _, v := range versions {
		seen[v.Metadata.ResourceVersion] = true
	}
	return len(seen)
}

// replicas is how many pods an object had made of its template at most; one if it
// has none.
func replicas(versions []version) int {
	most := 1
	for _, v := range versions {
		most = max(most, v.replicas)
	}
	return most
}

// childrenOf is how many children of a kind an object may have in its life: for
// each replica one, and again with each change and with each API server, which
// may show it differently.
func (r *run) childrenOf(versions []version) int {
	replicas, rounds := replicas(versions), len(r.lives[apiserver])
	if strings.HasPrefix(versions[0].name, "deployments/") {
		replicas = 1 // a ReplicaSet has them all
	}
	if strings.HasPrefix(versions[0].name, "daemonsets/") {
		replicas = len(r.cell.Topology.Nodes)
	}
	for _, a := range r.asked {
		if a.name == versions[0].name && !a.created {
			rounds++
		}
	}
	for _, s := range r.cell.Steps {
		if _, deletes := s.Action.(plan.Delete); deletes {
			rounds++
		}
	}
	return replicas*rounds + someChildren
}
