package action_test

import (
	"reflect"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// TestEachKindStatesItsFacts: of an action that doesn't, all other packages would know nothing, and the cell would have
// what it runs on alone.
func TestEachKindStatesItsFacts(t *testing.T) {
	t.Parallel()
	rig, _ := spec.NewRig(spec.Topology{ControlPlane: spec.ControlPlane{Version: "v1.90.1"}}, nil, release.Releases{})
	needs := make(map[action.Ability]bool)
	for _, kind := range action.Kinds() {
		written := reflect.New(kind.Type).Elem().Interface()
		if short, is := written.(spec.Shorthand); is {
			written = short.Action()
		}
		planned, is := written.(action.Action)
		if !is {
			var err error
			scene := action.Scene{Scenario: new(spec.Scenario), Rig: rig, Line: func(string) int { return 1 }}
			if planned, err = written.(action.Planner).Plan(scene); err != nil {
				t.Errorf("%s: %v", kind.Name, err)
				continue
			}
		}
		facts := planned.Facts()
		if needs[facts.Needs] = true; facts.Needs == 0 {
			t.Errorf("%s does not say what it needs", kind.Name)
		}
		if kind.Changes != facts.Changes {
			t.Errorf("%s changes what runs: %t, and its facts say %t", kind.Name, kind.Changes, facts.Changes)
		}
		if kind.Request && facts.Writes == nil && facts.Creates == nil && !facts.WritesAnything && facts.Gives == nil {
			t.Errorf("%s is a request, and its facts don't say of what", kind.Name)
		}
	}
	special := map[action.Ability]bool{action.NeedsTimedStops: true, action.NeedsRuntimeConfig: true} // by what fields say
	for _, a := range action.Abilities() {
		if !needs[a] && !special[a] {
			t.Errorf("nothing needs ability %d", a)
		}
	}
	if of := action.ReachOf(unfilled{}); of != action.ReachAll {
		t.Errorf("an action without facts reaches %d", of)
	}
}

// unfilled is an action that says nothing about itself.
type unfilled struct{ action.Action }

func (unfilled) Facts() action.Facts { return action.Facts{} }
