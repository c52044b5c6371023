package action

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Stop asks a component to end, which may be simulated nodes. The name of the
// component alone is one of these, too.
type Stop struct {
	Component string `json:"component"`
	// Within is how long the component has to end, which a check of the step judges. If
	// unset, a minute, and no check.
	Within behavior.Duration `json:"within,omitempty"`

	Step string `json:"-"` // its name
	Line int    `json:"-"` // in the scenario's file
}

func (Stop) OrFirst() {}

// MarshalJSON writes the name alone where that is all, as plans always have.
func (s Stop) MarshalJSON() ([]byte, error) {
	type written Stop
	if s.Within == 0 {
		return json.Marshal(s.Component)
	}
	return json.Marshal(written(s))
}

func (s Stop) Check(f spec.Field) {
	f.Named("", s.Component)
	f.Duration(".within", s.Within)
	f.Refuse(".within", s.Within != 0 && spec.IsSimulated(s.Component), "simulated nodes end at once")
}

func (s Stop) Change(r *spec.Rig) { stops(r, s.Component) }

// stops has a component not run any more.
func stops(r *spec.Rig, name string) {
	c := r.Find("", name)
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

func (s Stop) Plan(scene Scene) (Action, error) {
	s.Step, s.Line = scene.Name, scene.Line("")
	return s, nil
}

func (s Stop) Describe() string {
	text := "stop " + s.Component
	if s.Within != 0 {
		text += fmt.Sprintf(", which must end within %s", s.Within)
	}
	return OneLine(text)
}

// Checked implements Checker: that a component ends in time is a check, with the id of
// the step and -ended. It is watched while the component ends, so that a machine which is
// late gives more time.
func (s Stop) Checked() []Check {
	if s.Within == 0 {
		return nil
	}
	return []Check{{
		ID: idOf(s.Step) + "-ended", Mode: record.Eventually, Span: s.Within, Line: s.Line,
		Observe: fmt.Sprintf(`components[%q].running`, s.Component), Is: false,
	}}
}

func (s Stop) Run(ctx context.Context, rig Rig) error { return rig.Stop(ctx, s) }

// Facts are those of a component that ends.
func (s Stop) Facts() Facts {
	f := ends(s.Component)
	if f.Checks, f.Bounded = s.Checked(), true; s.Within != 0 {
		f.Needs = NeedsTimedStops
	}
	return f
}

// ends are the facts of a component that ends for good.
func ends(component string) Facts {
	return Facts{
		Needs: NeedsStops, Component: component, Reach: ofComponent(component, ReachChanges),
		Changes: true, Silences: true, Ends: []string{component},
	}
}

// Kill ends a component without a warning.
type Kill string

func (k Kill) Check(f spec.Field) { f.Named("", string(k)) }

func (k Kill) Change(r *spec.Rig) { stops(r, string(k)) }

func (k Kill) Describe() string { return OneLine("kill " + string(k)) }

func (k Kill) Run(_ context.Context, rig Rig) error { return rig.Kill(string(k)) }

// Facts are those of a component that is killed.
func (k Kill) Facts() Facts { return ends(string(k)) }

// overlap reports whether two components are the same, or one is part of the
// other: the simulated nodes of a zone, and all of them.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
