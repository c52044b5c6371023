package oracle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// TestAttempts: who may have opened a connection, and what it begins with.
func TestAttempts(t *testing.T) {
	t.Parallel()
	s := new(story)
	s.start("kube-apiserver", newest, true)
	s.start("kubelet/node-a", old, false)
	s.show(pod, false, `"spec": {"nodeName": "node-a", "containers": [{"name": "app",
		"livenessProbe": {"grpc": {"port": 5000, "mode": "TLS"}}, "readinessProbe": {"grpc": {"port": 5000, "mode": "TLS"}},
		"startupProbe": {"httpGet": {"port": 8080, "path": "/up"}},
		"lifecycle": {"postStart": {"httpGet": {"port": 8080, "path": "/hook"}}}}]}`)
	s.connect(cont, record.FirstHTTP2, behavior.GRPCTLS, false)
	s.connect(cont, record.FirstNothing, behavior.GRPCTLS, false)
	s.connect("default/other/app", record.FirstNothing, behavior.GRPC, false)
	s.request("kube-lifecycle/1.37", record.FirstHTTP1)
	s.request("kube-probe/1.37", record.FirstTLS)
	s.start("kubelet/node-a", newest, true)
	s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true)
	s.show(pod, false, `"spec": {"nodeName": "node-a", "containers": [{"name": "app", "readinessProbe": {"tcpSocket": {"port": 5000}}}]}`)
	s.start("kubelet/node-a", newest, true)
	s.connect(cont, record.FirstNothing, behavior.HTTP1, false)
	s.show(pod, false, withExec)
	s.start("kubelet/node-a", newest, true)
	s.connect(cont, record.FirstNothing, behavior.HTTP1, false)

	type seen struct {
		Probes              []reports.Probe
		Predicted           []reports.Prediction
		Expected, Succeeded bool
	}
	both := []reports.Probe{{Container: cont, Name: "liveness", What: "grpc mode=TLS :5000"}, {Container: cont, Name: "readiness", What: "grpc mode=TLS :5000"}}
	before := []reports.Prediction{{First: record.FirstHTTP2, Kubelet: "v1.36.3"}}
	want := []seen{
		{Probes: both, Predicted: before, Expected: true},
		{Probes: both, Predicted: before, Expected: true}, // given up
		{Expected: true},
		{Probes: []reports.Probe{{Container: cont, Name: "postStart", What: "httpGet :8080"}}, Predicted: []reports.Prediction{{First: record.FirstHTTP1, Kubelet: "v1.36.3", Understood: true}}, Expected: true, Succeeded: true},
		{Probes: []reports.Probe{{Container: cont, Name: "startup", What: "httpGet :8080"}}, Predicted: []reports.Prediction{{First: record.FirstHTTP1, Kubelet: "v1.36.3", Understood: true}}, Succeeded: true},
		{Probes: both, Predicted: []reports.Prediction{{First: record.FirstTLS, Kubelet: "v1.37.1 gate on", Understood: true}}, Expected: true, Succeeded: true},
		{Probes: []reports.Probe{{Container: cont, Name: "readiness", What: "tcpSocket :5000"}}, Predicted: []reports.Prediction{{First: record.FirstNothing, Kubelet: "v1.37.1", Understood: true}}, Expected: true, Succeeded: true},
		{Expected: true}, // the program may be the client
	}
	var got []seen
	for _, a := range Attempts(s.events) {
		got = append(got, seen{a.Probes, a.Predicted, a.Expected(), a.Succeeded})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAttemptsAreDistinct: two probes of a port that ask for different things.
func TestAttemptsAreDistinct(t *testing.T) {
	t.Parallel()
	s := new(story)
	s.start("kubelet/node-a", newest, true)
	s.show(pod, false, `"spec": {"nodeName": "node-a", "containers": [{"name": "app",
		"livenessProbe": {"httpGet": {"port": 8080, "path": "/live"}}, "readinessProbe": {"httpGet": {"port": 8080, "path": "/ready", "scheme": "HTTP"}}}]}`)
	for _, path := range []string{"/live", "/ready", "/elsewhere"} {
		s.add(cont, record.Connection{Port: 8080, First: record.FirstHTTP1, Opened: s.now(), Closed: s.now(),
			Requests: []record.Request{{Path: path, Status: 200, UserAgent: "kube-probe/1.37"}}})
	}
	want := [][]reports.Probe{
		{{Container: cont, Name: "liveness", What: "httpGet :8080"}}, {{Container: cont, Name: "readiness", What: "httpGet :8080"}},
		{{Container: cont, Name: "liveness", What: "httpGet :8080"}, {Container: cont, Name: "readiness", What: "httpGet :8080"}},
	}
	var got [][]reports.Probe
	for _, a := range Attempts(s.events) {
		got = append(got, a.Probes)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUnended: headers of an answer whose body never ends are no success, whatever
// their status. If its kubelet ended meanwhile, that may be why.
func TestUnended(t *testing.T) {
	t.Parallel()
	s := new(story)
	s.start("kubelet/node-a", newest, true)
	s.show(pod, false, `"spec": {"nodeName": "node-a", "containers": [{"name": "app", "livenessProbe": {"httpGet": {"port": 8080, "path": "/"}}}]}`)
	for _, status := range []int{200, 0} {
		s.add(cont, record.Connection{Port: 8080, First: record.FirstHTTP1, Opened: s.now(), Closed: midnight.Add(4 * time.Minute), Fault: behavior.StallAfterHeaders,
			CloseReason: record.ClientClosed, Requests: []record.Request{{Path: "/", Status: status, UserAgent: "kube-probe/1.37"}}})
	}
	s.start("kubelet/node-a", newest, true) // which stops it first, at minute 4
	var got [][3]bool
	for _, a := range Attempts(s.events) {
		got = append(got, [3]bool{a.Unended(), a.Succeeded, a.CutOff})
	}
	if diff := cmp.Diff([][3]bool{{true, false, true}, {false, false, true}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRedirected: a connection that follows a redirect says from where, and is of the
// probe that asked there, whoever else asks for the same.
func TestRedirected(t *testing.T) {
	t.Parallel()
	s := new(story)
	s.start("kubelet/node-a", newest, true)
	s.show(pod, false, `"spec": {"nodeName": "node-a", "containers": [{"name": "app",
		"livenessProbe": {"httpGet": {"port": 8080, "path": "/old?a=b"}}, "readinessProbe": {"httpGet": {"port": 8080, "path": "/new"}}}]}`)
	for _, referer := range []string{"", "http://127.0.0.2:8080/old?a=b", "http://127.0.0.2:8080/other", ":"} {
		r := record.Request{Path: "/new", Status: 500, UserAgent: "kube-probe/1.37"}
		if referer != "" {
			r.Headers = map[string][]string{"Referer": {referer}}
		}
		s.add(cont, record.Connection{Port: 8080, First: record.FirstHTTP1, Opened: s.now(), Closed: s.now(), Requests: []record.Request{r}})
	}
	live, ready := reports.Probe{Container: cont, Name: "liveness", What: "httpGet :8080"}, reports.Probe{Container: cont, Name: "readiness", What: "httpGet :8080"}
	var got [][]reports.Probe
	for _, a := range Attempts(s.events) {
		got = append(got, a.Probes)
	}
	if diff := cmp.Diff([][]reports.Probe{{ready}, {live}, {live, ready}, {live, ready}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
