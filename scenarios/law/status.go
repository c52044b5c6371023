package law

import "fmt"

// Behind is the breach of an object whose controller has not seen its spec.
const Behind = "its status is not about its spec"

var reportsStatus = Law{
	Breach:    Behind,
	Statement: "A controller says in the status of an object that it has seen its spec.",
	Source:    conventions + ", Typical status properties",
	Follows:   []string{Endless},
	breach: func(c *Course, o Object) string {
		v := c.family(o).at(c.end(Mutated))
		if v == nil || v.Gone() || !v.IsBehind() {
			return ""
		}
		w := v.Workload()
		return fmt.Sprintf("generation %d, and its status is about %d", w.Generation, w.Status.ObservedGeneration)
	},
	check: func(o Object, _ bool) Check {
		in := o.expression()
		return Check{ID: "seen", Observe: fmt.Sprintf("%s.status.observedGeneration == %s.metadata.generation", in, in), Is: true, Eventually: "30s"}
	},
}
