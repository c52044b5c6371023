package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// rig is a world, and what happened in it.
type rig struct {
	*World
	events []Event
	lines  []string
}

func newRig(cfg Config) *rig {
	r := &rig{}
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	cfg.On = func(at time.Time, e Event) {
		r.events = append(r.events, e)
		r.lines = append(r.lines, fmt.Sprintf("%s %s", at.Sub(begin).Round(100*time.Millisecond), e))
	}
	r.World = New(cfg)
	return r
}

func (r *rig) run(seconds float64) {
	r.RunUntil(r.Now().Add(time.Duration(seconds * float64(time.Second))))
}

// forget is for what happened before it matters.
func (r *rig) forget() { r.events, r.lines = nil, nil }

// unknown is how many nodes have been called Unknown.
func (r *rig) unknown() int {
	n := 0
	for _, e := range r.events {
		if c, ok := e.(NodeChanged); ok && c.Ready == nodelife.Unknown {
			n++
		}
	}
	return n
}

// scaled is how often the watchdog has scaled something to that many replicas.
func (r *rig) scaled(replicas int) int {
	n := 0
	for _, e := range r.events {
		if c, ok := e.(Changed); ok && c.Change.Scale && c.Change.Replicas == replicas {
			n++
		}
	}
	return n
}

// said is the lines that contain a text.
func (r *rig) said(text string) []string {
	var all []string
	for _, l := range r.lines {
		if strings.Contains(l, text) {
			all = append(all, l)
		}
	}
	return all
}

// one is a watchdog's configuration with the controller alone.
func one() watchdog.Config {
	return watchdog.Config{Dependents: []watchdog.Dependent{{Name: watchdog.ControllerManager}}}
}

// gardener is a world as Gardener has it, with the grace period of 40 s which it
// gives both.
func gardener(release string) Config {
	return Config{Nodes: 12, Release: release, Watchdog: gardeners(), Controller: nodelife.Config{Grace: 40 * time.Second}}
}

func TestNothingHappens(t *testing.T) {
	t.Parallel()
	r := newRig(gardener("v1.8.0"))
	r.run(7200)
	if len(r.said("probe: 0 of 12 have run out: scale up")) < 100 {
		t.Errorf("it was not probed: %q", r.lines[:min(9, len(r.lines))])
	}
	if r.unknown() > 0 || r.scaled(0) > 0 || r.scaled(1) > 0 {
		t.Errorf("something happened: %q", r.lines)
	}
}

// TestAStoryOfAnOutage has all kinds of events in their order.
func TestAStoryOfAnOutage(t *testing.T) {
	t.Parallel()
	cfg := gardener("v1.8.0")
	cfg.Nodes = 3
	cfg.Deployments = []Deployment{
		{Name: watchdog.ControllerManager, Resource: watchdog.Resource{Exists: true, Replicas: 2}, Starts: 3 * time.Second},
		{Name: "machine-controller-manager", Resource: watchdog.Resource{Exists: true, Replicas: 1}, Stops: 500 * time.Millisecond},
	}
	r := newRig(cfg)
	r.run(100)
	r.Set(r.Nodes(), Condition{Dropped: true})
	r.run(100)
	r.SetLink(watchdog.Link{watchdog.ListLeases: watchdog.Throttled})
	r.run(40)
	r.SetLink(nil)
	r.Set(r.Nodes(), Condition{})
	r.run(150)
	r.SetCluster(nil)
	golden.Check(t, "testdata/outage.txt", strings.Join(r.lines, "\n")+"\n")
}

func TestTheSameSeed(t *testing.T) {
	t.Parallel()
	story := func(seed uint64) string {
		cfg := gardener("v1.2.3")
		cfg.Seed = seed
		r := newRig(cfg)
		r.run(300)
		r.Set(r.Nodes()[:9], Condition{Dropped: true})
		r.run(300)
		r.Set(r.Nodes(), Condition{})
		r.run(300)
		return strings.Join(r.lines, "\n")
	}
	first := story(7)
	if diff := cmp.Diff(first, story(7)); diff != "" {
		t.Errorf("the same seed (-first +again):\n%s", diff)
	}
	if first == story(8) {
		t.Error("another seed comes to the same")
	}
}

// TestTimeInParts is the same as time at once.
func TestTimeInParts(t *testing.T) {
	t.Parallel()
	whole, parts := newRig(gardener("v1.8.0")), newRig(gardener("v1.8.0"))
	for _, r := range []*rig{whole, parts} {
		r.Set(r.Nodes()[:10], Condition{Clock: clock.Clock{Offset: -26 * time.Second}})
	}
	whole.run(600)
	for range 6000 {
		parts.run(0.1)
		parts.Node(3) // reading a node changes nothing
	}
	if diff := cmp.Diff(whole.lines, parts.lines); diff != "" {
		t.Errorf("(-whole +parts):\n%s", diff)
	}
	if whole.Node(3) != parts.Node(3) {
		t.Errorf("%+v and %+v", whole.Node(3), parts.Node(3))
	}
}

// TestAPartOfTheNodes: the watchdog acts if more than its fraction of them is gone.
func TestAPartOfTheNodes(t *testing.T) {
	t.Parallel()
	for want, nodes := range map[string][]int{"3 unknown, 0 down": {0, 3, 6}, "0 unknown, 1 down": {0, 1, 3, 4, 6, 7}} {
		r := newRig(Config{Nodes: 9, Release: "v1.8.0", Watchdog: one()})
		r.run(100)
		r.Set(nodes, Condition{Dropped: true})
		r.run(100)
		if got := fmt.Sprintf("%d unknown, %d down", r.unknown(), r.scaled(0)); got != want {
			t.Errorf("without nodes %v: %s, want %s", nodes, got, want)
		}
	}
}

func TestANodeThatIsStopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Condition{"stopped": {Stopped: true}, "dropped": {Dropped: true}, "refused": {Refused: true}} {
		r := newRig(Config{Nodes: 3})
		r.run(100)
		r.Set([]int{1}, c)
		r.run(61)
		if got := r.said("node"); len(got) != 2 || !strings.Contains(got[1], "node 1 is Ready=Unknown") {
			t.Errorf("%s: %q", name, got)
		}
		if r.Count(nodelife.Unknown) != 1 || r.Count(nodelife.True) != 2 {
			t.Errorf("%s: %d are Unknown", name, r.Count(nodelife.Unknown))
		}
		r.run(600)
		r.forget()
		healed := r.Now()
		r.Set([]int{1}, Condition{})
		r.run(17.1) // an answer that was lost is waited for, and then its turn
		if got := r.said("node 1 is Ready=True"); len(got) != 1 {
			t.Errorf("%s, and again: %q", name, r.lines)
		}
		if n := r.Node(1); n.Lease.Renewed.Before(healed) || n.Heartbeat.Before(healed) {
			t.Errorf("%s: it is %+v", name, n)
		}
		r.run(3600)
		if got := r.said("node 1"); len(got) != 1 {
			t.Errorf("%s, later: %q", name, got)
		}
	}
}

func TestANodeThatIsStoppedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(Config{Nodes: 1})
	for _, c := range []Condition{{Dropped: true}, {Stopped: true}, {Dropped: true}, {Stopped: true}, {}} {
		r.Set([]int{0}, c)
		r.run(103)
	}
	if got := r.said("node 0"); len(got) != 2 || !strings.HasPrefix(got[1], "6m52s") {
		t.Errorf("%q", got)
	}
}

func TestANodeThatIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(Config{Nodes: 2})
	r.run(100)
	r.Set([]int{0}, Condition{Stopped: true, Circumstances: watchdog.NoNode})
	r.run(200)
	if r.unknown() != 0 {
		t.Errorf("%q", r.lines)
	}
	r.Set([]int{0}, Condition{Stopped: true})
	r.run(49)
	if r.unknown() != 0 {
		t.Errorf("it is remembered: %q", r.lines)
	}
	r.run(20)
	if r.unknown() != 1 {
		t.Errorf("it is not missed: %q", r.lines)
	}
}

// TestWhoIsExempt: nodes whose machines have failed don't count, in releases that
// know of machines.
func TestWhoIsExempt(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]int{"v1.2.3": 1, "v1.8.0": 0} {
		cfg := Config{Nodes: 10, Release: release, Watchdog: one()}
		r := newRig(cfg)
		r.Set(r.Nodes()[:7], Condition{Stopped: true, Circumstances: watchdog.NoMachine})
		r.run(65)
		if got := r.scaled(0); got != want {
			t.Errorf("%s scales down %d times, want %d: %q", release, got, want, r.lines)
		}
	}
}

// TestTheAPIServerIsDown: the watchdog does nothing, and the controller, which
// starts anew if it was for long, neither.
func TestTheAPIServerIsDown(t *testing.T) {
	t.Parallel()
	for down, restarts := range map[float64]int{9: 0, 10: 1, 600: 1} {
		r := newRig(gardener("v1.8.0"))
		r.run(100)
		r.forget()
		r.SetAPIServer(false)
		r.SetAPIServer(false)
		r.run(down)
		if n := r.scaled(0) + r.unknown(); n != 0 {
			t.Errorf("down for %g s: %q", down, r.lines)
		}
		if down > 100 && len(r.said("probe: get version: failed")) < 10 {
			t.Errorf("down for %g s: %q", down, r.lines)
		}
		r.SetAPIServer(true)
		r.SetAPIServer(true)
		if got := len(r.said("controller starts")); got != restarts {
			t.Errorf("down for %g s: the controller starts %d times", down, got)
		}
		r.run(3600)
		if n := r.scaled(0) + r.unknown(); n != 0 {
			t.Errorf("after %g s: %q", down, r.lines)
		}
	}
}

func TestTheWayOfTheWatchdogIsCut(t *testing.T) {
	t.Parallel()
	r := newRig(gardener("v1.8.0"))
	r.run(95)
	r.SetLink(watchdog.Broken(watchdog.Lost))
	r.Set(r.Nodes(), Condition{Dropped: true})
	r.forget()
	r.run(600)
	if r.scaled(0) != 0 || r.unknown() != 12 || len(r.said("probe: get version: lost")) < 8 {
		t.Errorf("%q", r.lines)
	}
	r.SetLink(nil)
	r.run(90)
	if r.scaled(0) != 3 {
		t.Errorf("when it is there again: %q", r.lines)
	}
}

// TestTheWatchdogEnds amid an outage: what it has scaled down stays so until it
// is there again, and has waited.
func TestTheWatchdogEnds(t *testing.T) {
	t.Parallel()
	r := newRig(Config{Nodes: 5, Release: "v1.8.0", Watchdog: one()})
	r.run(100)
	r.Set(r.Nodes(), Condition{Dropped: true})
	r.run(60)
	r.StopWatchdog()
	r.Set(r.Nodes(), Condition{})
	r.run(3600)
	if r.scaled(0) != 1 || r.scaled(1) != 0 || r.Deployment(watchdog.ControllerManager).Replicas != 0 {
		t.Fatalf("%q", r.lines)
	}
	r.StartWatchdog()
	r.run(29.9)
	if r.scaled(1) != 0 {
		t.Errorf("too early: %q", r.lines)
	}
	r.run(0.2)
	if r.scaled(1) != 1 || !slices.ContainsFunc(r.lines, func(l string) bool { return strings.HasSuffix(l, "controller starts") }) {
		t.Errorf("%q", r.lines)
	}
}

func TestAClusterThatHibernates(t *testing.T) {
	t.Parallel()
	r := newRig(Config{Nodes: 5, Release: "v1.8.0", Watchdog: one()})
	r.run(100)
	asleep := *r.Cluster()
	asleep.Hibernation = true
	r.SetCluster(&asleep)
	r.Set(r.Nodes(), Condition{Stopped: true})
	r.run(600)
	if r.scaled(0) != 0 || len(r.said("prober: stop, as it hibernates")) != 1 {
		t.Errorf("%q", r.lines)
	}
	r.Set(r.Nodes(), Condition{})
	r.forget()
	r.SetCluster(Made())
	r.run(31)
	if got := r.said("pro"); len(got) != 2 || !strings.HasSuffix(got[0], "prober: start, as it is there") {
		t.Errorf("%q", got)
	}
}

// TestARunningProberKeepsItsGracePeriod, also when the cluster gets another one.
func TestARunningProberKeepsItsGracePeriod(t *testing.T) {
	t.Parallel()
	r := newRig(Config{Nodes: 5, Release: "v1.8.0", Watchdog: one()})
	longer := *Made()
	longer.Grace = time.Hour
	r.run(40)
	r.SetCluster(&longer)
	r.Set(r.Nodes(), Condition{Dropped: true})
	r.run(45)
	if r.scaled(0) != 1 {
		t.Errorf("%q", r.lines)
	}
	r = newRig(Config{Nodes: 5, Release: "v1.8.0", Watchdog: one(), Cluster: &longer})
	r.Set(r.Nodes(), Condition{Dropped: true})
	r.run(600)
	if r.scaled(0) != 0 {
		t.Errorf("with a prober of its own: %q", r.lines)
	}
}

// TestAnotherClientScales: what an operator scales down is scaled up again, unless
// it is to be ignored.
func TestAnotherClientScales(t *testing.T) {
	t.Parallel()
	for ignore, want := range map[string]int{"true": 0, "false": 1} {
		r := newRig(Config{Nodes: 5, Release: "v1.8.0", Watchdog: one()})
		r.run(35)
		off := r.Deployment(watchdog.ControllerManager)
		off.Replicas, off.Annotations = 0, map[string]string{watchdog.IgnoreScaling: ignore}
		r.SetDeployment(watchdog.ControllerManager, off)
		if len(r.said("controller ends")) != 1 {
			t.Errorf("%q", r.lines)
		}
		r.run(60)
		if got := r.scaled(1); got != want {
			t.Errorf("ignore=%s: %q", ignore, r.lines)
		}
	}
	slow := Deployment{Name: "slow", Resource: watchdog.Resource{Exists: true, Replicas: 1}, Starts: 3 * time.Second}
	r := newRig(Config{Nodes: 2, Deployments: []Deployment{slow}})
	r.SetDeployment("slow", watchdog.Resource{Exists: true, Replicas: 2, Ready: 2})
	if got := r.Deployment("slow").Ready; got != 1 {
		t.Errorf("%d are ready at once", got)
	}
	r.run(3)
	if got := r.Deployment("slow").Ready; got != 2 {
		t.Errorf("%d are ready after 3 s", got)
	}
	r.SetDeployment("new", watchdog.Resource{Exists: true, Replicas: 2})
	if got := r.Deployment("new").Ready; got != 2 {
		t.Errorf("%d are ready", got)
	}
	r.SetDeployment("new", watchdog.Resource{})
	if got := r.Deployment("new"); got.Exists || got.Ready != 0 || r.Deployment("none").Exists {
		t.Errorf("it is %+v", got)
	}
}

// BenchmarkDay is 10 000 nodes for 24 hours, with an outage of all of them for
// ten minutes.
func BenchmarkDay(b *testing.B) {
	for b.Loop() {
		w := New(Config{Nodes: 10_000, Release: "v1.8.0", Watchdog: one()})
		w.RunUntil(w.After(12 * time.Hour))
		w.Set(w.Nodes(), Condition{Dropped: true})
		w.RunUntil(w.After(12*time.Hour + 10*time.Minute))
		w.Set(w.Nodes(), Condition{})
		w.RunUntil(w.After(24 * time.Hour))
	}
}
