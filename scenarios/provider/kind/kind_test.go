package kind

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/cluster"
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
	groups := new(Provider).Groups([]plan.Cell{ofSteps("a"), ofSteps("b", action.Kill("kube-scheduler")), ofSteps("c")})
	if len(groups) != 2 || !slices.Equal(groups[0].Beside, []int{0, 2}) {
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
		c := &kindCluster{router: newRouter(), sessions: make(map[*session]bool)}
		s := &session{Session: new(cluster.Session), cluster: c, tenant: provider.Tenant{History: new(record.History), Cell: plan.Cell{Topology: record.Topology{
			MayEnd: mayEnd, Members: []record.Component{{Name: "kube-apiserver"}, {Name: "kube-scheduler/a"}},
		}}}}
		var lost error
		s.lose = func(err error) { lost = err }
		leave := c.join(s)
		c.ended("kube-scheduler", kind.End{Code: 2, At: time.Unix(1, 0)})
		leave()
		c.ended("kube-apiserver", kind.End{})
		var said []string
		for e, stopped := range record.All[record.ComponentStopped](s.tenant.History.Events()) {
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

// TestALossIsOfTheCellThatHadIt: its record has it. One that may be any cell's is in the records of all, also of those that
// come later.
func TestALossIsOfTheCellThatHadIt(t *testing.T) {
	t.Parallel()
	router := newRouter()
	var histories [4]*record.History
	join := func(i int) (leave func()) {
		histories[i] = new(record.History)
		return router.Join(fmt.Sprint("-skewrig-1234-000", i), histories[i], nil)
	}
	join(0)()
	join(1)
	join(2)
	half, broken := errors.New("it ended while it recorded"), errors.New("the journal ended")
	router.Append("server/default-skewrig-1234-0001/web/app", "default-skewrig-1234-0001/web/app", container.Losing(time.Now(), half))
	router.Append("cluster", "kubelet/node-a", record.Losing(time.Now(), broken, record.ComponentStopped{}))
	join(3)
	for i, want := range [4]string{"", half.Error() + "; " + broken.Error(), broken.Error(), broken.Error()} {
		var got []string
		for _, lost := range record.All[record.ObservationLost](histories[i].Events()) {
			got = append(got, lost.Reason)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("cell %d has lost %q, want %q", i, got, want)
		}
	}
}
