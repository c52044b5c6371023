package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// ofSteps is a cell that takes steps.
func ofSteps(id string, steps ...action.Action) plan.Cell {
	cell := plan.Cell{ID: id, Topology: record.Topology{Version: "v1.90.1", ControllerManager: true, Scheduler: true, Nodes: []record.Node{{Name: "node-a", Version: "v1.89.3"}}}}
	for _, step := range steps {
		cell.Steps = append(cell.Steps, plan.Step{Action: step})
	}
	return cell
}

// TestGroups: cells share a cluster, but for those that have to have one alone.
func TestGroups(t *testing.T) {
	t.Parallel()
	k := &Kind{}
	groups := k.groups([]plan.Cell{ofSteps("a"), ofSteps("b", action.Kill("kube-scheduler")), ofSteps("c")})
	if len(groups) != 2 || !slices.Equal(groups[0].all(), []int{0, 2}) {
		t.Errorf("%v", groups)
	}
}

// TestNodeReleases: a cell needs node images of all releases that its components ever have.
func TestNodeReleases(t *testing.T) {
	t.Parallel()
	cell := ofSteps("a", action.Restart{Component: "kube-apiserver", Version: "v1.91.0"}, action.Roll{Restarts: []action.Restart{{Component: "kubelet/node-a", Version: "v1.92.0"}}})
	cell.Topology.Members = []record.Component{{Name: "kube-apiserver", Version: "v1.90.1"}, {Name: "kube-scheduler/a", Version: "v1.88.0"}}
	want := []release.Version{"v1.90.1", "v1.88.0", "v1.89.3", "v1.91.0", "v1.92.0"}
	if diff := cmp.Diff(want, NodeReleases(cell)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAComponentEndsByItself: the record says so, and the cell ends unless its expressions look at it.
func TestAComponentEndsByItself(t *testing.T) {
	t.Parallel()
	for _, mayEnd := range [][]string{nil, {"kube-scheduler/a"}} {
		r := &run{history: new(record.History), cell: plan.Cell{Topology: record.Topology{
			MayEnd: mayEnd, Members: []record.Component{{Name: "kube-apiserver"}, {Name: "kube-scheduler/a"}},
		}}}
		var lost error
		var hub byNamespace
		leave := hub.join("-1", guest{history: r.history, ended: r.endedByItself(func(err error) { lost = err })})
		hub.ended("kube-scheduler", kind.End{Code: 2, At: time.Unix(1, 0)})
		leave()
		hub.ended("kube-apiserver", kind.End{})
		var said []string
		for e, stopped := range record.All[record.ComponentStopped](r.history.Events()) {
			said = append(said, e.Subject+" "+stopped.State)
		}
		if diff := cmp.Diff([]string{"kube-scheduler/a exited with 2"}, said); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if (lost != nil) != (mayEnd == nil) {
			t.Errorf("may end: %v, lost: %v", mayEnd, lost)
		}
	}
}

// TestALossIsOfTheCellThatHadIt: a cell whose record is not whole is not judged, although it has ended. The others on its
// cluster are, and the last one answers for the end of the cluster.
func TestALossIsOfTheCellThatHadIt(t *testing.T) {
	t.Parallel()
	var hub byNamespace
	for suffix, id := range map[string]string{"-1": "a", "-2": "b", "-3": "c"} {
		hub.join(suffix, guest{id: id})()
	}
	half, refused, stays := errors.New("it ended while it recorded"), errors.New("no kubelet made it"), errors.New("the network is in use")
	of := collect.Loss{Container: "default-1/web/app", Err: half}
	for _, c := range []struct {
		name string
		lost []collect.Loss
		end  error
		want string // the cells that are not judged, each with why
	}{
		{name: "nothing"},
		{"a container's", []collect.Loss{of}, nil, "a: container default-1/web/app: it ended while it recorded"},
		{"not known of which", []collect.Loss{{Err: refused}}, nil, "a: no kubelet made it; b: no kubelet made it; c: no kubelet made it"},
		{"both", []collect.Loss{of}, stays, "a: container default-1/web/app: it ended while it recorded; c: the network is in use"},
	} {
		b := &batch{Engine: &Engine{}, cells: []plan.Cell{{ID: "a"}, {ID: "b"}, {ID: "c"}}, results: make([]reports.Cell, 3)}
		b.settle([]int{0, 1, 2}, hub.share(c.lost), c.end)
		var got []string
		for i, r := range b.results {
			if r.Outcome == reports.HarnessError {
				got = append(got, b.cells[i].ID+": "+r.Reason)
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s, -want +got:\n%s", c.name, diff)
		}
	}
}

// TestAClusterThatIsNotHeardOf is the end of the cells on it, and of those that come later.
func TestAClusterThatIsNotHeardOf(t *testing.T) {
	t.Parallel()
	var hub byNamespace
	var told [3]error
	tell := func(i int) guest { return guest{lost: func(err error) { told[i] = err }} }
	hub.join("-0", tell(0))()
	hub.join("-1", tell(1))
	broken := errors.New("the journal ended")
	hub.lost(broken)
	hub.join("-2", tell(2))
	if told[0] != nil || !errors.Is(told[1], broken) || !errors.Is(told[2], broken) {
		t.Errorf("one that left, one that was there, and one that came later were told %v", told)
	}
}
