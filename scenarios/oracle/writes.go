package oracle

import "github.com/skewrig/skewrig/scenarios/law"

// boundedWrites looks for objects that are written again and again, and for
// owners that get more and more children.
func boundedWrites(r *run) finding {
	clients := law.Clients{Nodes: len(r.cell.Topology.Nodes), Wrote: r.wrote}
	for _, s := range r.cell.Steps {
		clients.Unanswered += s.Action.Facts().Unanswered
	}
	return finding{looked: len(r.byUID), faults: law.Endlessly(r.Timeline, r.byUID, clients)}
}

// wrote is how often the scenario changed an object.
func (r *run) wrote(key string) (n int) {
	for _, a := range r.asked {
		if a.Object == key && !a.Created() {
			n++
		}
	}
	return n
}
