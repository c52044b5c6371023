package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestGateConflicts: what a component would refuse is said with what to set too, and
// what it would take is not refused.
func TestGateConflicts(t *testing.T) {
	t.Parallel()
	table := []Gate{
		{Name: "AllAlpha", Stage: Alpha},
		{Name: "AllBeta", Stage: Beta},
		{Name: "Base", Stage: GA, Default: true},
		{Name: "Bottom", Stage: Beta},
		{Name: "Lower", Stage: Beta, Needs: []string{"Bottom"}},
		{Name: "Middle", Stage: Beta, Default: true, Needs: []string{"Base"}},
		{Name: "New", Stage: Alpha, Needs: []string{"Base", "Lower"}},
		{Name: "Old", Stage: GA, Default: true, Locked: true},
		{Name: "Top", Stage: GA, Default: true, Needs: []string{"Middle"}},
	}
	for name, tc := range map[string]struct {
		set  Gates
		want []GateConflict
	}{
		"what it depends on is off": {Gates{"Lower": true}, []GateConflict{{Gate: "Lower",
			Message: "Lower can't be on alone: in v1.90.1 it depends on Bottom (off by default); set Bottom: true too"}}},
		"and what that depends on": {Gates{"New": true}, []GateConflict{{Gate: "New",
			Message: "New can't be on alone: in v1.90.1 it depends on Bottom (off by default), Lower (off by default); set Bottom: true, Lower: true too"}}},
		"it is set to false": {Gates{"Lower": true, "Bottom": false}, []GateConflict{{Gate: "Lower",
			Message: "Lower can't be on alone: in v1.90.1 it depends on Bottom (set to false); set Bottom: true too"}}},
		"others depend on it": {Gates{"Base": false}, []GateConflict{{Gate: "Base",
			Message: "Base can't be off alone: in v1.90.1 Middle, Top are on by default and depend on it; set Middle: false, Top: false too"}}},
		"one other does": {Gates{"Middle": false}, []GateConflict{{Gate: "Middle",
			Message: "Middle can't be off alone: in v1.90.1 Top is on by default and depends on it; set Top: false too"}}},
		"all of a stage are on": {Gates{"AllAlpha": true}, []GateConflict{{Gate: "AllAlpha",
			Message: "AllAlpha can't be on alone: in v1.90.1 it depends on Bottom (off by default), Lower (off by default); set Bottom: true, Lower: true too"}}},
		"all of a stage are off": {Gates{"AllBeta": false}, []GateConflict{{Gate: "AllBeta",
			Message: "AllBeta can't be off alone: in v1.90.1 Top is on by default and depends on it; set Top: false too"}}},
		"it is locked": {Gates{"Old": false}, []GateConflict{{Gate: "Old", Message: "Old can't be false: v1.90.1 locks it to true"}}},

		"locked, as it is":       {Gates{"Old": true}, nil},
		"on together":            {Gates{"Lower": true, "Bottom": true}, nil},
		"off together":           {Gates{"Base": false, "Middle": false, "Top": false}, nil},
		"all on":                 {Gates{"AllAlpha": true, "AllBeta": true}, nil},
		"all on but one":         {Gates{"AllAlpha": true, "New": false}, nil},
		"off, as it is":          {Gates{"New": false, "Lower": false}, nil},
		"not known to the table": {Gates{"Another": true}, nil},
		"nothing":                {nil, nil},
	} {
		if diff := cmp.Diff(tc.want, gateSet{Effective{Version: "v1.90.1"}, table, tc.set}.conflicts(), cmpopts.IgnoreFields(GateConflict{}, "Too")); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// TestEveryReleaseStartsWithItsDefaults: no table has a gate on that depends on one which
// is off, or on one that is not there.
func TestEveryReleaseStartsWithItsDefaults(t *testing.T) {
	t.Parallel()
	for _, v := range Supported() {
		table, _, err := Table(Effective{Version: v})
		if err != nil {
			t.Fatal(err)
		}
		all := make(Gates)
		for _, g := range table {
			all[g.Name] = g.Default
			for _, name := range g.Needs {
				if !has(table, name) {
					t.Errorf("%s: %s depends on %s, which is not in the table", v, g.Name, name)
				}
			}
		}
		if refused := GateConflicts(Effective{Version: v}, all); len(refused) > 0 {
			t.Errorf("%s: %v", v, refused)
		}
	}
}

// TestWithDependents: with a gate comes what the release would ask for too, and nothing against
// what is set already.
func TestWithDependents(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set, want Gates
	}{
		"what depends on one that is off": {
			Gates{"GracefulNodeShutdown": false},
			Gates{"GracefulNodeShutdown": false, "GracefulNodeShutdownBasedOnPodPriority": false, "WindowsGracefulNodeShutdown": false},
		},
		"one that is set already": {
			Gates{"GracefulNodeShutdown": false, "WindowsGracefulNodeShutdown": true},
			Gates{"GracefulNodeShutdown": false, "GracefulNodeShutdownBasedOnPodPriority": false, "WindowsGracefulNodeShutdown": true},
		},
		"one that is alone": {Gates{"AllAlpha": false}, Gates{"AllAlpha": false}},
		"none":              {nil, nil},
	} {
		if diff := cmp.Diff(tc.want, WithDependents(Effective{Version: "v1.35.4"}, tc.set), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := WithDependents(Effective{Version: "v1.37.1"}, Gates{"WorkloadWithJob": true}); !got["GenericWorkload"] || len(GateConflicts(Effective{Version: "v1.37.1"}, got)) > 0 {
		t.Errorf("with what it depends on, it is %s", got)
	}
}
