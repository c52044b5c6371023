package schedule

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func catalogCells(t *testing.T) []plan.Cell {
	t.Helper()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func TestTheLongestCellsBeginFirst(t *testing.T) {
	t.Parallel()
	restart := plan.Step{Action: action.Restart{Component: "kube-apiserver"}}
	short, also := plan.Cell{ID: "short"}, plan.Cell{ID: "as short"}
	long := plan.Cell{ID: "long", Topology: record.Topology{Version: "v1.90.1"}, Steps: []plan.Step{restart, restart, restart}}
	got := Groups([]plan.Cell{short, also, long}, 9)
	if len(got) != 2 || !slices.Equal(got[0].All(), []int{2}) || !slices.Equal(got[1].Beside, []int{0, 1}) {
		t.Errorf("groups %+v, want the long one first, and the others beside each other", got)
	}
}

// TestWhatIsWatchedLongBeginsFirst, of a group's cells and of groups.
func TestWhatIsWatchedLongBeginsFirst(t *testing.T) {
	t.Parallel()
	watch := func(id string, mode record.Mode, span time.Duration) plan.Cell {
		return plan.Cell{ID: id, Steps: []plan.Step{{Action: action.Checks{Checks: []action.Check{{Mode: mode, Span: behavior.Duration(span)}}}}}}
	}
	apart := watch("apart", record.AtMost, 20*time.Second)
	apart.Topology.Version = "v1.90.1"
	got := Groups([]plan.Cell{watch("soon", record.Eventually, time.Minute), watch("long", record.Always, 10*time.Second), apart}, 9)
	if len(got) != 2 || !slices.Equal(got[0].Beside, []int{2}) || !slices.Equal(got[1].Beside, []int{1, 0}) {
		t.Errorf("groups %+v", got)
	}
}

// TestManyCellsAndALockstepGroup: the group does not wait until all others are over.
func TestManyCellsAndALockstepGroup(t *testing.T) {
	t.Parallel()
	cells := []plan.Cell{{ID: "walk", Steps: []plan.Step{{Action: action.Restart{Component: "kube-apiserver"}}}}}
	for i := range 4 {
		cells = append(cells, plan.Cell{ID: fmt.Sprint(i)})
	}
	for most, want := range map[int]int{3: 2, 4: 1} {
		if got := Groups(cells, most); len(got) != want {
			t.Errorf("%d at a time: groups %+v", most, got)
		}
	}
}

// TestWhoChangesAControlPlaneComesLast, and who changes it in another way has another one.
func TestWhoChangesAControlPlaneComesLast(t *testing.T) {
	t.Parallel()
	step := func(a action.Action) []plan.Step { return []plan.Step{{Action: a}} }
	got := Groups([]plan.Cell{
		{ID: "b", Steps: step(action.Restart{Component: "kube-apiserver"})},
		{ID: "metrics", Steps: step(action.Scrape{Component: "kube-apiserver"})},
		{ID: "a", Steps: step(action.Stop{Component: "etcd"})},
		{ID: "pod", Steps: step(action.Wait{})},
		{ID: "other", Topology: record.Topology{Version: "v1.90.1"}},
	}, 9)
	shared := got[slices.IndexFunc(got, func(g Group) bool { return len(g.Beside) > 0 && len(g.Alone) > 0 })]
	if !slices.Equal(shared.Beside, []int{3}) || !slices.Equal(shared.Alone, []int{1}) || !slices.Equal(shared.InStep, []int{0}) || len(got) != 3 {
		t.Errorf("groups %+v, want one in which the pod comes first, then the metrics, and then b", got)
	}
}

// TestManyThatAreAloneDoNotWaitForEachOther: what is beside and what is in step stay together, and
// no cell is lost.
func TestManyThatAreAloneDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	cells := []plan.Cell{{ID: "pod"}, {ID: "walk", Steps: []plan.Step{{Action: action.Restart{Component: "kube-apiserver"}}}}}
	for i := range 16 { // of 4 s
		cells = append(cells, plan.Cell{ID: fmt.Sprint(i), Steps: []plan.Step{{Action: action.Scrape{Component: "kube-apiserver"}}}})
	}
	var alone []int
	for _, g := range Groups(cells, 9) {
		if first := len(g.Beside) > 0; first != (len(g.InStep) > 0) || first != (g.Key != "") {
			t.Errorf("group %+v: either all three, or none", g)
		}
		if sum(cells, g.Alone) > aloneLimit {
			t.Errorf("group %+v: its cells are alone for %v", g, sum(cells, g.Alone))
		}
		alone = append(alone, g.Alone...)
	}
	slices.Sort(alone)
	if len(alone) != 16 || len(slices.Compact(alone)) != 16 {
		t.Errorf("alone are %v, want each of 16 once", alone)
	}
	if one := Groups(cells, 1); len(one) != 1 {
		t.Errorf("one at a time: %+v, want one group", one)
	}
}

func TestShuffledGroupsHaveTheSameCells(t *testing.T) {
	t.Parallel()
	cells := catalogCells(t)
	sorted := func(all []Group) []Group {
		for _, g := range all {
			for _, part := range [][]int{g.Beside, g.Alone, g.InStep} {
				slices.Sort(part)
			}
		}
		slices.SortFunc(all, func(a, b Group) int { return a.All()[0] - b.All()[0] })
		return all
	}
	shuffled := func(seed uint64) []Group {
		all := Groups(cells, 9)
		Shuffle(all, rand.New(rand.NewPCG(seed, 0)))
		return all
	}
	one, other := shuffled(1), shuffled(2)
	if reflect.DeepEqual(one, other) || !reflect.DeepEqual(one, shuffled(1)) {
		t.Error("a seed does not decide the order")
	}
	if !reflect.DeepEqual(sorted(one), sorted(Groups(cells, 9))) {
		t.Error("other cells are together than without")
	}
}

func TestHowFarCellsReach(t *testing.T) {
	t.Parallel()
	object := func(kind, namespace string) action.Action {
		return action.Apply{Objects: []map[string]any{{"kind": "Pod"}, {"kind": kind, "metadata": map[string]any{"namespace": namespace}}}}
	}
	patch := func(resource, namespace string) action.Action {
		return action.Patch{Object: spec.ObjectRef{Resource: resource, Namespace: namespace, Name: "a"}}
	}
	type fields = map[string]any
	apart := func(term fields) fields {
		return fields{"affinity": fields{"podAntiAffinity": fields{"requiredDuringSchedulingIgnoredDuringExecution": []any{term}}}}
	}
	spread := func(policy string) fields {
		return fields{"topologySpreadConstraints": []any{fields{"topologyKey": "kubernetes.io/hostname", "nodeAffinityPolicy": policy}}}
	}
	pod := func(spec fields) action.Action {
		return action.Apply{Objects: []map[string]any{{"kind": "Pod", "spec": spec}}}
	}
	for name, tc := range map[string]struct {
		action action.Action
		reach  action.Reach
	}{
		"a pod":                          {object("Pod", ""), action.ReachOwn},
		"a ConfigMap":                    {object("ConfigMap", "payments"), action.ReachOwn},
		"a pod of the system":            {object("Pod", "kube-system"), action.ReachAll},
		"a pod apart from its like":      {pod(apart(fields{"labelSelector": fields{}, "namespaceSelector": nil})), action.ReachOwn},
		"a pod apart from all":           {pod(apart(fields{"namespaceSelector": fields{}})), action.ReachAll},
		"a pod apart from a namespace's": {pod(apart(fields{"namespaces": []any{"default"}})), action.ReachAll},
		"a pod spread over its nodes":    {pod(spread("Honor")), action.ReachOwn},
		"a pod spread over all nodes":    {pod(spread("Ignore")), action.ReachAll},
		"a Deployment that gets like it": {action.Patch{
			Object: spec.ObjectRef{Resource: "deployments", Namespace: "default", Name: "a"},
			Merge:  fields{"spec": fields{"template": fields{"spec": spread("Ignore")}}},
		}, action.ReachAll},
		"a ClusterRole":                   {object("ClusterRole", ""), action.ReachAll},
		"an object of an unknown kind":    {object("Widget", ""), action.ReachAll},
		"a pod's change":                  {patch("pods", "default"), action.ReachOwn},
		"a node's change":                 {patch("nodes", ""), action.ReachOwn},
		"a pod's change, of the system":   {patch("pods", "kube-system"), action.ReachAll},
		"an admission webhook's change":   {patch("validatingwebhookconfigurations", ""), action.ReachAll},
		"a namespace's end":               {action.Delete{Object: spec.ObjectRef{Resource: "namespaces", Name: "a"}}, action.ReachAll},
		"a wait":                          {action.Wait{}, action.ReachOwn},
		"checks":                          {action.Checks{}, action.ReachOwn},
		"a static pod":                    {action.StaticPod{Node: "a"}, action.ReachOwn},
		"a kubelet's restart":             {action.Restart{Component: "kubelet/a"}, action.ReachOwn},
		"a kubelet's end":                 {action.Kill("kubelet/a"), action.ReachOwn},
		"a kubelet's metrics":             {action.Scrape{Component: "kubelet/a"}, action.ReachOwn},
		"a kubelet's link":                {action.Fault{Link: spec.Link{From: "kubelet/a"}}, action.ReachOwn},
		"an API server's restart":         {action.Restart{Component: "kube-apiserver"}, action.ReachChanges},
		"etcd's end":                      {action.Stop{Component: "etcd"}, action.ReachChanges},
		"metrics of the API server":       {action.Scrape{Component: "kube-apiserver"}, action.ReachShared},
		"the log of the API server":       {action.Log{Component: "kube-apiserver"}, action.ReachShared},
		"a link of the control plane":     {action.Fault{Link: spec.Link{From: "kube-scheduler"}}, action.ReachAll},
		"an action that does not say how": {unknown{}, action.ReachAll},
	} {
		if _, reach := shares(plan.Cell{Steps: []plan.Step{{Action: tc.action}}}); reach != tc.reach {
			t.Errorf("%s reaches %d, want %d", name, reach, tc.reach)
		}
	}
}

// TestWhatCellsOfOneControlPlaneAgreeOn: their nodes may differ, their control planes may not.
func TestWhatCellsOfOneControlPlaneAgreeOn(t *testing.T) {
	t.Parallel()
	key := func(t record.Topology) string {
		key, _ := shares(plan.Cell{Topology: t})
		return key
	}
	base := record.Topology{Version: "v1.90.1", Nodes: []record.Node{{Name: "a", Version: "v1.90.1"}}}
	older, gated := base, base
	older.Version, gated.Gates = "v1.89.3", release.Gates{"A": true}
	if key(base) == key(older) || key(base) == key(gated) {
		t.Error("cells of different control planes share one")
	}
	nodes := base
	nodes.Nodes = []record.Node{{Name: "b", Version: "v1.89.3"}}
	nodes.Links = []record.Link{{From: "kubelet/b", To: "kube-apiserver"}}
	nodes.Observed, nodes.MayEnd = []string{"jobs"}, []string{"kubelet/b"}
	if key(base) != key(nodes) {
		t.Error("cells of different nodes share no control plane")
	}
	for _, t2 := range []record.Topology{{LeaseNodes: new(record.LeaseNodes)}, {Garden: new(record.Garden)}} {
		if _, reach := shares(plan.Cell{Topology: t2}); reach != action.ReachAll {
			t.Errorf("%+v shares a control plane", t2)
		}
	}
	stored := []plan.Step{{Action: action.Stored{Object: spec.ObjectRef{Resource: "pods", Namespace: "default", Name: "a"}}}}
	if _, reach := shares(plan.Cell{Topology: record.Topology{Scheduler: true}, Steps: stored}); reach != action.ReachAll {
		t.Error("a cell that reads in etcd what is added beside others is beside others")
	}
	if _, reach := shares(plan.Cell{Topology: record.Topology{MayEnd: []string{"kube-apiserver"}}}); reach != action.ReachShared {
		t.Error("a cell may be beside others whose API server may end")
	}
}

// TestWhoCountsNodesIsAlone: what the controller manager does then depends on the nodes of
// others.
func TestWhoCountsNodesIsAlone(t *testing.T) {
	t.Parallel()
	node := func(merge map[string]any) action.Action {
		return action.Patch{Object: spec.ObjectRef{Resource: "nodes", Name: "a"}, Merge: merge}
	}
	labels := func(name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{name: "a"}}}
	}
	daemons := action.Apply{Objects: []map[string]any{{"kind": "DaemonSet"}}}
	for name, tc := range map[string]struct {
		action           action.Action
		scheduler, alone bool
	}{
		"a kubelet's end":             {action.Kill("kubelet/a"), true, true},
		"a condition of a node":       {node(map[string]any{"status": map[string]any{}}), true, true},
		"a zone of a node":            {node(labels("topology.kubernetes.io/zone")), true, true},
		"another label of a node":     {node(labels("a")), true, false},
		"a taint of a node":           {node(map[string]any{"spec": map[string]any{"taints": []any{}}}), true, false},
		"a DaemonSet":                 {daemons, true, false},
		"a DaemonSet that is for all": {daemons, false, true},
	} {
		for _, controllers := range []bool{true, false} {
			topology := record.Topology{ControllerManager: controllers, Scheduler: tc.scheduler}
			_, reach := shares(plan.Cell{Topology: topology, Steps: []plan.Step{{Action: tc.action}}})
			if alone := reach == action.ReachShared; alone != (tc.alone && controllers) {
				t.Errorf("%s, with a controller manager: %t: it reaches %d", name, controllers, reach)
			}
		}
	}
}

// unknown is an action that says nothing about itself.
type unknown struct{ action.Action }

func (unknown) Facts() action.Facts { return action.Facts{} }
