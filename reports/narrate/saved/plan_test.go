package saved

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// leased is a cell with simulated nodes and a watchdog.
func leased() plan.Cell {
	fraction := 0.25
	return plan.Cell{ID: "dwd/outage/small", Topology: record.Topology{
		Version: "v1.90.1", ControllerManager: true, NodeMonitor: record.NodeMonitor{Grace: behavior.Duration(8 * time.Second)},
		LeaseNodes: &record.LeaseNodes{
			Zones: []record.Zone{{Name: "a", Count: 2}}, Duration: behavior.Duration(10 * time.Second), Interval: behavior.Duration(time.Second),
			Offset: behavior.Duration(-8 * time.Second),
		},
		Garden: &record.Garden{Watchdog: "v1.8.0", Prober: record.Prober{KCMNodeMonitorGraceDuration: behavior.Duration(8 * time.Second), NodeLeaseFailureFraction: &fraction}},
	}}
}

// TestLeasesOfAPlan: what a plan says of leases, and what the defaults are.
func TestLeasesOfAPlan(t *testing.T) {
	t.Parallel()
	own := narrate.LeasePlan{Duration: 10 * time.Second, Clocks: "8s behind", Grace: 8 * time.Second, Expiry: 6 * time.Second, Threshold: 0.25}
	for name, tc := range map[string]struct {
		change func(*record.Topology)
		want   func(*narrate.LeasePlan)
	}{
		"times of its own": {func(*record.Topology) {}, func(*narrate.LeasePlan) {}},
		"the defaults": {func(to *record.Topology) { to.NodeMonitor.Grace, to.Garden.Prober = 0, record.Prober{} },
			func(l *narrate.LeasePlan) { l.Grace, l.Expiry, l.Threshold = 50*time.Second, 30*time.Second, 0.6 }},
		"an older release": {func(to *record.Topology) { to.NodeMonitor.Grace, to.Version = 0, "v1.31.9" },
			func(l *narrate.LeasePlan) { l.Grace = 40 * time.Second }},
		"no watchdog":        {func(to *record.Topology) { to.Garden.Watchdog = "" }, func(l *narrate.LeasePlan) { l.Expiry, l.Threshold = 0, 0 }},
		"no node is watched": {func(to *record.Topology) { to.ControllerManager = false }, func(l *narrate.LeasePlan) { l.Grace = 0 }},
	} {
		cell, want := leased(), own
		tc.change(&cell.Topology)
		tc.want(&want)
		if diff := cmp.Diff(want, narrate.LeasesOf(record.Plan{Topology: cell.Topology})); diff != "" {
			t.Errorf("%s, as data (-want +got):\n%s", name, diff)
		}
	}
}

// TestAPlanThatIsOnlyText is an error that says what to do: earlier releases stored no other.
func TestAPlanThatIsOnlyText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, reports.PlanFile), []byte("a/b\n\nsteps\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, printed, err := planned(dir, ".")
	if err == nil || !strings.Contains(err.Error(), "no plan as data (plan.json)") || !strings.Contains(err.Error(), "run the cell again") || printed == "" {
		t.Errorf("%q, %v", printed, err)
	}
}

// TestStepsOfAPlan: each with what it changes, and when it is taken.
func TestStepsOfAPlan(t *testing.T) {
	t.Parallel()
	cell := leased()
	cell.Steps = []plan.Step{
		{Number: 1, Name: "upgrade", Action: action.Restart{Component: "kube-apiserver", Version: "v1.91.0"},
			Components: []record.Component{{Name: "kube-apiserver", Version: "v1.91.0", Gates: release.Gates{"G": true}}}},
		{Number: 3, Name: "3", Run: record.Cleanup, Action: action.Wait{Until: "true", Within: behavior.Duration(time.Second)}},
	}
	stored, err := plan.Stored(cell)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := stored.Write(f); err != nil {
		t.Fatal(err)
	}
	asData, _, err := planned(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"  1. upgrade: restart kube-apiserver as v1.91.0", "      kube-apiserver v1.90.1 -> v1.91.0", "      kube-apiserver gate G unset -> true",
		"  3. cleanup: wait up to 1s until true",
	}
	if diff := cmp.Diff(want, stepsOf(asData)); diff != "" {
		t.Errorf("as data (-want +got):\n%s", diff)
	}
}
