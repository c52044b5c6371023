package show

import "github.com/skewrig/skewrig/rehearse"

// meanings says what each class of findings means, for readers who see it for the first time.
var meanings = map[rehearse.What]string{
	rehearse.Unreadable: "An API server can no longer read an object that another release stored: requests for it, or for all of its kind, fail.",
	rehearse.FieldLost:  "A field that was stored is missing after the change. What depends on it silently stops working.",
	rehearse.Panics:     "A component panics. It restarts, and may panic again.",
	rehearse.Fails:      "An API server answers requests for the object with an error of its own (5xx).",
	rehearse.Refused:    "A request that was accepted before is refused. Deployments by a pipeline or an operator stop there.",
	rehearse.Loops:      "Controllers write the object again and again, and never come to rest.",
	rehearse.Restarts:   "Containers restart, or pods are replaced, which does not happen if the cluster stays at its release.",
	rehearse.Stuck:      "The object is deleted and does not go away.",
	rehearse.Blocked:    "Pods can't be evicted, so that the drain of a node does not end.",
	rehearse.NotReady:   "The object was ready before the change and is not ready after it.",
	rehearse.Rewritten:  "The object is stored in another form: a default, a hash or a list differs. Tools that compare it see a difference.",
	rehearse.Behind:     "The status does not follow the spec: its observed generation stays behind.",
}
