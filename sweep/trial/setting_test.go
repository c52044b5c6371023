package trial_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/trial"
)

// TestSetting: components change in the order of the transition, and back in the opposite one. Gates that are unset again are those
// that were turned off without being set before.
func TestSetting(t *testing.T) {
	t.Parallel()
	at := []string{"kubelet/node-a", "kube-apiserver"}
	on, off := release.Gates{"A": true}, release.Gates{"A": false, "NeedsA": false}
	for name, tc := range map[string]struct {
		setting       trial.Setting
		change, undo  trial.Restart // without the component
		wantIsControl bool
	}{
		"gates off": {
			trial.Setting{Version: "v1.37.1", Transition: trial.Transition{At: at}, On: on, To: off},
			trial.Restart{Gates: off}, trial.Restart{Gates: on, Unset: []string{"NeedsA"}}, false,
		},
		"a control": {
			trial.Setting{Version: "v1.37.1", Transition: trial.Transition{At: at, To: "v1.36.3"}, On: on, To: off}.Control(),
			trial.Restart{Gates: on}, trial.Restart{Gates: on, Unset: []string{}}, true,
		},
		"another release": {
			trial.Setting{Version: "v1.37.1", Transition: trial.Transition{At: at, To: "v1.36.3"}, On: on, To: off},
			trial.Restart{Version: "v1.36.3", Unset: []string{"A"}}, trial.Restart{Version: "v1.37.1", Gates: on}, false,
		},
	} {
		of := func(r trial.Restart, components ...string) (all []trial.Restart) {
			for _, r.Component = range components {
				all = append(all, r)
			}
			return all
		}
		if diff := cmp.Diff(of(tc.change, at...), tc.setting.Changes()); diff != "" {
			t.Errorf("%s changes (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(of(tc.undo, at[1], at[0]), tc.setting.Reverts()); diff != "" {
			t.Errorf("%s is undone by (-want +got):\n%s", name, diff)
		}
		if got := tc.setting.IsControl(); got != tc.wantIsControl {
			t.Errorf("%s is a control: %t", name, got)
		}
	}
}
