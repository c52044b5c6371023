package watchdog

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)

func TestALeaseRunsOutAtThreeQuartersOfTheGracePeriod(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		grace, age time.Duration
		want       bool
	}{
		{40 * time.Second, 0, false},
		{40 * time.Second, 30*time.Second - 1, false},
		{40 * time.Second, 30 * time.Second, true},
		{40 * time.Second, 30*time.Second + 1, true},
		{50 * time.Second, 37500*time.Millisecond - 1, false},
		{50 * time.Second, 37500 * time.Millisecond, true},
		{40 * time.Second, -time.Hour, false}, // a clock that is ahead
	} {
		cfg := Config{Grace: tc.grace}
		if got := expired(noon, noon.Add(tc.age), cfg.Life()); got != tc.want {
			t.Errorf("grace %s, %s after the renewal: %t", tc.grace, tc.age, got)
		}
	}
}

// leases are as many leases as asked for, of which some have just run out.
func leases(expired, fresh int, c Circumstances) []Lease {
	var all []Lease
	for range expired {
		all = append(all, Lease{Renewed: noon.Add(-30 * time.Second), Node: c})
	}
	for range fresh {
		all = append(all, Lease{Renewed: noon.Add(-30*time.Second + 1), Node: c})
	}
	return all
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const well = Circumstances(0)
	for _, tc := range []struct {
		name                 string
		leases               []Lease
		text, v123, v130, v8 string
	}{
		{"none", nil, "0/0 scale up", "0/0 scale up", "0/0 scale up", "0/0 scale up"},
		{"the only one", leases(0, 1, well), "0/1 scale up", "0/1 scale up", "0/1 ", "0/1 "},
		{"the only one has run out", leases(1, 0, well), "1/1 scale down", "1/1 scale down", "1/1 ", "1/1 "},
		{"half", leases(1, 1, well), "1/2 scale up", "1/2 scale up", "1/2 scale up", "1/2 scale up"},
		{"both", leases(2, 0, well), "2/2 scale down", "2/2 scale down", "2/2 scale down", "2/2 scale down"},
		{"less than the threshold", leases(5, 5, well), "5/10 scale up", "5/10 scale up", "5/10 scale up", "5/10 scale up"},
		{"the threshold", leases(3, 2, well), "3/5 scale down", "3/5 scale down", "3/5 scale down", "3/5 scale down"},
		{"the threshold, of many", leases(5994, 3996, well), "5994/9990 scale down", "5994/9990 scale down", "5994/9990 scale down", "5994/9990 scale down"},
		{"one less than the threshold, of many", leases(5993, 3997, well), "5993/9990 scale up", "5993/9990 scale up", "5993/9990 scale up", "5993/9990 scale up"},
		{"without their nodes", slices.Concat(leases(3, 0, NoNode), leases(0, 2, well)), "3/5 scale down", "0/2 scale up", "0/2 scale up", "0/2 scale up"},
		{"not managed", slices.Concat(leases(3, 0, NotManaged), leases(0, 2, well)), "3/5 scale down", "3/5 scale down", "0/2 scale up", "0/2 scale up"},
		{"unhealthy", slices.Concat(leases(3, 0, Unhealthy), leases(0, 2, well)), "3/5 scale down", "3/5 scale down", "0/2 scale up", "0/2 scale up"},
		{"without a machine", slices.Concat(leases(3, 0, NoMachine), leases(0, 2, well)), "3/5 scale down", "3/5 scale down", "0/2 scale up", "0/2 scale up"},
		{"updated in place", slices.Concat(leases(3, 0, InPlaceUpdate), leases(0, 2, well)), "3/5 scale down", "3/5 scale down", "3/5 scale down", "0/2 scale up"},
		{"all but one are exempt", slices.Concat(leases(9, 0, NoMachine), leases(1, 0, well)), "10/10 scale down", "10/10 scale down", "1/1 ", "1/1 "},
		{"all are exempt", leases(9, 0, NotManaged|Unhealthy), "9/9 scale down", "9/9 scale down", "0/0 scale up", "0/0 scale up"},
	} {
		for release, want := range map[string]string{Text: tc.text, "v1.2.3": tc.v123, "v1.3.0": tc.v130, "v1.8.0": tc.v8} {
			v := BehaviorOf(release).Judge(Config{}.WithDefaults(), noon, slices.Values(tc.leases))
			if got := fmt.Sprintf("%d/%d %s", v.Expired, v.Candidates, v.Do); got != want {
				t.Errorf("%s, %s: %q, want %q", tc.name, release, got, want)
			}
			if v.Why == "" {
				t.Errorf("%s, %s: there is no reason", tc.name, release)
			}
		}
	}
}

func TestTheFractionIsThatOfTheConfiguration(t *testing.T) {
	t.Parallel()
	cfg := Config{Fraction: 1}.WithDefaults()
	if v := BehaviorOf("v1.8.0").Judge(cfg, noon, slices.Values(leases(9, 1, 0))); v.Do != ScaleUp {
		t.Errorf("9 of 10: %s", v.Do)
	}
	if v := BehaviorOf("v1.8.0").Judge(cfg, noon, slices.Values(leases(9, 0, 0))); v.Do != ScaleDown {
		t.Errorf("9 of 9: %s", v.Do)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	machines := []Machine{{"failed", "Failed"}, {"ends", "Terminating"}, {"again", "Failed"}, {"again", "Running"}, {"n", ""}}
	own := map[string][]string{"gpu": {"GPUBroken"}, "": {"Odd"}}
	with := func(n Node, kind, status, reason string) Node {
		n.Conditions = map[string]Condition{kind: {status, reason}}
		return n
	}
	n := Node{Name: "n"}
	for _, tc := range []struct {
		name string
		node Node
		want Circumstances
	}{
		{"well", n, 0},
		{"not managed", Node{Name: "n", Annotations: map[string]string{"node.machine.sapcloud.io/not-managed-by-mcm": "0"}}, NotManaged},
		{"a condition of the list", with(n, "DiskPressure", "True", ""), Unhealthy},
		{"a condition that is not true", with(n, "DiskPressure", "Unknown", ""), 0},
		{"a condition that doesn't count", with(n, "MemoryPressure", "True", ""), 0},
		{"not Ready doesn't count", with(n, "Ready", "Unknown", ""), 0},
		{"a condition of its worker", with(Node{Name: "n", Worker: "gpu"}, "GPUBroken", "True", ""), Unhealthy},
		{"one that its worker doesn't list", with(Node{Name: "n", Worker: "gpu"}, "DiskPressure", "True", ""), 0},
		{"of another worker", with(Node{Name: "n", Worker: "cpu"}, "GPUBroken", "True", ""), 0},
		{"of no worker", with(n, "Odd", "True", ""), 0},
		{"its machine has failed", Node{Name: "failed"}, NoMachine},
		{"its machine ends", Node{Name: "ends"}, NoMachine},
		{"one of its machines has failed", Node{Name: "again"}, 0},
		{"it has no machine", Node{Name: "x"}, NoMachine},
		{"ready to be updated", with(n, "InPlaceUpdate", "True", "ReadyForUpdate"), InPlaceUpdate},
		{"its update has failed", with(n, "InPlaceUpdate", "False", "UpdateFailed"), InPlaceUpdate},
		{"to be updated at some time", with(n, "InPlaceUpdate", "True", "CandidateForUpdate"), 0},
		{"both", with(Node{Name: "x"}, "KernelDeadlock", "True", ""), Unhealthy | NoMachine},
	} {
		if got := Of(tc.node, machines, own); got != tc.want {
			t.Errorf("%s: %05b, want %05b", tc.name, got, tc.want)
		}
	}
}

func TestBehaviorOf(t *testing.T) {
	t.Parallel()
	for release, since := range map[string]string{
		Text: Text, "v1.0.0": "v1.2.3", "v1.2.3": "v1.2.3", "v1.3.0": "v1.3.0", "v1.4.0": "v1.3.0",
		"v1.5.0": "v1.5.0", "v1.6.9": "v1.5.0", "v1.7.0": "v1.7.0", "v1.8.0": "v1.7.0", "v1.10.0": "v1.7.0",
	} {
		if got := BehaviorOf(release).Since; got != since {
			t.Errorf("%s behaves as %s, want %s", release, got, since)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	all, cfg, behavior := leases(3000, 7000, 0), Config{}.WithDefaults(), BehaviorOf("v1.8.0")
	n := 0
	for b.Loop() {
		n += behavior.Judge(cfg, noon, slices.Values(all)).Candidates
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "leases/s")
}
