package oracle

import "github.com/skewrig/skewrig/scenarios/law/rest"

// atRest judges each moment at which a step waited until all was at rest.
func atRest(r *run) finding {
	var f finding
	for _, moment := range r.Rests {
		f.lookedAt(true)
		for _, b := range rest.At(r.Timeline, moment).Breaches() {
			f.fault("step %s: %s: %s: %s", moment.Step, b.Key, b.Law, b.Detail)
		}
	}
	return f
}
