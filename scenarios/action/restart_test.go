package action_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func step(kind string, a spec.Action) spec.Step { return spec.Step{Kind: kind, Action: a} }

// onlySince90 says that v1.90 and newer have every gate, and older ones none.
func onlySince90(e release.Effective, name string) error {
	if e.Version.Minor() < 90 {
		return fmt.Errorf("%s has no feature gate %s", e, name)
	}
	return nil
}

func TestRollbackMustUnsetTheGatesThatTheReleaseLacks(t *testing.T) {
	t.Parallel()
	topology := spec.Topology{ControlPlane: spec.ControlPlane{Version: "v1.90.1", Gates: map[string]bool{"Feature": true}}}
	rollback := action.Restart{Component: spec.APIServer, Version: "v1.89.3"}
	for name, tc := range map[string]struct {
		change func(*action.Restart)
		want   []spec.Conflict
	}{
		"still set": {
			func(*action.Restart) {},
			[]spec.Conflict{{Field: "restart", Message: "kube-apiserver still has gate Feature set: v1.89.3 has no feature gate Feature; unset: [Feature] takes it away"}},
		},
		"unset": {func(r *action.Restart) { r.Unset = []string{"Feature"} }, nil},
		"set again": {
			func(r *action.Restart) { r.Gates = map[string]bool{"Feature": false} },
			[]spec.Conflict{{Field: `restart.gates["Feature"]`, Message: "v1.89.3 has no feature gate Feature", Unfit: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, conflicts := spec.NewRig(topology, nil, release.Releases{})
			if len(conflicts) > 0 {
				t.Fatal(conflicts)
			}
			rig.CheckGate = onlySince90
			change := rollback
			tc.change(&change)
			if diff := cmp.Diff(tc.want, rig.Do(step("restart", change))); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRigFollowsTheSteps(t *testing.T) {
	t.Parallel()
	off := false
	rig, conflicts := spec.NewRig(spec.Topology{
		ControlPlane: spec.ControlPlane{Version: "v1.90.1", Scheduler: &off},
		Nodes:        []spec.Node{{Name: "b", Version: "v1.88.4"}, {Name: "a", Version: "v1.90.1"}},
	}, nil, release.Releases{})
	for _, step := range []spec.Step{
		step("stop", action.Stop{Component: "kubelet/b"}),
		step("restart", action.Restart{Component: spec.APIServer, Version: "v1.89.3", Gates: map[string]bool{"AllAlpha": true}}),
		step("restart", action.Restart{Component: spec.APIServer, Gates: map[string]bool{"AllAlpha": false}}),
		step("kill", action.Kill(spec.Etcd)),
		step("restart", action.Restart{Component: spec.Etcd}),
	} {
		conflicts = append(conflicts, rig.Do(step)...)
	}
	if len(conflicts) > 0 {
		t.Fatalf("conflicts %v, want none: a kubelet newer than the API server is allowed", conflicts)
	}
	want := []spec.Component{
		{Name: spec.Etcd, Version: release.Etcd, Running: true},
		{Name: spec.APIServer, Version: "v1.89.3", Gates: release.Gates{"AllAlpha": false}, Running: true},
		{Name: spec.ControllerManager, Version: "v1.90.1", Running: true},
		{Name: "kubelet/a", Version: "v1.90.1", Running: true},
		{Name: "kubelet/b", Version: "v1.88.4"},
	}
	if diff := cmp.Diff(want, rig.Components(), cmpopts.IgnoreFields(spec.Component{}, "Asked")); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}

func TestUpgradeOfTheAPIServerMayLeaveAStoppedKubeletBehind(t *testing.T) {
	t.Parallel()
	rig, conflicts := spec.NewRig(spec.Topology{
		ControlPlane: spec.ControlPlane{Version: "v1.89.3"},
		Nodes:        []spec.Node{{Name: "a", Version: "v1.86.0"}},
	}, nil, release.Releases{})
	if len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	upgrade := step("restart", action.Restart{Component: spec.APIServer, Version: "v1.90.1"})
	const message = "kubelet/a v1.86.0 is more than three minor versions older than kube-apiserver v1.90.1; topology.unsupported: [kubelet-too-old] allows it"
	conflicts = append(rig.Do(step("stop", action.Stop{Component: "kubelet/a"})), rig.Do(upgrade)...)
	if len(conflicts) > 0 {
		t.Fatalf("conflicts %v, want none while the kubelet is stopped", conflicts)
	}
	want := []spec.Conflict{{Field: "start.version", Message: message, Unfit: true}}
	if diff := cmp.Diff(want, rig.Do(step("start", action.Start{Component: "kubelet/a"}))); diff != "" {
		t.Errorf("conflicts when it starts (-want +got):\n%s", diff)
	}
}
