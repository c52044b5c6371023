package action

import (
	"context"
	"strings"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Stop ends a component, which may be simulated nodes.
type Stop string

// Check implements spec.Action.
func (s Stop) Check(f spec.Field) { f.Named("", string(s)) }

// Change implements spec.Changer.
func (s Stop) Change(r *spec.Rig) {
	c := r.Find("", string(s))
	if c == nil {
		return
	}
	if !c.Running {
		r.Conflict("", "%s is not running", c.Name)
	}
	// Nodes can't be stopped twice: once with all, and once with those of their zone.
	for _, other := range r.Components() {
		if other.Name != c.Name && spec.IsSimulated(other.Name) && overlap(other.Name, c.Name) && !other.Running {
			r.Conflict("", "%s are not running", other.Name)
		}
	}
	c.Running = false
}

// Describe implements Action.
func (s Stop) Describe() string { return OneLine("stop " + string(s)) }

// Run implements Action.
func (s Stop) Run(_ context.Context, rig Rig) error { return rig.Stop(string(s)) }

// Kill ends a component without a warning.
type Kill string

// Check implements spec.Action.
func (k Kill) Check(f spec.Field) { f.Named("", string(k)) }

// Change implements spec.Changer.
func (k Kill) Change(r *spec.Rig) { Stop(k).Change(r) }

// Describe implements Action.
func (k Kill) Describe() string { return OneLine("kill " + string(k)) }

// Run implements Action.
func (k Kill) Run(_ context.Context, rig Rig) error { return rig.Kill(string(k)) }

// overlap reports whether two components are the same, or one is part of the
// other: the simulated nodes of a zone, and all of them.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
