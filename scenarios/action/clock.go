package action

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Clock sets the clock of a node. Exactly one of its fields other than Of is set.
type Clock struct {
	// Of is kubelet/<node>, or lease-nodes, of which those of a zone are
	// lease-nodes/<zone>. A kubelet whose clock is set is one that was compiled for
	// it, which takes minutes the first time.
	Of string `json:"of"`
	// Offset is how far it is ahead from now on, or behind if negative; "0s" makes
	// it right.
	Offset *behavior.Duration `json:"offset,omitempty"`
	// Step sets it forward, or back if negative.
	Step behavior.Duration `json:"step,omitempty"`
	// Drift is by how many millionths it is too fast from now on.
	Drift float64 `json:"drift,omitempty"`
	// Frozen stops it.
	Frozen bool `json:"frozen,omitempty"`
}

func (c Clock) Check(f spec.Field) {
	if !f.Clean("") {
		return
	}
	if len(f.Present("offset", "step", "drift", "frozen")) != 1 {
		f.Report("", "a clock gets one of offset, step, drift and frozen")
	}
	f.Named(".of", c.Of)
}

func (c Clock) Change(r *spec.Rig) {
	if of := r.Find(".of", c.Of); of != nil && !spec.IsSimulated(of.Name) && !strings.HasPrefix(of.Name, spec.KubeletPrefix) {
		r.Conflict(".of", "%s has the clock of this machine: kubelets and simulated nodes can have their own", of.Name)
	}
}

// Describe implements Action: which clock is set, and how.
func (c Clock) Describe() string {
	if c.Step != 0 {
		return OneLine(fmt.Sprintf("step the clock of %s by %s", c.Of, c.Step))
	}
	return OneLine(fmt.Sprintf("set the clock of %s: %s", c.Of, c.to()))
}

func (c Clock) Run(_ context.Context, rig Rig) error { return rig.SetClock(c) }

// Facts are those of a change of a node's clock.
func (c Clock) Facts() Facts {
	return Facts{Needs: NeedsClocks, Component: c.Of, Reach: ofComponent(c.Of, ReachAll), Changes: true, Silences: true}
}

func (c Clock) to() clock.Clock {
	to := clock.Clock{Drift: c.Drift, Frozen: c.Frozen}
	if c.Offset != nil {
		to.Offset = time.Duration(*c.Offset)
	}
	return to
}

// From is what the clock is set to at a time, from which it drifts, or stands
// still.
func (c Clock) From(now time.Time) clock.Clock {
	to := c.to()
	if to != (clock.Clock{Offset: to.Offset}) {
		to.Since = now
	}
	return to
}
