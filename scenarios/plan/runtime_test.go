package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// pod is a manifest with some fields in the specification of the pod.
func podWith(fields map[string]any) map[string]any {
	return map[string]any{"kind": "Deployment", "spec": map[string]any{"template": map[string]any{"spec": fields}}}
}

func applies(objects ...map[string]any) []plan.Step {
	return []plan.Step{{Action: action.Apply{Objects: objects}}}
}

// answers has the link of a node's kubelet to its runtime answer a method.
func answers(node, method string) []plan.Step {
	return []plan.Step{{Action: action.Fault{Link: spec.ParseLink("kubelet/" + node + "->runtime"), Fault: record.LinkFault{Method: method}}}}
}

func TestUntestable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		node  record.Node
		steps []plan.Step
		want  string // in the reason
	}{
		"a pod":            {steps: applies(podWith(map[string]any{"hostNetwork": false}))},
		"an own clock":     {node: record.Node{OwnClock: true}, want: "node a has containerd: its kubelet is the release's own, whose clock can't be set"},
		"runtime handlers": {node: record.Node{RuntimeHandlers: record.RuntimeHandlers{Names: []string{"crun"}}}, want: "runtime handlers"},
		"a method that its runtime may not have": {
			steps: answers("a", "RuntimeConfig"), want: "RuntimeConfig",
		},
		"another method":  {steps: answers("a", "Status")},
		"that of another": {steps: answers("b", "RuntimeConfig")},
		"the node's network": {
			steps: applies(podWith(nil), podWith(map[string]any{"hostNetwork": true})), want: "hostNetwork",
		},
		"a static pod on it": {
			steps: []plan.Step{{Action: action.StaticPod{Node: "a", Pod: map[string]any{"spec": map[string]any{"hostNetwork": true}}}}}, want: "hostNetwork",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.node.Name = "a"
			cell := plan.Cell{Topology: record.Topology{Nodes: []record.Node{c.node}}, Steps: c.steps}
			if why := plan.Untestable(cell); why != "" {
				t.Errorf("of a simulated node: %s", why)
			}
			real := plan.OnRuntime([]plan.Cell{cell}, record.Containerd)[0]
			if why := plan.Untestable(real); !strings.Contains(why, c.want) || (why == "") != (c.want == "") {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}

func TestOnRuntime(t *testing.T) {
	t.Parallel()
	cells := []plan.Cell{{Topology: record.Topology{Nodes: []record.Node{{Name: "a"}, {Name: "b", Runtime: record.Containerd}}}}, {}}
	runtimes := func(cells []plan.Cell) (all []string) {
		for _, n := range cells[0].Topology.Nodes {
			all = append(all, n.Runtime)
		}
		return all
	}
	if diff := cmp.Diff([]string{"containerd", "containerd"}, runtimes(plan.OnRuntime(cells, record.Containerd))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"", ""}, runtimes(plan.OnRuntime(cells, record.Simulated))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"", "containerd"}, runtimes(cells)); diff != "" {
		t.Errorf("the cells themselves have changed: %s", diff)
	}
	if !plan.HasContainers(cells[0]) || plan.HasContainers(cells[1]) {
		t.Error("which cells have real containers is wrong")
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	container := func(command ...any) map[string]any {
		return map[string]any{
			"image": "registry.test/a", "command": command, "args": []any{"x"},
			"livenessProbe": map[string]any{"exec": map[string]any{"command": []any{"cat"}}},
		}
	}
	cell := plan.Cell{Steps: applies(podWith(map[string]any{
		"containers": []any{container("/serve", "-v"), container()}, "initContainers": []any{container("sh", "-c", "true"), container("/serve")},
	}))}
	if diff := cmp.Diff([]string{"/serve", "sh"}, cell.Commands()); diff != "" {
		t.Error(diff)
	}
}

// TestOnBoth: a cell with nodes becomes two, of which that with real containers is compared, unless it is compared
// already.
func TestOnBoth(t *testing.T) {
	t.Parallel()
	nodes := record.Topology{Nodes: []record.Node{{Name: "a"}}}
	cells := []plan.Cell{
		{ID: "a/b/c/v:new", Cells: 2, Axes: map[string]string{"v": "new"}, Topology: nodes},
		{ID: "a/b/d/v:new", Cells: 2, Axes: map[string]string{"v": "new"}, Topology: nodes, With: "a/b/d/v:old", Compare: &spec.Compare{ID: "mine"}},
		{ID: "a/b/e", Cells: 1},
	}
	var got []string
	for _, c := range plan.OnBoth(cells, []spec.Explained{{What: "x", Because: "y"}}) {
		runtime, compare := "no nodes", ""
		if len(c.Topology.Nodes) > 0 {
			runtime = c.Topology.Nodes[0].Runtime
		}
		if c.Compare != nil {
			compare = fmt.Sprint(c.Compare.ID, " ", c.Compare.Explains("x", nil, nil) != nil)
		}
		got = append(got, strings.Join([]string{c.ID, fmt.Sprint(c.Cells), c.Axes["runtime"], runtime, c.With, compare}, "|"))
	}
	want := []string{
		"a/b/c/v:new/runtime:simulated|4|simulated|||",
		"a/b/c/v:new/runtime:containerd|4|containerd|containerd|a/b/c/v:new/runtime:simulated|as-simulated true",
		"a/b/d/v:new/runtime:simulated|4|simulated||a/b/d/v:old/runtime:simulated|mine false",
		"a/b/d/v:new/runtime:containerd|4|containerd|containerd|a/b/d/v:old/runtime:containerd|mine false",
		"a/b/e|1||no nodes||",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if cells[0].Topology.Nodes[0].Runtime != "" || cells[0].Axes["runtime"] != "" {
		t.Error("the cells themselves were changed")
	}
}
