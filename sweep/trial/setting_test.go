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
		"emulation": {
			trial.Setting{Version: "v1.37.1", Transition: trial.Transition{At: at, To: "v1.36.3", Emulates: true}, On: on, To: off},
			trial.Restart{EmulatedVersion: "v1.36", Unset: []string{"A"}}, trial.Restart{EmulatedVersion: "v1.37", Gates: on}, false,
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

// TestTransitions: control planes move by one minor version, kubelets may be older, and none is newer than the API server.
func TestTransitions(t *testing.T) {
	t.Parallel()
	for to, want := range map[release.Version][]string{
		"v1.36.3": {
			"kube-controller-manager, kube-apiserver to v1.36.3 and back", "kubelet/node-a to v1.36.3 and back",
			"kube-controller-manager, kube-apiserver to emulate v1.36 and back",
		},
		"v1.34.0": {"kubelet/node-a to v1.34.0 and back"},
		"v1.33.0": nil,
		"v1.38.0": {"kube-apiserver to v1.38.0 and back"},
		"v1.39.0": nil,
	} {
		var got []string
		for _, transition := range trial.Transitions([]string{"kube-apiserver", "kubelet", trial.Emulation}, "v1.37.1", to) {
			got = append(got, transition.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("to %s (-want +got):\n%s", to, diff)
		}
	}
}
