package engine

import (
	"reflect"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func TestTheLongestCellsBeginFirst(t *testing.T) {
	t.Parallel()
	restart := plan.Step{Action: action.Restart{Component: "kube-apiserver"}}
	short, also := plan.Cell{ID: "short"}, plan.Cell{ID: "as short"}
	long := plan.Cell{ID: "long", Steps: []plan.Step{restart, restart, restart}}
	if got := groups([]plan.Cell{short, also, long}); !reflect.DeepEqual(got, [][]int{{2}, {0, 1}}) {
		t.Errorf("groups %v, want the long one first, and the others on one rig", got)
	}
}

func TestACellThatCouldLeaveSomethingHasItsOwnRig(t *testing.T) {
	t.Parallel()
	kind := func(kind string) action.Action {
		return action.Apply{Objects: []map[string]any{{"kind": kind}}}
	}
	for name, tc := range map[string]struct {
		action action.Action
		shares bool
	}{
		"a pod":              {kind("Pod"), true},
		"a Deployment":       {kind("Deployment"), true},
		"a ConfigMap":        {kind("ConfigMap"), false},
		"a pod's change":     {action.Patch{Object: spec.ObjectRef{Resource: "pods", Name: "a"}}, true},
		"a node's change":    {action.Patch{Object: spec.ObjectRef{Resource: "nodes", Name: "a"}}, false},
		"a pod's end":        {action.Delete{Object: spec.ObjectRef{Resource: "pods", Name: "a"}}, true},
		"a namespace's end":  {action.Delete{Object: spec.ObjectRef{Resource: "namespaces", Name: "a"}}, false},
		"a wait":             {action.Wait{}, true},
		"checks":             {action.Checks{}, true},
		"a restart":          {action.Restart{}, false},
		"a stop":             {action.Stop{}, false},
		"a static pod":       {action.StaticPod{}, false},
		"a look at counters": {action.Scrape{}, false},
	} {
		if _, shares := rigKey(plan.Cell{Steps: []plan.Step{{Action: tc.action}}}); shares != tc.shares {
			t.Errorf("%s: shares a rig: %t", name, shares)
		}
	}
	a, _ := rigKey(plan.Cell{Topology: record.Topology{Version: "v1.90.1"}})
	b, _ := rigKey(plan.Cell{Topology: record.Topology{Version: "v1.89.3"}})
	if a == b {
		t.Error("cells of different releases share a rig")
	}
}
