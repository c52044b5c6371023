package rehearse

import "slices"

// A What classifies findings.
type What string

// The classes of findings.
const (
	Unreadable What = "not readable"
	FieldLost  What = "field lost"
	Panics     What = "component panics"
	Fails      What = "API server fails"
	Refused    What = "refused"
	Loops      What = "loops"
	Restarts   What = "restarts"
	Stuck      What = "stuck in deletion"
	Blocked    What = "eviction blocked"
	NotReady   What = "not ready"
	Rewritten  What = "rewritten"
	Behind     What = "status behind"
)

// class says what a class means, for readers who see it for the first time, and what to do before the upgrade.
type class struct {
	What
	meaning, advice string
}

// classes are all classes, worst first.
var classes = []class{
	{
		Unreadable, "An API server can no longer read an object that another release stored: requests for it, or for all of its kind, fail.",
		"Back it up, and do not go back once the newer release has written it.",
	},
	{
		FieldLost, "A field that was stored is missing after the change. What depends on it silently stops working.",
		"Do not use the field until you will not go back; or take it out before you go back.",
	},
	{
		Panics, "A component panics. It restarts, and may panic again.",
		"Do not upgrade to this release with these objects; report it.",
	},
	{
		Fails, "An API server answers requests for the object with an error of its own (5xx).",
		"Do not upgrade to this release with these objects; report it.",
	},
	{
		Refused, "A request that was accepted before is refused. Deployments by a pipeline or an operator stop there.",
		"Change the manifest so that both releases take it.",
	},
	{
		Loops, "Controllers write the object again and again, and never come to rest.",
		"Take out what the message names before the step; watch the load of the API server.",
	},
	{
		Restarts, "Containers restart, or pods are replaced, which does not happen if the cluster stays at its release.",
		"Plan for restarts: spread replicas, and give the workload a PodDisruptionBudget.",
	},
	{
		Stuck, "The object is deleted and does not go away.",
		"Look for finalizers, and delete it before the step.",
	},
	{
		Blocked, "Pods can't be evicted, so that the drain of a node does not end.",
		"Raise replicas, or maxUnavailable of the PodDisruptionBudget, before the nodes are drained.",
	},
	{
		NotReady, "The object is not ready.",
		"Look at what the pods wait for before you upgrade.",
	},
	{
		Rewritten, "The object is stored in another form: a default, a hash or a list differs. Tools that compare it see a difference.",
		"Write the new value into the manifest, or whoever applies it will write it back.",
	},
	{
		Behind, "The status does not follow the spec: its observed generation stays behind.",
		"Wait for its controller, or restart that.",
	},
}

// Whats are all classes, worst first.
func Whats() (all []What) {
	for _, c := range classes {
		all = append(all, c.What)
	}
	return all
}

// Weight is the place of a class: the less, the worse. It is -1 of an unknown one.
func (w What) Weight() int {
	return slices.IndexFunc(classes, func(c class) bool { return c.What == w })
}

// Meaning says what a finding of the class means. It is empty of an unknown class.
func (w What) Meaning() string {
	if n := w.Weight(); n >= 0 {
		return classes[n].meaning
	}
	return ""
}

// Advice says what to do before the upgrade. It is empty of an unknown class.
func (w What) Advice() string {
	if n := w.Weight(); n >= 0 {
		return classes[n].advice
	}
	return ""
}
