package rig

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// TestACellHearsNothingOfItsNeighbors: its record has the control plane and what is its own,
// by the names that it gave itself.
func TestACellHearsNothingOfItsNeighbors(t *testing.T) {
	t.Parallel()
	observe := func(h *provider.Router, change, resource, namespace, name string) {
		subject := resource + "/" + name
		if namespace != "" {
			subject = resource + "/" + namespace + "/" + name
		}
		body := json.RawMessage(`{"metadata":{"name":"` + name + `","namespace":"` + namespace + `"}}`)
		h.Append("watch", subject, record.ObjectObserved{Change: change, Resource: resource, Namespace: namespace, Name: name, Object: body})
	}
	h := newRouter()
	leave := make(map[string]func())
	seat := func(suffix string, resources ...string) *record.History {
		history := new(record.History)
		history.Without(suffix)
		leave[suffix] = h.Join(suffix, history, append(resources, "pods", "nodes", "events"))
		return history
	}
	h.Append("cluster", "kube-apiserver", record.ComponentStarted{Version: "v1.90.1"})
	observe(h, "added", "services", "default", "kubernetes")
	observe(h, "added", "services", "default", "gone")
	observe(h, "deleted", "services", "default", "gone")
	first := seat("-skw0001")
	observe(h, "added", "nodes", "", "node-a-skw0001")
	observe(h, "added", "pods", "default-skw0001", "web")
	second := seat("-skw0002", "services")
	observe(h, "added", "nodes", "", "node-a-skw0002")
	observe(h, "added", "pods", "default-skw0002", "web-node-a-skw0002")
	observe(h, "added", "events", "default", "node-a-skw0002.17f")
	observe(h, "modified", "pods", "default-skw0001", "web")
	observe(h, "added", "leases", "kube-node-lease", "node-a-skw0001")
	h.Append("cluster", "kube-apiserver", record.ComponentStopped{Asked: true})
	leave["-skw0001"]()
	observe(h, "deleted", "pods", "default-skw0001", "web")
	third := seat("-skw0003")

	for _, c := range []struct {
		name    string
		history *record.History
		want    []string
	}{
		{"first", first, []string{"kube-apiserver", "nodes/node-a", "pods/default/web", "pods/default/web", "kube-apiserver"}},
		{"second", second, []string{"kube-apiserver", "services/default/kubernetes", "nodes/node-a", "pods/default/web-node-a", "events/default/node-a.17f", "kube-apiserver"}},
		{"third", third, []string{"kube-apiserver"}},
	} {
		var got []string
		for _, e := range c.history.Events() {
			got = append(got, e.Subject)
			if suffixes.Match(e.Data) {
				t.Errorf("the record of the %s cell has %s", c.name, e.Data)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("the record of the %s cell, -want +got:\n%s", c.name, diff)
		}
	}
	if _, stopped := record.As[record.ComponentStopped](third.Events()[0]); !stopped {
		t.Error("a record begins with how a component was first, not with how it is")
	}
}

// TestOutputHasTheNamesOfTheScenario: the files of containers, and what is in them.
func TestOutputHasTheNamesOfTheScenario(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := place{suffix: "-skw0001"}
	if err := s.nameOutput(filepath.Join(dir, "none")); err != nil {
		t.Error("where no container wrote:", err)
	}
	file := filepath.Join(dir, "default-skw0001_web", "app", "0.log")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("on node-a-skw0001"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.nameOutput(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "default_web", "app", "0.log")); string(text) != "on node-a" {
		t.Errorf("%q (%v)", text, err)
	}
}

// TestALogIsOfOneCell: how a component started, and since the cell came what it said but for
// lines about other cells.
func TestALogIsOfOneCell(t *testing.T) {
	t.Parallel()
	const began, earlier = "started\nready\n", "pod default-skw0001/a\nidle\n"
	s := place{
		ControlPlane: &ControlPlane{began: map[string]int{"kube-apiserver": len(began)}},
		suffix:       "-skw0002", logs: map[string]int{"kube-apiserver": len(began + earlier)},
	}
	text := []byte(began + earlier + "pod default-skw0002/b\npod default-skw0003/c\nboth\n")
	if got, want := string(s.own("kube-apiserver", text)), "started\nready\npod default/b\nboth\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := string(s.own("kubelet/node-a", []byte("node-a-skw0002 is up\n"))), "node-a is up\n"; got != want {
		t.Errorf("of a kubelet: %q, want %q", got, want)
	}
}

// TestACellHearsWhichServerShowsObjects, also if that was said before it came.
func TestACellHearsWhichServerShowsObjects(t *testing.T) {
	t.Parallel()
	h := newRouter()
	h.Append("cluster", "kube-apiserver/a", record.ComponentStarted{Version: "v1.90.1"})
	h.Append("cluster", "kube-apiserver/a", record.Observing{})
	h.Append("cluster", "kube-apiserver/b", record.ComponentStarted{Version: "v1.90.1"})
	h.Append("cluster", "kube-apiserver/b", record.Observing{})
	h.Append("watch", "services/default/kubernetes", record.ObjectObserved{Change: "added", Resource: "services", Namespace: "default", Name: "kubernetes"})
	history := record.NewHistory(nil)
	h.Join("-skw0001", history, []string{"services"})
	var servers []string
	for _, v := range timeline.Of(history.Events()).Versions {
		servers = append(servers, v.Server)
	}
	if diff := cmp.Diff([]string{"kube-apiserver/b"}, servers); diff != "" {
		t.Errorf("shown by (-want +got):\n%s", diff)
	}
	if lives := len(timeline.Of(history.Events()).ServerLives()); lives != 2 {
		t.Errorf("%d API servers ran, want 2", lives)
	}
}

// TestARecordHasNothingThatWasAdded: what a cell needs beside others was not in its manifests.
func TestARecordHasNothingThatWasAdded(t *testing.T) {
	t.Parallel()
	p := place{suffix: "-skw0001"}
	n := p.names(plan.Cell{Topology: record.Topology{Scheduler: true}})
	for _, c := range []struct{ manifest, want string }{
		{`{kind: Pod, spec: {containers: []}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"containers":[]}}`},
		{`{kind: Pod, spec: {containers: [], a: 1, z: 1}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"a":1,"containers":[],"z":1}}`},
		{`{kind: Pod, spec: {containers: [], nodeSelector: {a: b}}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"containers":[],"nodeSelector":{"a":"b"}}}`},
		{`{kind: Pod, spec: {containers: [], nodeSelector: {z: b}}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"containers":[],"nodeSelector":{"z":"b"}}}`},
	} {
		h := new(record.History)
		h.Without(added(p.suffix)...)
		h.Append("engine", "", record.APIAnswer{Response: n.Object(decoded(t, c.manifest))})
		var got struct{ Response json.RawMessage }
		if err := json.Unmarshal(h.Events()[0].Data, &got); err != nil || string(got.Response) != c.want {
			t.Errorf("%s (%v), want %s", got.Response, err, c.want)
		}
	}
}

func decoded(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}
