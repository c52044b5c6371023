package law

import "time"

// Pods is what the pods of an object, and of what it owns, go through in a span of time.
type Pods struct {
	// Made is how many pods are new, and Restarted how often their containers are started again.
	Made, Restarted int
}

// PodsOf is what the pods of an object go through from a time on until another one.
func (c *Course) PodsOf(o Object, from, to time.Time) (p Pods) {
	restarts := make(map[string]int32) // by UID
	for _, v := range c.family(o).versions {
		if v.Resource != "pods" || v.Gone() {
			continue
		}
		uid := string(v.Meta().UID)
		before, known := restarts[uid]
		for _, s := range statuses(v) {
			restarts[uid] += s.RestartCount
		}
		restarts[uid] -= before
		if !isIn(v.Time, from, to) {
			continue
		}
		if !known {
			p.Made++
		}
		p.Restarted += int(restarts[uid] - before)
	}
	return p
}
