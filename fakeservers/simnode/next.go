package simnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// verb is what can be asked of the runtime.
type verb string

const (
	runSandbox      verb = "run sandbox"
	runContainer    verb = "run container"
	startContainer  verb = "start container" // which was created
	stopContainer   verb = "stop container"
	removeContainer verb = "remove container"
	stopSandbox     verb = "stop sandbox"
	removeSandbox   verb = "remove sandbox"
)

// action is something to ask of the runtime.
type action struct {
	verb      verb
	container string // its name, if it is about one
	// id is that of the container, or of the sandbox if it is about that or about a
	// container that is yet to be created.
	id      string
	attempt uint32        // of what is run
	grace   time.Duration // of what is stopped
}

// begins reports whether the action is to have something run.
func (a action) begins() bool {
	return a.verb == runSandbox || a.verb == runContainer || a.verb == startContainer
}

// next returns what is to be done for a pod now, in any order. What comes after it
// follows from how the pod is then.
func next(v view) []action {
	switch {
	case v.deleted():
		return v.takeDown(removeSandbox)
	case v.over():
		return v.takeDown(stopSandbox)
	case v.sandbox() == nil:
		return v.sandboxFirst()
	}
	for _, c := range v.wanted() {
		if a := v.step(c); a.verb != "" {
			return []action{a} // containers are started one after the other
		}
	}
	return v.leftovers()
}

// takeDown stops containers, sidecars last, and then ends the sandboxes.
func (v view) takeDown(end verb) []action {
	var main, sidecars, boxes []action
	for _, c := range v.seen.containers {
		stop := action{verb: stopContainer, container: c.Metadata.Name, id: c.Id, grace: v.grace()}
		switch {
		case !c.running():
		case v.isSidecar(c.Metadata.Name):
			sidecars = append(sidecars, stop)
		default:
			main = append(main, stop)
		}
	}
	for _, s := range v.seen.sandboxes {
		if end == removeSandbox || s.State == cri.PodSandboxState_SANDBOX_READY {
			boxes = append(boxes, action{verb: end, id: s.Id})
		}
	}
	switch {
	case len(main) > 0:
		return main
	case len(sidecars) > 0:
		return sidecars
	}
	return boxes
}

// grace is how long a container has to end when it is asked to. Those of a pod that
// is evicted have next to none, as with a kubelet.
func (v view) grace() time.Duration {
	if v.evicted() {
		return time.Second
	}
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if s := v.pod.Spec.TerminationGracePeriodSeconds; s != nil {
		seconds = *s
	}
	if s := v.pod.DeletionGracePeriodSeconds; s != nil {
		seconds = *s
	}
	return time.Duration(seconds) * time.Second
}

// sandboxFirst runs a sandbox, unless it would stay empty.
func (v view) sandboxFirst() []action {
	if v.now.Before(v.failures[""].until) {
		return nil
	}
	run := action{verb: runSandbox}
	if boxes := v.seen.sandboxes; len(boxes) > 0 {
		run.attempt = boxes[0].Metadata.Attempt + 1
	}
	for _, c := range v.pod.Spec.Containers {
		if last, found := v.newest(c.Name); !found || !last.exited() || v.restarts(c, last) {
			return []action{run}
		}
	}
	return nil
}

// wanted returns the containers that should run by now: init containers one after
// the other, and then all.
func (v view) wanted() []corev1.Container {
	var all []corev1.Container
	for _, c := range v.pod.Spec.InitContainers {
		if v.isInit(c) && v.completed(c) {
			continue
		}
		all = append(all, c)
		if last, found := v.newest(c.Name); v.isInit(c) || !found || !last.running() {
			return all
		}
	}
	return append(all, v.pod.Spec.Containers...)
}

// step returns what is next for a container that should run, if anything is.
func (v view) step(c corev1.Container) action {
	last, found := v.newest(c.Name)
	switch {
	case v.now.Before(v.failures[c.Name].until):
	case !found, last.exited() && v.restarts(c, last) && !v.now.Before(v.due(c, last)):
		return action{verb: runContainer, container: c.Name, id: v.sandbox().Id, attempt: v.attempt(c.Name)}
	case last.State == cri.ContainerState_CONTAINER_CREATED:
		return action{verb: startContainer, container: c.Name, id: last.Id}
	case last.running() && last.Annotations[hashKey] != hash(c):
		return action{verb: stopContainer, container: c.Name, id: last.Id, grace: v.grace()}
	}
	return action{}
}

// leftovers removes attempts that no status tells of: it has the last two.
func (v view) leftovers() []action {
	var all []action
	count := make(map[string]int)
	for _, c := range v.seen.containers {
		if count[c.Metadata.Name]++; count[c.Metadata.Name] > 2 && c.exited() {
			all = append(all, action{verb: removeContainer, container: c.Metadata.Name, id: c.Id})
		}
	}
	return all
}
