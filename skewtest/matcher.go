package skewtest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// Matcher is what Gomega calls a matcher. Those of this package are for Expect,
// Eventually and Consistently, and, without Gomega, for Rig.Wait.
type Matcher interface {
	Match(actual any) (success bool, err error)
	FailureMessage(actual any) string
	NegatedFailureMessage(actual any) string
}

// matcher is about something that the record has.
type matcher[T subject] struct {
	// want is what it should do: "have restarted".
	want string
	// look returns whether it is so, and what was seen.
	look func(T) (is bool, seen string)
	// refuse says why it can never be so. If unset, it can be.
	refuse func(T) error
}

// subject is what a matcher is about: one that was never there matches nothing, not even
// the opposite.
type subject interface {
	there() error
	String() string
}

// Match implements Matcher.
func (m matcher[T]) Match(actual any) (bool, error) {
	of, is := actual.(T)
	if !is {
		return false, fmt.Errorf("a matcher to %s is for a %v, not for a %T", m.want, reflect.TypeFor[T](), actual)
	}
	if err := of.there(); err != nil {
		return false, err
	}
	if m.refuse != nil {
		if err := m.refuse(of); err != nil {
			return false, err
		}
	}
	matched, _ := m.look(of)
	return matched, nil
}

// FailureMessage implements Matcher.
func (m matcher[T]) FailureMessage(actual any) string { return m.message(actual, "") }

// NegatedFailureMessage implements Matcher.
func (m matcher[T]) NegatedFailureMessage(actual any) string { return m.message(actual, "not ") }

func (m matcher[T]) message(actual any, not string) string {
	of, is := actual.(T)
	if !is {
		return fmt.Sprintf("a %T can't %s", actual, m.want)
	}
	_, seen := m.look(of)
	return fmt.Sprintf("%s should %s%s: %s", of, not, m.want, seen)
}

// restarter is what can restart: a Container, or a Component.
type restarter interface {
	subject
	Restarts() int
}

// HaveRestarted matches a *Container or a *Component that was started again at least
// once.
func HaveRestarted() Matcher {
	return matcher[restarter]{want: "have restarted", look: func(r restarter) (bool, string) {
		seen := fmt.Sprintf("it has %d times", r.Restarts())
		if c, is := r.(*Container); is && len(c.Exits()) > 0 {
			last := c.Exits()[len(c.Exits())-1]
			seen += fmt.Sprintf(", last after %s (exit code %d%s)", last.Reason, last.Code, strings.TrimRight(", "+last.Signal, ", "))
		}
		return r.Restarts() > 0, seen
	}}
}

// readier is what can be ready: a Pod, or a NodeState.
type readier interface {
	subject
	readiness() (ready bool, why string)
}

// BeReady matches a *Pod or a node whose condition Ready is True.
func BeReady() Matcher {
	return matcher[readier]{want: "be ready", look: func(r readier) (bool, string) { return r.readiness() }}
}

func (n *NodeState) readiness() (bool, string) {
	ready := n.Ready()
	return ready == string(corev1.ConditionTrue), "its condition Ready is " + ready
}

func (p *Pod) there() error {
	if p.Object() == nil {
		return fmt.Errorf("there is no %s", p)
	}
	return nil
}

func (p *Pod) readiness() (bool, string) {
	pod := p.Object()
	if pod == nil {
		return false, "it is gone"
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue, strings.TrimRight(fmt.Sprintf("its condition Ready is %s: %s", c.Status, c.Message), ": ")
		}
	}
	return false, fmt.Sprintf("it is %s, and has no condition Ready", pod.Status.Phase)
}

// What the first bytes of a connection are, for HaveConnection.
const (
	TLS   = record.FirstTLS   // a TLS ClientHello
	HTTP1 = record.FirstHTTP1 // an HTTP/1 request in plaintext
	HTTP2 = record.FirstHTTP2 // the HTTP/2 preface in plaintext: gRPC, h2c
)

// HaveConnection matches a *Container to which there was a connection whose first bytes
// are those.
func HaveConnection(first record.First) Matcher {
	look := func(c *Container) (bool, string) {
		begun := make(map[record.First]int)
		for _, connection := range c.Connections() {
			begun[connection.First]++
		}
		return begun[first] > 0, counts(begun)
	}
	refuse := func(*Container) error {
		if known := []record.First{TLS, HTTP1, HTTP2, record.FirstNothing, record.FirstOther}; !slices.Contains(known, first) {
			return fmt.Errorf("no connection can begin with %q: there are %q", first, known)
		}
		return nil
	}
	return matcher[*Container]{fmt.Sprintf("have a connection that begins with %s", first), look, refuse}
}

// counts says how many connections there were of each kind.
func counts(begun map[record.First]int) string {
	if len(begun) == 0 {
		return "it has no connection that has ended"
	}
	var parts []string
	for _, first := range slices.Sorted(maps.Keys(begun)) {
		parts = append(parts, fmt.Sprintf("%d with %s", begun[first], first))
	}
	return "it has " + strings.Join(parts, ", ")
}

// The probes of a container, for HavePassedProbe and HaveFailedProbe.
const (
	Liveness  = "liveness"
	Readiness = "readiness"
	Startup   = "startup"
)

// HavePassedProbe matches a *Container one of whose httpGet or grpc probes was answered
// as the kubelet wants it. Two probes that ask for the same count for each other.
func HavePassedProbe(probe string) Matcher {
	look := func(c *Container) (bool, string) { return c.answers(probe) > 0, probing(c, probe) }
	refuse := func(c *Container) error {
		p, err := c.probe(probe)
		if err == nil && p.Kind != timeline.HTTPGet && p.Kind != timeline.GRPC {
			err = fmt.Errorf("the %s probe of %s is neither httpGet nor grpc, so that no answer is seen", probe, c)
		}
		return err
	}
	return matcher[*Container]{"have passed its " + probe + " probe", look, refuse}
}

// HaveFailedProbe matches a *Container of which the kubelet said that a probe failed, in
// an event of the pod.
func HaveFailedProbe(probe string) Matcher {
	look := func(c *Container) (bool, string) { return len(c.failures(probe)) > 0, probing(c, probe) }
	refuse := func(c *Container) error {
		_, err := c.probe(probe)
		return err
	}
	return matcher[*Container]{"have failed its " + probe + " probe", look, refuse}
}

func probing(c *Container, probe string) string {
	failures := c.failures(probe)
	said := fmt.Sprintf("the probe was answered well on %d connections, and the kubelet said %d times that it failed", c.answers(probe), len(failures))
	if len(failures) > 0 {
		said += ", last: " + failures[len(failures)-1]
	}
	return said
}

// HaveRenewedSince matches a node whose lease the API server has shown as renewed after a
// time.
func HaveRenewedSince(since time.Time) Matcher {
	return matcher[*NodeState]{want: "have renewed its lease since " + since.Format(time.TimeOnly), look: func(n *NodeState) (bool, string) {
		renewals := n.Renewals()
		if len(renewals) == 0 {
			return false, "it never has"
		}
		last := renewals[len(renewals)-1]
		return last.After(since), fmt.Sprintf("it has %d times, last at %s", len(renewals), last.Format(time.TimeOnly))
	}}
}
