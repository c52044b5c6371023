package spec

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
)

// onlySince90 says that v1.90 and newer have every gate, and older ones none.
func onlySince90(v release.Version, name string) error {
	if v.Minor() < 90 {
		return fmt.Errorf("%s has no feature gate %s", v, name)
	}
	return nil
}

func TestRollbackMustUnsetTheGatesThatTheReleaseLacks(t *testing.T) {
	t.Parallel()
	topology := Topology{ControlPlane: ControlPlane{Version: "v1.90.1", Gates: map[string]bool{"Feature": true}}}
	rollback := Restart{Component: APIServer, Version: "v1.89.3"}
	for name, tc := range map[string]struct {
		change func(*Restart)
		want   []Conflict
	}{
		"still set": {
			func(*Restart) {},
			[]Conflict{{"restart", "kube-apiserver still has gate Feature set: v1.89.3 has no feature gate Feature; unset: [Feature] takes it away"}},
		},
		"unset": {func(r *Restart) { r.Unset = []string{"Feature"} }, nil},
		"set again": {
			func(r *Restart) { r.Gates = map[string]bool{"Feature": false} },
			[]Conflict{{`restart.gates["Feature"]`, "v1.89.3 has no feature gate Feature"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, conflicts := newRig(topology, onlySince90)
			if len(conflicts) > 0 {
				t.Fatal(conflicts)
			}
			change := rollback
			tc.change(&change)
			if diff := cmp.Diff(tc.want, rig.Do(Step{Restart: &change})); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRigFollowsTheSteps(t *testing.T) {
	t.Parallel()
	off := false
	rig, conflicts := NewRig(Topology{
		ControlPlane: ControlPlane{Version: "v1.90.1", Scheduler: &off},
		Nodes:        []Node{{Name: "b", Version: "v1.88.4"}, {Name: "a", Version: "v1.90.1"}},
	})
	for _, step := range []Step{
		{Stop: "kubelet/b"},
		{Restart: &Restart{Component: APIServer, Version: "v1.89.3", Gates: map[string]bool{"AllAlpha": true}}},
		{Restart: &Restart{Component: APIServer, Gates: map[string]bool{"AllAlpha": false}}},
		{Kill: Etcd},
		{Restart: &Restart{Component: Etcd}},
	} {
		conflicts = append(conflicts, rig.Do(step)...)
	}
	if len(conflicts) > 0 {
		t.Fatalf("conflicts %v, want none: a kubelet newer than the API server is allowed", conflicts)
	}
	want := []Component{
		{Name: Etcd, Version: release.Etcd, Running: true},
		{Name: APIServer, Version: "v1.89.3", Gates: map[string]bool{"AllAlpha": false}, Running: true},
		{Name: ControllerManager, Version: "v1.90.1", Running: true},
		{Name: "kubelet/a", Version: "v1.90.1", Running: true},
		{Name: "kubelet/b", Version: "v1.88.4"},
	}
	if diff := cmp.Diff(want, rig.Components()); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}

func TestUpgradeOfTheAPIServerMayLeaveAStoppedKubeletBehind(t *testing.T) {
	t.Parallel()
	rig, conflicts := NewRig(Topology{
		ControlPlane: ControlPlane{Version: "v1.89.3"},
		Nodes:        []Node{{Name: "a", Version: "v1.86.0"}},
	})
	if len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	upgrade := Step{Restart: &Restart{Component: APIServer, Version: "v1.90.1"}}
	const message = "kubelet/a v1.86.0 is more than three minor versions older than kube-apiserver v1.90.1"
	conflicts = append(rig.Do(Step{Stop: "kubelet/a"}), rig.Do(upgrade)...)
	if len(conflicts) > 0 {
		t.Fatalf("conflicts %v, want none while the kubelet is stopped", conflicts)
	}
	want := []Conflict{{"start.version", message}}
	if diff := cmp.Diff(want, rig.Do(Step{Start: &Restart{Component: "kubelet/a"}})); diff != "" {
		t.Errorf("conflicts when it starts (-want +got):\n%s", diff)
	}
}

func TestAPanicOfTheYAMLLibraryIsASyntaxError(t *testing.T) {
	t.Parallel()
	// A decoder that is nil panics as one with a bug does.
	if _, err := next(nil); err == nil {
		t.Error("no error")
	}
}

func TestParseObjectRef(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ObjectRef{
		"pods/tls":               {Resource: "pods", Namespace: "default", Name: "tls"},
		"pods/other/tls":         {Resource: "pods", Namespace: "other", Name: "tls"},
		"nodes/node-a":           {Resource: "nodes", Name: "node-a"},
		"clusterroles/system:a":  {Resource: "clusterroles", Name: "system:a"},
		"widgets.example.io/a.b": {Resource: "widgets.example.io", Namespace: "default", Name: "a.b"},
	} {
		got, err := ParseObjectRef(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}
