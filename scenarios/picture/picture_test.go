package picture_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/scenarios/picture"
	"github.com/skewrig/skewrig/scenarios/plan"
)

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// story is a record that is made up.
type story []record.Event

// at has something happen, so many seconds after midnight.
func (s *story) at(t *testing.T, second int, subject string, payload record.Payload) {
	t.Helper()
	data, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	*s = append(*s, record.Event{
		Seq: len(*s) + 1, At: moment(second), Kind: payload.EventKind(), Subject: subject, Data: data,
	})
}

func moment(second int) time.Time { return midnight.Add(time.Duration(second) * time.Second) }

func node(name, ready string) record.ObjectObserved {
	object := fmt.Sprintf(`{"status": {"conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": %q}]}}`, ready)
	return record.ObjectObserved{Change: "modified", Resource: "nodes", Name: name, Object: json.RawMessage(object)}
}

func deployment(name string, replicas int) record.ObjectObserved {
	object := fmt.Sprintf(`{"spec": {"replicas": %d}}`, replicas)
	return record.ObjectObserved{Cluster: "seed", Change: "modified", Resource: "deployments", Namespace: "shoot", Name: name, Object: json.RawMessage(object)}
}

func ages(a, b float64) record.LeaseAges {
	return record.LeaseAges{Zones: []record.ZoneAges{{Zone: "a", Nodes: 2, Median: a / 2, P99: a - 1, Oldest: a}, {Zone: "b", Nodes: 1, Median: b, P99: b, Oldest: b}}}
}

const (
	toShoot = "dependency-watchdog->kube-apiserver"
	toSeed  = "dependency-watchdog->seed/kube-apiserver"
	list    = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
	scale   = "/apis/apps/v1/namespaces/shoot/deployments/kcm/scale"
)

// outage is the record of a small one: second by second what the picture shows.
func outage(t *testing.T) (s story) {
	t.Helper()
	s.at(t, 0, "kube-apiserver", record.ComponentStarted{})
	s.at(t, 1, "nodes/a-0", node("a-0", "True"))
	s.at(t, 2, "nodes/b-0", node("b-0", "True"))
	s.at(t, 2, "seed/deployments/shoot/kcm", deployment("kcm", 2))
	s.at(t, 3, "lease-nodes", ages(1, 1))
	s.at(t, 4, "cut", record.StepStarted{Number: 1, Name: "1", Action: "cut lease-nodes/a"})
	s.at(t, 4, "lease-nodes/a->kube-apiserver", record.FaultBegan{Fault: record.LinkFault{Cut: record.CutDrop}})
	s.at(t, 4, "cut", record.StepDone{Number: 1})
	s.at(t, 5, toShoot, record.LinkRequest{Method: "GET", Path: "/version", Code: 200})
	s.at(t, 6, toShoot, record.LinkRequest{Method: "GET", Path: list, Code: 200, Renewed: map[string]time.Time{"a-0": moment(3), "b-0": moment(5)}})
	s.at(t, 7, "lease-nodes", ages(5, 1))
	s.at(t, 8, "2", record.StepStarted{Number: 2, Name: "2", Action: "stop lease-nodes/b"})
	s.at(t, 8, "lease-nodes/b", record.LeaseNodesStopped{})
	s.at(t, 40, toShoot, record.LinkRequest{Method: "GET", Path: list, Code: 200, Renewed: map[string]time.Time{"a-0": moment(3), "b-0": moment(8)}})
	s.at(t, 41, toSeed, record.LinkRequest{Method: "GET", Path: scale, Code: 200})
	s.at(t, 41, toSeed, record.LinkRequest{Method: "PUT", Path: scale, Code: 409})
	s.at(t, 42, toSeed, record.LinkRequest{Method: "PUT", Path: scale, Code: 200})
	s.at(t, 42, "seed/deployments/shoot/kcm", deployment("kcm", 0))
	s.at(t, 43, "kube-controller-manager", record.ComponentStopped{Asked: true})
	s.at(t, 44, "nodes/a-0", node("a-0", "Unknown"))
	s.at(t, 45, "nodes/b-0", node("b-0", "False"))
	s.at(t, 46, toShoot, record.LinkRequest{Method: "GET", Path: "/version", Error: "connection refused"})
	s.at(t, 47, toShoot, record.LinkRequest{Method: "GET", Path: list, Code: 429, Answered: true})
	s.at(t, 48, toShoot, record.FaultBegan{Fault: record.LinkFault{Path: list, Status: 429}})
	s.at(t, 49, "3", record.StepStarted{Number: 3, Name: "well", Action: "start lease-nodes/b"})
	s.at(t, 50, "lease-nodes/a->kube-apiserver", record.FaultEnded{Fault: record.LinkFault{Cut: record.CutDrop}})
	s.at(t, 51, "lease-nodes/b", record.LeaseNodesStarted{})
	s.at(t, 52, "nodes/a-0", node("a-0", "True"))
	s.at(t, 60, "3", record.StepDone{Number: 3})
	s.at(t, 61, "kube-apiserver", record.ComponentStopped{Asked: true})
	s.at(t, 62, "", record.CellEnded{})
	return s
}

func cell() plan.Cell {
	return plan.Cell{
		ID: "dwd/outage/small", Title: "A small outage",
		Topology: plan.Topology{
			Version: "v1.90.1", ControllerManager: true,
			LeaseNodes: &plan.LeaseNodes{Offset: behavior.Duration(-8 * time.Second)},
			Garden:     &plan.Garden{Watchdog: "v1.8.0"},
		},
	}
}

func leases(t *testing.T, c plan.Cell, s story) plot.Picture {
	t.Helper()
	p, ok := picture.Leases(c, s)
	if !ok {
		t.Fatal("there is no picture")
	}
	return p
}

func panel(t *testing.T, p plot.Picture, title string) plot.Panel {
	t.Helper()
	for _, panel := range p.Panels {
		if panel.Title == title {
			return panel
		}
	}
	t.Fatalf("there is no panel %q", title)
	return plot.Panel{}
}

// points are times and values by turns.
func points(numbers ...float64) (all []plot.Point) {
	for i := 0; i < len(numbers); i += 2 {
		all = append(all, plot.Point{At: numbers[i], Value: numbers[i+1]})
	}
	return all
}

func TestSmallOutage(t *testing.T) {
	t.Parallel()
	p := leases(t, cell(), outage(t))
	cut := plot.Span{From: 4, To: 50, Label: "link: drop", Look: plot.Bad}
	stopped := plot.Span{From: 8, To: 51, Label: "stopped", Look: plot.Gone}
	gone := plot.Span{From: 43, To: 60, Label: "stopped", Look: plot.Gone}
	throttled := plot.Span{From: 48, To: 60, Label: "answer 429 to …/leases", Look: plot.Bad}
	want := plot.Picture{
		Title: "A small outage", Subtitle: "dwd/outage/small", From: 3, To: 60, Axis: "seconds of the record",
		Shades: []plot.Span{cut, stopped, gone, throttled},
		Panels: []plot.Panel{
			{Title: "what was wrong", Lanes: []plot.Lane{
				{Name: "lease-nodes", Bars: []plot.Span{{From: 3, To: 60, Label: "clock 8s behind", Look: plot.Doubt}}},
				{Name: "lease-nodes/a", Bars: []plot.Span{cut}},
				{Name: "lease-nodes/b", Bars: []plot.Span{stopped}},
				{Name: "kube-controller-manager", Bars: []plot.Span{gone}},
				{Name: "dependency-watchdog", Bars: []plot.Span{throttled}},
			}},
			{Title: "age of leases, s", Lines: []plot.Line{
				{Label: "a: oldest", Style: plot.Solid, Points: points(3, 1, 7, 5)},
				{Label: "a: 99th percentile", Style: plot.Dashed, Points: points(3, 0, 7, 4)},
				{Label: "a: median", Style: plot.Dotted, Points: points(3, 0.5, 7, 2.5)},
				{Label: "b: oldest", Style: plot.Solid, Color: 1, Points: points(3, 1, 7, 1)},
				{Label: "b: 99th percentile", Style: plot.Dashed, Color: 1, Points: points(3, 1, 7, 1)},
				{Label: "b: median", Style: plot.Dotted, Color: 1, Points: points(3, 1, 7, 1)},
			}, Limits: []plot.Limit{
				{At: 30, Label: "30 s: expired for the watchdog"},
				{At: 50, Label: "50 s: kube-controller-manager gives the node up"},
			}},
			{Title: "nodes", Top: 2, Lines: []plot.Line{
				{Label: "not Ready", Color: 4, Style: plot.Solid, Held: true, Points: points(1, 0, 44, 1, 45, 2, 52, 1)},
				{Label: "of those, Unknown", Style: plot.Dashed, Held: true, Points: points(1, 0, 44, 1, 52, 0)},
			}},
			{Title: "the watchdog's probes", Lanes: []plot.Lane{
				{Name: "is the API server there?", Marks: []plot.Marks{{Label: "answered", Look: plot.Good, At: []float64{5}}, {Label: "failed", Look: plot.Bad, At: []float64{46}}}},
				{Name: "are leases renewed?", Marks: []plot.Marks{{Label: "answered", Look: plot.Good, At: []float64{6, 40}}, {Label: "throttled", Look: plot.Doubt, At: []float64{47}}}},
			}},
			{
				Title: "expired, % of the list", Top: 100,
				Stems:  []plot.Stems{{Label: "below the threshold", Look: plot.Good, Points: points(6, 0)}, {Label: "at it or above", Look: plot.Bad, Points: points(40, 100)}},
				Limits: []plot.Limit{{At: 60, Label: "60 %: the watchdog's threshold"}},
			},
			{Title: "replicas", Lanes: []plot.Lane{{
				Name: "kcm", Steps: points(2, 2, 42, 0),
				Marks: []plot.Marks{{Label: "its request failed", Look: plot.Bad, At: []float64{41}}, {Label: "scaled by the watchdog", Look: plot.Good, At: []float64{42}}},
			}}},
		},
		Steps: []plot.Step{{At: 4, Name: "1", Text: "cut lease-nodes/a"}, {At: 8, Name: "2", Text: "stop lease-nodes/b"}, {At: 49, Name: "3", Text: "well: start lease-nodes/b"}},
	}
	if diff := cmp.Diff(want, p, cmpopts.IgnoreFields(plot.Picture{}, "Description")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, said := range []string{"dwd/outage/small", "link: drop (4.0 to 50.0)", "a: oldest at most 5", "kcm 2 (2.0) 0 (42.0)", "failed 1 times"} {
		if !strings.Contains(p.Description, said) {
			t.Errorf("the description does not say %q: %s", said, p.Description)
		}
	}
}

// TestOwnPatience: the lines are where the plan says.
func TestOwnPatience(t *testing.T) {
	t.Parallel()
	quarter := 0.25
	for name, tc := range map[string]struct {
		change func(*plan.Topology)
		want   []float64
	}{
		"as the release does": {func(*plan.Topology) {}, []float64{30, 50}},
		"an older release":    {func(to *plan.Topology) { to.Version = "v1.31.9" }, []float64{30, 40}},
		"a grace of its own":  {func(to *plan.Topology) { to.NodeMonitor.Grace = behavior.Duration(8 * time.Second) }, []float64{30, 8}},
		"no node is watched":  {func(to *plan.Topology) { to.ControllerManager = false }, []float64{30}},
		"no watchdog":         {func(to *plan.Topology) { to.Garden.Watchdog = "" }, []float64{50}},
		"no garden":           {func(to *plan.Topology) { to.Garden = nil }, []float64{50}},
		"a prober of its own": {func(to *plan.Topology) {
			to.Garden.Prober = record.Prober{KCMNodeMonitorGraceDuration: behavior.Duration(8 * time.Second), NodeLeaseFailureFraction: &quarter}
		}, []float64{6, 50}},
	} {
		c := cell()
		tc.change(&c.Topology)
		p := leases(t, c, outage(t))
		var got []float64
		for _, l := range panel(t, p, "age of leases, s").Limits {
			got = append(got, l.At)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if name == "a prober of its own" {
			if at := panel(t, p, "expired, % of the list").Limits[0].At; at != 25 {
				t.Errorf("the threshold is %g %%", at)
			}
		}
	}
}

// TestClocks: one that is set is wrong until it is right again.
func TestClocks(t *testing.T) {
	t.Parallel()
	var s story
	s.at(t, 0, "kubelet/a", record.ClockSet{})
	s.at(t, 1, "lease-nodes", ages(1, 1))
	s.at(t, 2, "1", record.StepStarted{Number: 1, Name: "1"})
	s.at(t, 3, "kubelet/a", record.ClockSet{Clock: clock.Clock{Offset: time.Minute}})
	s.at(t, 4, "kubelet/a", record.ClockSet{Clock: clock.Clock{Offset: time.Hour}})
	s.at(t, 5, "kubelet/a", record.ClockSet{})
	s.at(t, 6, "lease-nodes", record.LeaseClockSet{Step: -time.Second})
	s.at(t, 8, "lease-nodes", record.LeaseClockSet{})
	s.at(t, 9, "1", record.StepDone{Number: 1})
	want := []plot.Lane{
		{Name: "kubelet/a", Bars: []plot.Span{{From: 3, To: 4, Label: "clock 1m0s ahead", Look: plot.Doubt}, {From: 4, To: 5, Label: "clock 1h0m0s ahead", Look: plot.Doubt}}},
		{Name: "lease-nodes", Bars: []plot.Span{{From: 6, To: 8, Label: "clock set by -1s", Look: plot.Doubt}}},
	}
	p := leases(t, plan.Cell{}, s)
	if diff := cmp.Diff(want, panel(t, p, "what was wrong").Lanes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(p.Shades) > 0 {
		t.Errorf("clocks are shaded: %v", p.Shades)
	}
}

// TestOnlyWhatThereIs: a rig without a garden, whose steps were never taken.
func TestOnlyWhatThereIs(t *testing.T) {
	t.Parallel()
	var s story
	s.at(t, 0, "lease-nodes", record.LeaseAges{Zones: []record.ZoneAges{{Nodes: 1, Oldest: 2}}})
	s.at(t, 1, "etcd", record.ComponentStopped{})
	s.at(t, 9, "", record.CellEnded{Error: "etcd died"})
	p := leases(t, plan.Cell{}, s)
	if p.From != 0 || p.To != 9 || len(p.Steps) > 0 || len(p.Panels) != 2 {
		t.Errorf("from %g to %g: %+v", p.From, p.To, p.Panels)
	}
	if got := p.Shades[0].Label; got != "ended by itself" {
		t.Errorf("the shade says %q", got)
	}
	if got := panel(t, p, "age of leases, s").Lines[0].Label; got != "oldest" {
		t.Errorf("the first line is %q", got)
	}
}

func TestNoLeasesNoPicture(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]story{"no record": nil, "no leases": outage(t)[:4]} {
		if _, ok := picture.Leases(cell(), s); ok {
			t.Errorf("%s: there is a picture", name)
		}
	}
}
