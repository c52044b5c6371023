package law

import "time"

// Pods is what the pods of an object, and of what it owns, go through in a span of time.
type Pods struct {
	// Made is how many pods are new, and Restarted how often their containers are started again.
	Made, Restarted int
	// All are the pods that it ever had, by namespace and name.
	All map[string]bool
}

// PodsOf is what the pods of an object go through from a time on until another one.
func (c *Course) PodsOf(o Object, from, to time.Time) (p Pods) {
	restarts := make(map[string]int32) // by UID
	p.All = make(map[string]bool)
	for _, v := range c.family(o).versions {
		if v.Resource != "pods" || v.Gone() {
			continue
		}
		p.All[v.Namespace+"/"+v.Name] = true
		uid := string(v.Meta().UID)
		before, known := restarts[uid]
		for _, s := range v.ContainerStatuses() {
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
