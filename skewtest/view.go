package skewtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// look calls a function with the timeline of the record so far. It must not keep what
// changes with the timeline.
func (r *Rig) look(at func(*timeline.Timeline)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.history.Events()
	for _, e := range events[len(r.line.Events):] {
		r.line.Add(e)
	}
	at(r.line)
}

// Wait returns when a matcher of this package, or of Gomega, matches: it looks each time
// that something was recorded. The error has what the matcher says of the last look, and
// why there was no other one: the context ended, or a component has died.
func (r *Rig) Wait(ctx context.Context, actual any, matcher Matcher) error {
	ctx, cancel := r.rig.Bind(ctx)
	defer cancel()
	return r.wait(ctx, actual, matcher)
}

func (r *Rig) wait(ctx context.Context, actual any, matcher Matcher) error {
	var matched bool
	var wrong error
	err := r.history.Wait(ctx, func([]record.Event) bool {
		matched, wrong = matcher.Match(actual)
		return matched && wrong == nil
	})
	switch {
	case err == nil:
		return nil
	case wrong != nil:
		return fmt.Errorf("%w (%w)", wrong, err)
	default:
		return fmt.Errorf("%s (%w)", matcher.FailureMessage(actual), err)
	}
}

// Never returns an error as soon as a matcher matches, and nil if it has not for some
// time: it looks each time that something was recorded.
func (r *Rig) Never(ctx context.Context, within time.Duration, actual any, matcher Matcher) error {
	ctx, cancel := r.rig.Bind(ctx)
	defer cancel()
	return r.never(ctx, within, actual, matcher)
}

func (r *Rig) never(ctx context.Context, within time.Duration, actual any, matcher Matcher) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var wrong error
	matched := r.history.Wait(limited, func([]record.Event) (is bool) {
		is, wrong = matcher.Match(actual)
		return is || wrong != nil
	}) == nil
	switch {
	case wrong != nil:
		return wrong
	case matched:
		return errors.New(matcher.NegatedFailureMessage(actual))
	default:
		return context.Cause(ctx) // nil if it was only the time that has passed
	}
}

// Pod is a pod, as the record has it now. What its methods return changes while the rig
// runs. There may be no such pod yet.
type Pod struct {
	rig             *Rig
	namespace, name string
}

// Pod is the pod of a name.
func (r *Rig) Pod(namespace, name string) *Pod { return &Pod{r, namespace, name} }

// String is the pod's namespace and name.
func (p *Pod) String() string { return "pod " + p.namespace + "/" + p.name }

// Object is the pod as the API server showed it last. It is nil if there is none.
func (p *Pod) Object() (pod *corev1.Pod) {
	p.rig.look(func(t *timeline.Timeline) {
		if v := t.Objects["pods/"+p.namespace+"/"+p.name]; v != nil {
			pod = v.Pod().DeepCopy()
		}
	})
	return pod
}

// Container is a container of the pod.
func (p *Pod) Container(name string) *Container {
	return &Container{rig: p.rig, pod: p, name: name}
}

// Container is a container, as the record has it now, over all its restarts, and also if
// its pod was replaced by another one of the same name. What its methods return changes
// while the rig runs.
type Container struct {
	rig  *Rig
	pod  *Pod
	name string
}

// String is the container's namespace, pod and name.
func (c *Container) String() string { return "container " + c.path() }

func (c *Container) path() string { return c.pod.namespace + "/" + c.pod.name + "/" + c.name }

// Running reports whether its program runs.
func (c *Container) Running() bool { return c.seen().Running }

// Restarts is how often it was started again in the same pod.
func (c *Container) Restarts() int { return c.seen().Restarts }

// Exits are how it ended each time.
func (c *Container) Exits() []timeline.Exit { return c.seen().Exits }

// seen is what was seen of the container: nothing if it was never there.
func (c *Container) seen() (seen timeline.Container) {
	c.rig.look(func(t *timeline.Timeline) {
		if was := t.Containers[timeline.Name(c.path())]; was != nil {
			seen = *was
			seen.Exits = slices.Clone(was.Exits)
		}
	})
	return seen
}

// Connections are those to its servers that have ended, with the first bytes, the TLS
// ClientHello and the requests of each. One that was cut off because its kubelet ended is
// not among them.
func (c *Container) Connections() (all []record.Connection) {
	c.rig.look(func(t *timeline.Timeline) {
		for _, connection := range t.Connected[timeline.Name(c.path())] {
			all = append(all, connection.Connection)
		}
	})
	return all
}

// there returns an error if the container was never seen: its name may be wrong.
func (c *Container) there() (err error) {
	c.rig.look(func(t *timeline.Timeline) {
		if name := timeline.Name(c.path()); !t.Known[name] && t.Containers[name] == nil {
			err = fmt.Errorf("%s was not seen; seen were %q", c, slices.Sorted(maps.Keys(t.Containers)))
		}
	})
	return err
}

// Component is a component, as the record has it now.
type Component struct {
	rig  *Rig
	name string
}

// Component is the component of a name; that of a node stands for its kubelet.
func (r *Rig) Component(name string) *Component {
	return &Component{r, components(r.rig.Instances(), name)[0]}
}

// String is the component's name.
func (c *Component) String() string { return c.name }

// Version is the release that it runs, or ran last.
func (c *Component) Version() release.Version { return c.seen().version }

// Running reports whether it runs.
func (c *Component) Running() bool { return c.seen().running }

// Restarts is how often it was started again.
func (c *Component) Restarts() int { return c.seen().restarts }

type componentSeen struct {
	version  release.Version
	running  bool
	restarts int
	is       bool
}

func (c *Component) seen() (seen componentSeen) {
	c.rig.look(func(t *timeline.Timeline) {
		if was := t.Ran[c.name]; was != nil {
			seen = componentSeen{was.Version, was.Running, was.Restarts, true}
		}
	})
	return seen
}

func (c *Component) there() error {
	if !c.seen().is {
		return errors.New(c.name + " never ran")
	}
	return nil
}

// NodeState is a node, as the record has it now.
type NodeState struct {
	rig  *Rig
	name string
}

// Node is the node of a name.
func (r *Rig) Node(name string) *NodeState { return &NodeState{r, name} }

// String is the node's name.
func (n *NodeState) String() string { return "node " + n.name }

// Ready is the status of its condition Ready: True, False or Unknown. It is empty if the
// node was not seen.
func (n *NodeState) Ready() (ready string) {
	n.rig.look(func(t *timeline.Timeline) {
		if seen := t.Nodes[n.name]; seen != nil {
			ready = seen.Ready
		}
	})
	return ready
}

// leases are observed in every rig of a test.
const leases = "leases"

// Renewals are when the API server showed another renewal of the node's lease.
func (n *NodeState) Renewals() (times []time.Time) {
	n.rig.look(func(t *timeline.Timeline) {
		var last any
		for _, v := range t.History[leases+"/"+corev1.NamespaceNodeLease+"/"+n.name] {
			lease, _ := v.Fields()["spec"].(map[string]any)
			if renewed := lease["renewTime"]; renewed != last {
				times, last = append(times, v.Time), renewed
			}
		}
	})
	return times
}

func (n *NodeState) there() error {
	if n.Ready() == "" {
		return fmt.Errorf("%s was not seen", n)
	}
	return nil
}

// Requests are those of one of the Clients of the topology, with how they were answered.
// A watch is among them once it has ended.
func (r *Rig) Requests(client string) (all []timeline.Call) {
	r.look(func(t *timeline.Timeline) {
		all = slices.Clone(t.Calls[client+"->"+spec.APIServer])
	})
	return all
}

// probe returns a probe of the container, as its pod had it last, and an error if there
// is none.
func (c *Container) probe(name string) (found timeline.Probe, err error) {
	if names := []string{Liveness, Readiness, Startup}; !slices.Contains(names, name) {
		return found, fmt.Errorf("%q is none of the probes %q", name, names)
	}
	err = fmt.Errorf("%s has no %s probe", c, name)
	c.rig.look(func(t *timeline.Timeline) {
		for _, v := range t.History["pods/"+c.pod.namespace+"/"+c.pod.name] {
			for _, p := range timeline.Probes(&v.Pod().Spec) {
				if p.Container == c.name && p.Name == name {
					found, err = p, nil
				}
			}
		}
	})
	return found, err
}

// probeFailed is the reason of a kubelet's event about a probe that failed. A warning
// that comes with a success has another one.
const probeFailed = "Unhealthy"

// failures are what the kubelet said of a probe of the container that failed.
func (c *Container) failures(probe string) (messages []string) {
	begins := probe + " probe "
	c.rig.look(func(t *timeline.Timeline) {
		for _, h := range t.Happenings {
			of := h.About.Kind == "Pod" && h.About.Namespace == c.pod.namespace && h.About.Name == c.pod.name
			failed := h.Reason == probeFailed && strings.HasPrefix(strings.ToLower(h.Message), begins)
			if of && failed && strings.Contains(h.About.FieldPath, "{"+c.name+"}") {
				messages = append(messages, h.Message)
			}
		}
	})
	return messages
}

// answers is how many connections of a probe of the container were answered as a probe
// wants it, by the requests that they made.
func (c *Container) answers(probe string) (count int) {
	c.rig.look(func(t *timeline.Timeline) {
		for _, connection := range t.Connected[timeline.Name(c.path())] {
			states := t.StatesAt(connection)
			if len(states) == 0 || !connection.Succeeded() {
				continue
			}
			own := slices.DeleteFunc(timeline.Probes(states[len(states)-1].PodSpec()), func(p timeline.Probe) bool { return p.Container != c.name })
			if slices.ContainsFunc(connection.Among(own), func(p timeline.Probe) bool { return p.Name == probe }) {
				count++
			}
		}
	})
	return count
}
