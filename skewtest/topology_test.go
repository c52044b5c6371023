package skewtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func TestTopology(t *testing.T) {
	t.Parallel()
	cell, err := Topology{
		ControlPlane: ControlPlane{Version: "previous", Scheduler: new(false)},
		Nodes:        []Node{{Name: "node-a"}, {Name: "node-b", Version: "previous"}},
		Clients:      []string{"mine"},
		Observe:      []string{"jobs"},
	}.cell(release.Releases{})
	if err != nil {
		t.Fatal(err)
	}
	planned := cell.Topology
	if planned.Version != release.Previous || planned.Nodes[0].Version != release.Newest || planned.Nodes[1].Version != release.Previous {
		t.Errorf("the releases are %s, %s, %s", planned.Version, planned.Nodes[0].Version, planned.Nodes[1].Version)
	}
	want := []cluster.Link{{From: spec.ControllerManager}, {From: "kubelet/node-a"}, {From: "kubelet/node-b"}, {From: "mine", HTTP: true}}
	if diff := cmp.Diff(want, Topology{Clients: []string{"mine"}}.links(planned)); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"leases", "jobs"}, planned.Observed); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

// TestWrongTopologies: all that is wrong is said at once, before anything starts.
func TestWrongTopologies(t *testing.T) {
	t.Parallel()
	_, err := Topology{
		ControlPlane: ControlPlane{Gates: Gates{"NoSuchGate": true}},
		Nodes:        []Node{{Name: "Node A"}, {Name: "b", Version: "v1.2"}, {Name: "b"}, {Name: "control-plane"}},
		Images:       []Image{{Listen: []Listener{{Port: -1, Protocol: "smtp"}}}},
	}.cell(release.Releases{})
	if err == nil {
		t.Fatal("there is nothing wrong")
	}
	for _, want := range []string{
		`controlPlane.gates["NoSuchGate"]: no known release has a feature gate NoSuchGate`,
		`Nodes[0].Name: "Node A": `, `nodes[1].version: "v1.2" is not a release`, `Nodes[2].Name: there are two of the name "b"`,
		`Nodes[3].Name: "control-plane" is the name of a component`,
		"Images[0].Image: the pattern is empty", "Images[0].Listen[0]: port: ", "Images[0].Listen[0]: protocol: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

// ofPrevious are the components of a rig of the previous release.
func ofPrevious(gates Gates) []cluster.Instance {
	return []cluster.Instance{
		{Name: spec.Etcd, Version: release.Etcd},
		{Name: spec.APIServer, Version: release.Previous, Gates: gates},
		{Name: spec.ControllerManager, Version: release.Previous},
		{Name: "kubelet/node-a", Version: release.Previous},
	}
}

// TestOutside: a topology needs AllowHost for settings that reach beyond the rig.
func TestOutside(t *testing.T) {
	t.Parallel()
	topology := Topology{Nodes: []Node{{Name: "a", Settings: spec.Settings{Config: map[string]any{"cgroupRoot": "/tmp"}}}}}
	if _, err := topology.cell(release.Releases{}); err == nil || !strings.Contains(err.Error(), `topology.nodes[0].config["cgroupRoot"]: kubelet: cgroupRoot`) {
		t.Errorf("the error is %v", err)
	}
	topology.AllowHost = true
	if _, err := topology.cell(release.Releases{}); err != nil {
		t.Error(err)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change Change
		of     string
		want   string // the components that restart
		err    string
	}{
		{"the control plane", Change{Version: "newest"}, "control-plane", "kube-apiserver kube-controller-manager", ""},
		{"a node", Change{Version: "newest"}, "node-a", "kubelet/node-a", ""},
		{"a kubelet", Change{}, "kubelet/node-a", "kubelet/node-a", ""},
		{"no such node", Change{}, "node-b", "", `no component "node-b"`},
		{"no such release", Change{Version: "v1"}, "node-a", "", `"v1" is not a release`},
		{"no such gate", Change{Gates: Gates{"NoSuchGate": true}}, "node-a", "", "no known release has a feature gate NoSuchGate"},
		{"a gate that the older release has not", Change{Version: "newest", Gates: Gates{"GRPCContainerProbeTLS": true}}, "node-a", "kubelet/node-a", ""},
		{"a release too far", Change{Version: "v1.34"}, "kube-apiserver", "", "it moves by one minor version at a time"},
		{"etcd as another release", Change{Version: "newest"}, "etcd", "", "etcd is " + string(release.Etcd) + " in every rig"},
	} {
		restarts, err := c.change.planned(release.Releases{}, ofPrevious(nil), c.of)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		var names []string
		for _, r := range restarts {
			names = append(names, r.Component)
		}
		if got := strings.Join(names, " "); err == nil && got != c.want {
			t.Errorf("%s: restarts %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLinked: the API server has no link to itself.
func TestLinked(t *testing.T) {
	t.Parallel()
	instances := []cluster.Instance{{Name: spec.APIServer}, {Name: spec.ControllerManager}, {Name: spec.Scheduler}, {Name: "kubelet/node-a"}}
	for name, want := range map[string][]string{
		"control-plane": {spec.ControllerManager, spec.Scheduler}, "node-a": {"kubelet/node-a"}, "client": {"client"}, spec.APIServer: {spec.APIServer},
	} {
		if diff := cmp.Diff(want, linked(instances, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSeveralServers: the control plane is all of its members, and each restart is planned for the
// others that there are.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	instances := []cluster.Instance{
		{Name: spec.Etcd, Version: release.Etcd},
		{Name: "kube-apiserver/a", Version: release.Newest}, {Name: "kube-apiserver/b", Version: release.Previous},
		{Name: "kube-controller-manager/a", Version: release.Previous}, {Name: spec.Scheduler, Version: release.Newest},
		{Name: "kubelet/node-a", Version: release.Previous},
	}
	want := []string{"kube-controller-manager/a", spec.Scheduler}
	if got := linked(instances, controlPlane); !slices.Equal(got, want) {
		t.Errorf("linked are %v, not %v", got, want)
	}
	var names []string
	restarts, err := Change{Version: "newest"}.planned(release.Releases{}, instances, controlPlane)
	for _, r := range restarts {
		names = append(names, r.Component)
	}
	if want := slices.Insert(want, 0, "kube-apiserver/a", "kube-apiserver/b"); err != nil || !slices.Equal(names, want) {
		t.Errorf("restarted are %v, not %v: %v", names, want, err)
	}
	_, err = Change{Version: "v1.35"}.planned(release.Releases{}, instances, "kube-apiserver/b")
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver/a "+string(release.Newest)+" is more than one minor version apart from kube-apiserver/b v1.35.4") {
		t.Errorf("an API server that is too old beside another one: %v", err)
	}
}

// TestWordsStandForOtherReleases: a test against a beta has it as newest, and the release before as previous.
func TestWordsStandForOtherReleases(t *testing.T) {
	t.Parallel()
	of := release.Releases{Newest: "v1.36.5", Previous: "v1.35.4"}
	cell, err := Topology{Nodes: []Node{{Name: "node-a", Version: "previous"}}}.cell(of)
	if err != nil {
		t.Fatal(err)
	}
	if is := cell.Topology; is.Version != of.Newest || is.Nodes[0].Version != of.Previous {
		t.Errorf("%s with a node of %s", is.Version, is.Nodes[0].Version)
	}
	restarts, err := Change{Version: "newest"}.planned(of, []cluster.Instance{{Name: "kube-apiserver", Version: of.Newest}, {Name: "kubelet/node-a", Version: of.Previous}}, "node-a")
	if err != nil || len(restarts) != 1 || restarts[0].Version != of.Newest {
		t.Errorf("%+v (%v)", restarts, err)
	}
}

func TestAReleaseThatIsNone(t *testing.T) {
	t.Setenv(NewestEnv, "1.36")
	if _, err := newBuilder(t.Context(), discard); err == nil || strings.Contains(err.Error(), "--newest") {
		t.Errorf("%v", err)
	}
}
