package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// TestNamesInAnExistingCluster: pods come to the cell's nodes only, and a record has neither
// that nor the names of the cluster.
func TestNamesInAnExistingCluster(t *testing.T) {
	t.Parallel()
	on := fit.Fit{Nodes: map[string]facts.Node{"node-a": {Name: "ip-1", Addresses: []string{"10.0.0.7"}}, "node-b": {Name: "node-a"}}} // the names overlap
	s := &Session{api: new(existing.Cluster), fit: on, tenant: provider.Tenant{Cell: plan.Cell{Topology: record.Topology{
		Scheduler: true, Nodes: []record.Node{{Name: "node-a"}, {Name: "node-b"}},
	}}}}
	s.names = provider.Names{Suffix: "-skewrig-1234-0001", Node: s.nodeName, Confine: s.confine}
	rewrite := s.rewriting()
	for _, c := range []struct{ scenario, sent string }{
		{
			`{kind: Pod, metadata: {name: a, namespace: default}, spec: {nodeName: node-b, containers: [{name: app}]}}`,
			`{kind: Pod, metadata: {name: a, namespace: default-skewrig-1234-0001}, spec: {nodeName: node-a, containers: [{name: app}]}}`,
		},
		{
			`{kind: Pod, metadata: {name: a, namespace: x}, spec: {containers: [{name: app}]}}`,
			`{kind: Pod, metadata: {name: a, namespace: x-skewrig-1234-0001}, spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
				{matchFields: [{key: metadata.name, operator: In, values: [ip-1]}]}, {matchFields: [{key: metadata.name, operator: In, values: [node-a]}]}]}}}, containers: [{name: app}]}}`,
		},
		{
			`{kind: Deployment, metadata: {name: a, namespace: default}, spec: {template: {spec: {affinity: {podAffinity: {b: c}, nodeAffinity: {d: e}}, containers: [{name: app}]}}}}`,
			`{kind: Deployment, metadata: {name: a, namespace: default-skewrig-1234-0001}, spec: {template: {spec: {affinity: {podAffinity: {b: c}, nodeAffinity: {d: e, requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
				{matchFields: [{key: metadata.name, operator: In, values: [ip-1]}]}, {matchFields: [{key: metadata.name, operator: In, values: [node-a]}]}]}}}, containers: [{name: app}]}}}}`,
		},
	} {
		sent := s.names.Object(decoded(t, c.scenario))
		if diff := cmp.Diff(decoded(t, c.sent), sent); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		text, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, c.scenario), decoded(t, rewrite(string(text)))); diff != "" {
			t.Errorf("recorded: -want +got:\n%s", diff)
		}
	}
	managed := rewrite(`{"f:spec":{"f:affinity":{".":{},"f:nodeAffinity":{".":{},"f:requiredDuringSchedulingIgnoredDuringExecution":{}}},"f:containers":{}}}`)
	if want := `{"f:spec":{"f:containers":{}}}`; managed != want {
		t.Errorf("%s, want %s", managed, want)
	}
	said := rewrite(`assigned default-skewrig-1234-0001/web to ip-1. ip-10 and my-ip-1 and ip-1.example are others; node-a at 10.0.0.7:10250`)
	if want := `assigned default/web to node-a. ip-10 and my-ip-1 and ip-1.example are others; node-b at node-a:10250`; said != want {
		t.Errorf("%s\nwant\n%s", said, want)
	}
}

// TestWhatAReportMustNotHave: it is replaced, unless the scenario says it itself or any machine has it.
func TestWhatAReportMustNotHave(t *testing.T) {
	t.Parallel()
	on := fit.Fit{Nodes: map[string]facts.Node{"node-a": {Name: "ip-1", Addresses: []string{"10.0.0.7", "10.0.0.8"}}}}
	cell := plan.Cell{Text: "probe 10.0.0.8 as admin"}
	for _, c := range []struct {
		user, host string
		want       map[string]string
	}{
		{"jane", "api.example", map[string]string{"jane": "user", "10.0.0.7": "node-a", "api.example": "kube-apiserver"}},
		{"admin", "127.0.0.1", map[string]string{"10.0.0.7": "node-a"}},
		{"", "localhost", map[string]string{"10.0.0.7": "node-a"}},
		{"", "::1", map[string]string{"10.0.0.7": "node-a"}},
		{"", "", map[string]string{"10.0.0.7": "node-a"}},
	} {
		if diff := cmp.Diff(c.want, private(cell, on, c.user, c.host)); diff != "" {
			t.Errorf("user %q, host %q: -want +got:\n%s", c.user, c.host, diff)
		}
	}
	on.Nodes["node-a"] = facts.Node{Name: "kind-worker", Addresses: []string{"172.17.0.3"}}
	own := &Session{terms: Terms{Own: true}, fit: on, tenant: provider.Tenant{Cell: cell}}
	if got, want := own.rewriting()("kind-worker at 172.17.0.3"), "node-a at 172.17.0.3"; got != want {
		t.Errorf("of a cluster of its own: %s, want %s", got, want)
	}
}

// TestTheNamesOfNamespacesHaveRoom for as much as is put behind them.
func TestTheNamesOfNamespacesHaveRoom(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/version" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"gitVersion": "v1.90.1"}`)
	}))
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("{current-context: a, contexts: [{name: a, context: {cluster: a}}], clusters: [{name: a, cluster: {server: %s}}]}", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := existing.Connect(t.Context(), existing.Config{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{api: cluster, terms: Terms{Numbers: new(Numbers)}}
	err = s.setNames()
	if suffix := s.names.Suffix; err != nil || len(suffix) != fit.SuffixLength || SuffixOf("default"+suffix) != suffix {
		t.Errorf("%s has %d characters, and there is room for %d; error %v", suffix, len(suffix), fit.SuffixLength, err)
	}
}

// TestACellThatDoesNotFit: the cluster says why it can't run there.
func TestACellThatDoesNotFit(t *testing.T) {
	t.Parallel()
	p := &Provider{Facts: facts.Cluster{Version: "v1.90.1"}}
	cell := plan.Cell{Topology: record.Topology{Version: "v1.90.1"}, Steps: []plan.Step{{Number: 1, Kind: "scrape", Action: action.Scrape{Component: record.APIServer}}}}
	const why = "it can't run on this cluster: it reads metrics"
	if got := p.Unfit(cell); !strings.HasPrefix(got, why) {
		t.Errorf("%q, want %q", got, why)
	}
	if _, err := p.Start(t.Context(), provider.Tenant{Cell: cell}); err == nil {
		t.Error("it starts all the same")
	}
}

// TestWhatRanOnAnExistingCluster: each release once, as it was read.
func TestWhatRanOnAnExistingCluster(t *testing.T) {
	t.Parallel()
	p := Provider{Facts: facts.Cluster{Version: "v1.90.2-gke.1", Nodes: []facts.Node{{Version: "v1.90.0"}, {Version: "v1.89.3"}, {Version: "v1.90.0"}}}}
	want := []reports.Component{
		{Name: record.APIServer, Version: "v1.90.2-gke.1", Source: ofExisting}, {Name: "kubelet", Version: "v1.89.3", Source: ofExisting}, {Name: "kubelet", Version: "v1.90.0", Source: ofExisting},
	}
	if diff := cmp.Diff(want, p.Components()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func decoded(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}
