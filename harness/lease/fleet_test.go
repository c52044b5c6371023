package lease

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/record"
)

// brisk is a kubelet's timing, a thousand times as fast.
func brisk(zones ...record.Zone) record.LeaseNodes {
	const often = behavior.Duration(10 * time.Millisecond)
	return record.LeaseNodes{Zones: zones, Duration: behavior.Duration(time.Second), Interval: often, Timeout: often, Status: often, Report: behavior.Duration(time.Minute)}
}

// patience bounds every wait for what is sure to come.
const patience = 30 * time.Second

type rig struct {
	*Fleet
	t      *testing.T
	client *fake.Clientset
	// history is the fleet's record.
	history *record.History
}

func newRig(t *testing.T, zones ...record.Zone) *rig {
	t.Helper()
	return newRigWith(t, fake.NewClientset(), zones...)
}

func newRigWith(t *testing.T, client *fake.Clientset, zones ...record.Zone) *rig {
	t.Helper()
	history := record.NewHistory(nil)
	f, err := start(t.Context(), Config{Nodes: brisk(zones...), Recorder: history}, client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{Fleet: f, t: t, client: client, history: history}
}

// await looks until something is so.
func (r *rig) await(what string, is func() bool) {
	r.t.Helper()
	if !await.Until(r.t.Context(), patience, is) {
		r.t.Fatalf("it never came true that %s", what)
	}
}

// behind is how far a node's lease is behind real time.
func (r *rig) behind(name string) time.Duration {
	r.t.Helper()
	lease, err := r.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	if *lease.Spec.HolderIdentity != name || *lease.Spec.LeaseDurationSeconds != 1 || lease.OwnerReferences[0].Name != name {
		r.t.Errorf("the lease of %s is %+v", name, lease)
	}
	return time.Since(lease.Spec.RenewTime.Time)
}

func (r *rig) ready(name string) corev1.ConditionStatus {
	r.t.Helper()
	node, err := r.client.CoreV1().Nodes().Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

// must fails the test if something could not be done.
func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) renewals(n int64) {
	r.t.Helper()
	want := r.Count().Renewed + n
	r.await("more leases are renewed", func() bool { return r.Count().Renewed >= want })
}

func TestAFleetRenewsItsLeases(t *testing.T) {
	t.Parallel()
	r := newRig(t, zone("a", 3), zone("b", 3), zone("c", 3))
	nodes, err := r.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "topology.kubernetes.io/zone=b"})
	if err != nil || len(nodes.Items) != 3 {
		t.Fatalf("%d nodes in zone b: %v", len(nodes.Items), err)
	}
	if got := strings.Join(r.Names("b"), " "); got != "node-3 node-4 node-5" {
		t.Errorf("the nodes of b are %s", got)
	}
	if r.ready("node-3") != corev1.ConditionTrue {
		t.Error("it is not ready")
	}
	r.renewals(50)
	if c := r.Count(); c.Failed != 0 || c.Lost != 0 {
		t.Errorf("%+v", c)
	}
}

// TestStripLeavesTheNode: a fake client still uses the object that it sends.
func TestStripLeavesTheNode(t *testing.T) {
	t.Parallel()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0", Labels: map[string]string{corev1.LabelTopologyZone: "b"}}}
	if stripped := strip(n); len(stripped.(*corev1.Node).Labels) != 0 || n.Labels[corev1.LabelTopologyZone] != "b" { //nolint:forcetypeassert // it is one
		t.Errorf("%+v became %+v", n, stripped)
	}
}

// twoZones have a node each: node-0 in a, node-1 in b.
var twoZones = []record.Zone{zone("a", 1), zone("b", 1)}

func zone(name string, nodes int) record.Zone { return record.Zone{Name: name, Count: nodes} }

func TestANodeThatIsCutOff(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]struct {
		cut, heal func(*rig) error
		lost      bool
	}{
		"dropped": {func(r *rig) error { return r.SetLink("b", record.LinkFault{Cut: record.CutDrop}) }, func(r *rig) error { return r.SetLink("b", record.LinkFault{}) }, true},
		"reset":   {func(r *rig) error { return r.SetLink("b", record.LinkFault{Cut: record.CutReset}) }, func(r *rig) error { return r.SetLink("b", record.LinkFault{}) }, true},
		"slow":    {func(r *rig) error { return r.SetLink("b", record.LinkFault{Delay: time.Hour}) }, func(r *rig) error { return r.SetLink("b", record.LinkFault{}) }, true},
		"stopped": {func(r *rig) error { return r.Stop("b") }, func(r *rig) error { return r.Start("b") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, twoZones...)
			mine := func() int64 { return r.byName["node-1"].did().Renewed }
			r.must(how.cut(r))
			before := mine()
			r.renewals(30)
			// One may have been underway.
			if after := mine(); after > before+1 {
				t.Errorf("it was renewed %d times", after-before)
			}
			if lost := r.Count().Lost > 0; lost != how.lost {
				t.Errorf("%+v", r.Count())
			}
			before = mine()
			r.must(how.heal(r))
			r.await("it is renewed again", func() bool { return mine() > before+1 && r.Ages(time.Now())[1] < patience })
			for _, ended := range record.All[record.FaultEnded](r.history.Events()) {
				if !ended.Effect.Any() {
					t.Errorf("the fault did nothing: %+v", ended)
				}
			}
		})
	}
}

func TestASlowLinkMakesARenewalLate(t *testing.T) {
	t.Parallel()
	r := newRig(t, twoZones...)
	r.must(r.SetLink("a", record.LinkFault{Delay: time.Duration(brisk().Timeout) / 2}))
	r.await("it is late, and gets through", func() bool {
		held := r.byName["node-0"].did()
		return held.Lost > 3 && held.Renewed > 3
	})
}

func TestAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t, twoZones...)
	r.must(r.SetClock("a", clock.Clock{Offset: -35 * time.Second}))
	r.await("its lease is behind", func() bool { return r.behind("node-0") >= 35*time.Second })
	if b := r.behind("node-1"); b > 30*time.Second {
		t.Errorf("the other one is %s behind", b)
	}
	if age := r.Ages(time.Now())[0]; age > 30*time.Second {
		t.Errorf("it was really renewed %s ago", age)
	}
}

// pronounce gives all conditions of a node a status, unless its readiness has it.
func (r *rig) pronounce(name string, status corev1.ConditionStatus) {
	r.t.Helper()
	node, err := r.client.CoreV1().Nodes().Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	if r.ready(name) == status {
		return
	}
	for i := range node.Status.Conditions {
		node.Status.Conditions[i].Status = status
	}
	if _, err := r.client.CoreV1().Nodes().UpdateStatus(r.t.Context(), node, metav1.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// TestAVerdictIsDisputed: a node that hears that it is not ready says that it is.
func TestAVerdictIsDisputed(t *testing.T) {
	t.Parallel()
	r := newRig(t, zone("", 1))
	r.must(r.SetLink("", record.LinkFault{Cut: record.CutDrop}))
	// A report that was on its way before the cut may undo the verdict: it is pronounced again then.
	lost := r.Count().Lost
	r.await("it has heard of it, tries, and is not heard", func() bool {
		r.pronounce("node-0", corev1.ConditionUnknown)
		return r.Count().Lost > lost+100
	})
	lost = r.Count().Lost
	r.await("it tries on", func() bool { return r.Count().Lost > lost+100 }) // of a hundred requests, some are reports
	if got := r.ready("node-0"); got != corev1.ConditionUnknown {
		t.Errorf("a node that is cut off says that it is ready: %s", got)
	}
	r.must(r.SetLink("", record.LinkFault{}))
	r.await("it is ready again", func() bool { return r.ready("node-0") == corev1.ConditionTrue })
}

func TestAFleetTakesOverWhatAnotherLeft(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	first := newRigWith(t, client, zone("", 2))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	node, err := client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.Status.Conditions = nil
	if _, err := client.CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	second := newRigWith(t, client, zone("a", 3))
	if second.ready("node-1") != corev1.ConditionTrue {
		t.Error("it is not ready")
	}
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "topology.kubernetes.io/zone=a"})
	if err != nil || len(nodes.Items) != 3 {
		t.Errorf("%d nodes in zone a: %v", len(nodes.Items), err)
	}
	second.renewals(9)
}

func TestAFleetThatCanNotBe(t *testing.T) {
	t.Parallel()
	_, err := Start(context.Background(), Config{Nodes: record.LeaseNodes{
		Zones: []record.Zone{zone("a", 0)}, Duration: behavior.Duration(1500 * time.Millisecond), Interval: behavior.Duration(2 * time.Second), Status: -1,
	}})
	for _, want := range []string{"0 nodes", "whole seconds", "has run out each time", "longer than nothing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	r := newRig(t, twoZones...)
	if err := r.Stop("c"); err == nil || !strings.Contains(err.Error(), `no zone of simulated nodes has the name "c"; zones are a, b`) {
		t.Error(err)
	}
	if err := r.SetLink("a", record.LinkFault{Cut: record.CutDrop, Direction: record.Forward}); err == nil || !strings.Contains(err.Error(), "both directions") {
		t.Error(err)
	}
	if r.byName["node-0"].condition.link != (record.LinkFault{}) {
		t.Error("it was set all the same")
	}
}

// Count returns what all nodes did so far.
func (f *Fleet) Count() count { return sum(f.nodes) }

// Ages returns how long ago each node last renewed its lease, in real time, in
// the order of the nodes.
func (f *Fleet) Ages(now time.Time) []time.Duration {
	return ages(f.nodes, now)
}

func TestALeaseThatIsNotThereHasNoAge(t *testing.T) {
	now := time.Now()
	f := &Fleet{cfg: Config{Nodes: brisk(zone("a", 2), zone("b", 1))}}
	f.nodes = []*node{{zone: "a"}, {zone: "a", renewed: now.Add(-time.Second)}, {zone: "b"}}
	got := f.agesOfZones(now)
	want := record.LeaseAges{Zones: []record.ZoneAges{{Zone: "a", Nodes: 1, Median: 1, P99: 1, Oldest: 1}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
