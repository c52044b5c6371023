package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// story is a record that is made up, with a clock that goes a minute with each
// event.
type story struct {
	cell   plan.Cell
	events []record.Event
	writes int // resource versions so far
}

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s *story) now() time.Time { return midnight.Add(time.Duration(len(s.events)) * time.Minute) }

func (s *story) add(subject string, payload record.Payload) {
	data, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	s.events = append(s.events, record.Event{
		Seq: len(s.events) + 1, At: s.now(), Kind: payload.EventKind(), Subject: subject, Data: data,
	})
}

// start starts a component, after stopping it if it runs. The gates are both
// features'.
func (s *story) start(component string, version release.Version, gates bool) {
	for _, e := range s.events {
		if e.Subject == component {
			s.add(component, record.ComponentStopped{Asked: true})
			break
		}
	}
	s.add(component, record.ComponentStarted{Version: version, Gates: map[string]bool{
		"GRPCContainerProbeTLS": gates, "H2CContainerProbe": gates,
	}})
}

// show records an object. Unless same is true, it was written again.
func (s *story) show(name string, same bool, format string, args ...any) {
	if !same {
		s.writes++
	}
	resource, rest, _ := strings.Cut(name, "/")
	namespace, short, _ := strings.Cut(rest, "/")
	body := fmt.Sprintf(`{"metadata": {"name": %q, "namespace": %q, "uid": %q, "resourceVersion": "%d", "generation": 1,
		"creationTimestamp": "2026-01-01T00:00:00Z"}, %s}`, short, namespace, name, s.writes, fmt.Sprintf(format, args...))
	s.add(name, record.ObjectObserved{Change: "modified", Resource: resource, Namespace: namespace, Name: short, Object: json.RawMessage(body)})
}

// app is a pod that is ready and whose readiness probe is the given one.
func app(probe string) string {
	return `"spec": {"nodeName": "node-a", "containers": [{"name": "app", "readinessProbe": ` + probe + `}]},
		"status": {"containerStatuses": [{"name": "app", "ready": true, "containerID": "fake://1",
			"state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}`
}

const (
	withTLS = `{"grpc": {"port": 5000, "mode": "TLS"}}`
	without = `{"grpc": {"port": 5000}}`

	withHTTP1       = `{"httpGet": {"port": 5000, "protocol": "HTTP1"}}`
	withoutProtocol = `{"httpGet": {"port": 5000}}`
)

// connect records a connection of a probe, with a good answer or with none.
func (s *story) connect(container string, first record.First, protocol behavior.Protocol, good bool) {
	c := record.Connection{ID: 1, Port: 5000, Protocol: protocol, First: first, Opened: s.now(), Closed: s.now()}
	if good {
		c.Requests = []record.Request{{Service: new(string), Health: behavior.Serving, UserAgent: "kube-probe/1.37 grpc-go/1"}}
	}
	s.add(container, c)
}

// request records a connection to a port of h2c and HTTP/1.1 with one request.
func (s *story) request(agent string, first record.First) {
	s.add(cont, record.Connection{
		ID: 1, Port: 8080, Protocol: behavior.H2CAndHTTP1, First: first, Opened: s.now(), Closed: s.now(),
		Requests: []record.Request{{Status: 200, UserAgent: agent}},
	})
}

// empty records a connection to a port on which nothing was sent.
func (s *story) empty(opened time.Time, port int32, protocol behavior.Protocol, why record.CloseReason) {
	s.emptyFor(0, opened, port, protocol, why)
}

func (s *story) emptyFor(d time.Duration, opened time.Time, port int32, protocol behavior.Protocol, why record.CloseReason) {
	s.add(cont, record.Connection{
		ID: 1, Port: port, Protocol: protocol, First: record.FirstNothing, Opened: opened, Closed: opened.Add(d), CloseReason: why,
	})
}

// withHook is a pod that probes one port and has a hook go to the same, and one
// that runs a program besides.
const (
	withHook = `"spec": {"nodeName": "node-a", "containers": [{"name": "app",
		"readinessProbe": {"httpGet": {"port": 8080, "protocol": "HTTP2"}},
		"lifecycle": {"postStart": {"httpGet": {"port": 8080, "protocol": "HTTP2"}}}}]}`
	withExec = `"spec": {"nodeName": "node-a", "containers": [{"name": "app",
		"readinessProbe": {"httpGet": {"port": 8080, "protocol": "HTTP2"}}, "livenessProbe": {"exec": {}}}]}`
)

// outcome is what an oracle says of the story, or "" if it had nothing to look
// at.
func (s *story) outcome(t *testing.T, id string) (reports.Outcome, string) {
	t.Helper()
	always, _ := Look(s.cell, s.events)
	for _, c := range always {
		if c.ID == checks+id {
			if c.Requirement != requirements+id {
				t.Errorf("check %s has the requirement %q", c.ID, c.Requirement)
			}
			return c.Outcome, c.Observed
		}
	}
	return "", ""
}

const (
	newest, old release.Version = "v1.37.1", "v1.36.3"
	pod                         = "pods/default/app"
	cont                        = "default/app/app"
)

func TestWireMode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tell func(*story)
		want reports.Outcome
	}{
		"as predicted":         {func(s *story) { s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true) }, reports.Pass},
		"closed by the server": {func(s *story) { s.empty(s.now(), 5000, behavior.GRPCTLS, record.ServerClosed) }, ""},
		"given up": {func(s *story) {
			s.empty(s.now(), 5000, behavior.GRPCTLS, record.ClientClosed)
			s.show(pod, true, "%s", app(withTLS)) // the kubelet goes on
		}, reports.Fail},
		"given up with a server of another protocol": {func(s *story) {
			s.empty(s.now(), 5000, behavior.GRPC, record.ClientClosed)
		}, ""},
		"given up when the kubelet stopped": {func(s *story) {
			s.add("kubelet/node-a", record.ComponentStopped{Asked: true})
			s.empty(s.now().Add(-time.Minute), 5000, behavior.GRPCTLS, record.ClientClosed)
		}, ""},
		"given up when a probe failed": {func(s *story) {
			s.show("events/default/app.1", false, `"reason": "Unhealthy", "involvedObject": {"kind": "Pod", "namespace": "default", "name": "app"}`)
			s.empty(s.now().Add(-time.Minute), 5000, behavior.GRPCTLS, record.ClientClosed)
		}, ""},
		"given up beside a handshake that failed": {func(s *story) {
			refused := record.Connection{ID: 2, Port: 5000, Protocol: behavior.GRPCTLS, First: record.FirstTLS, Opened: s.now(), Closed: s.now(), Handshake: &record.Handshake{Error: "no certificate"}}
			s.add(cont, refused)
			s.empty(refused.Opened, 5000, behavior.GRPCTLS, record.ClientClosed)
			s.show(pod, true, "%s", app(withTLS)) // the kubelet goes on
		}, reports.Pass},
		"given up beside a handshake that did not": {func(s *story) {
			agreed := record.Connection{ID: 2, Port: 5000, Protocol: behavior.GRPCTLS, First: record.FirstTLS, Opened: s.now(), Closed: s.now(), Handshake: &record.Handshake{Version: "1.3"}}
			s.add(cont, agreed)
			s.empty(agreed.Opened, 5000, behavior.GRPCTLS, record.ClientClosed)
			s.show(pod, true, "%s", app(withTLS))
		}, reports.Fail},
		"given up over h2c": {func(s *story) {
			s.show(pod, false, withHook)
			s.empty(s.now(), 8080, behavior.H2CAndHTTP1, record.ClientClosed)
			s.request("kube-probe/1.37", record.FirstHTTP2)
		}, reports.Fail},
		"given up over h2c in the moment of another probe": {func(s *story) {
			s.show(pod, false, withHook)
			s.request("kube-probe/1.37", record.FirstHTTP2)
			s.empty(s.now().Add(-time.Minute), 8080, behavior.H2CAndHTTP1, record.ClientClosed)
		}, reports.Pass},
		"given up over h2c when another probe began, later": {func(s *story) {
			s.show(pod, false, withHook)
			s.request("kube-probe/1.37", record.FirstHTTP2)
			s.emptyFor(time.Second, s.now().Add(-time.Minute-time.Second), 8080, behavior.H2CAndHTTP1, record.ClientClosed)
		}, reports.Pass},
		"plaintext": {func(s *story) { s.connect(cont, record.FirstHTTP2, behavior.GRPCTLS, false) }, reports.Fail},
		"of an older kubelet": {func(s *story) {
			s.start("kubelet/node-a", old, false)
			s.connect(cont, record.FirstHTTP2, behavior.GRPCTLS, false)
		}, reports.Pass},
		"TLS of an older kubelet": {func(s *story) {
			s.start("kubelet/node-a", old, false)
			s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true)
		}, reports.Fail},
		"a good answer that can't be": {func(s *story) { s.connect(cont, record.FirstTLS, behavior.GRPC, true) }, reports.Fail},
		"of a kubelet that had the pod with the field": {func(s *story) {
			s.show(pod, true, "%s", app(without))
			s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true)
		}, reports.Pass},
		"of a kubelet that started when it was without": {func(s *story) {
			s.show(pod, true, "%s", app(without))
			s.start("kubelet/node-a", newest, true)
			s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true)
		}, reports.Fail},
		"a hook over HTTP/1.1": {func(s *story) {
			s.show(pod, false, withHook)
			s.request("kube-lifecycle/1.37", record.FirstHTTP1)
		}, reports.Pass},
		"a hook over HTTP/2": {func(s *story) {
			s.show(pod, false, withHook)
			s.request("kube-lifecycle/1.37", record.FirstHTTP2)
		}, reports.Fail},
		"a probe over HTTP/1.1, beside a hook": {func(s *story) {
			s.show(pod, false, withHook)
			s.request("kube-probe/1.37", record.FirstHTTP1)
		}, reports.Fail},
		"a probe beside a program": {func(s *story) {
			s.show(pod, false, withExec)
			s.request("kube-probe/1.37", record.FirstHTTP1)
		}, reports.Fail},
		"a program of the pod": {func(s *story) {
			s.show(pod, false, withExec)
			s.request("curl/8", record.FirstHTTP1)
		}, ""},
		"not of a probe": {func(s *story) {
			s.show("pods/default/other", false, "%s", app(`{"tcpSocket": {"port": 1}}`))
			s.connect("default/other/app", record.FirstTLS, behavior.GRPCTLS, true)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(story)
			s.start("kube-apiserver", newest, true)
			s.start("kubelet/node-a", newest, true)
			s.show(pod, false, "%s", app(withTLS))
			tc.tell(s)
			if got, observed := s.outcome(t, "wire-mode"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

func TestFieldSurvival(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tell func(*story)
		want reports.Outcome
	}{
		"written again": {func(s *story) { s.show(pod, false, "%s", app(withTLS)) }, reports.Pass},
		"lost by itself": {func(s *story) {
			s.show(pod, false, "%s", app(without))
		}, reports.Fail},
		"kept with the gate off": {func(s *story) {
			s.start("kube-apiserver", newest, false)
			s.show(pod, false, "%s", app(withTLS))
		}, reports.Pass},
		"lost with the gate off": {func(s *story) {
			s.start("kube-apiserver", newest, false)
			s.show(pod, false, "%s", app(without))
		}, reports.Fail},
		"not shown by an old API server, and not lost": {func(s *story) {
			s.start("kube-apiserver", old, false)
			s.show(pod, true, "%s", app(without))
			s.start("kube-apiserver", newest, true)
			s.show(pod, true, "%s", app(withTLS))
		}, reports.Pass},
		"lost though an old API server only showed it": {func(s *story) {
			s.start("kube-apiserver", old, false)
			s.show(pod, true, "%s", app(without))
			s.start("kube-apiserver", newest, true)
			s.show(pod, true, "%s", app(without))
		}, reports.Fail},
		"shown while no API server is ready": {func(s *story) {
			s.add("kube-apiserver", record.ComponentStopped{Asked: true})
			s.show(pod, true, "%s", app(without))
			s.add("kube-apiserver", record.ComponentStarted{Version: newest})
			s.show(pod, true, "%s", app(withTLS))
		}, reports.Pass},
		"no field anywhere": {func(s *story) {
			s.events = s.events[:1]
			s.show(pod, false, "%s", app(without))
			s.show(pod, false, "%s", app(without))
		}, ""},
		"the default with the gate on": {func(s *story) {
			s.show("pods/default/web", false, "%s", app(withHTTP1))
			s.show("pods/default/web", false, "%s", app(withoutProtocol))
		}, reports.Fail},
		"no default with the gate on": {func(s *story) { s.show("pods/default/web", false, "%s", app(withoutProtocol)) }, reports.Fail},
		"a default that is only shown": {func(s *story) {
			s.start("kube-apiserver", newest, false)
			s.show("pods/default/web", false, "%s", app(withoutProtocol))
			s.start("kube-apiserver", newest, true)
			s.show("pods/default/web", true, "%s", app(withHTTP1))
			s.start("kube-apiserver", newest, false)
			s.show("pods/default/web", true, "%s", app(withoutProtocol))
		}, reports.Pass},
		"a default that was written": {func(s *story) {
			s.show("pods/default/web", false, "%s", app(withHTTP1))
			s.start("kube-apiserver", newest, false)
			s.show("pods/default/web", true, "%s", app(withHTTP1))
		}, reports.Pass},
		"a default with the gate off": {func(s *story) {
			s.start("kube-apiserver", newest, false)
			s.show("pods/default/web", false, "%s", app(withoutProtocol))
			s.show("pods/default/web", false, "%s", app(withHTTP1))
		}, reports.Fail},
		"a default in a template": {func(s *story) {
			s.show("deployments/default/web", false, `"spec": {"template": {%s}}`, app(withoutProtocol))
			s.show("deployments/default/web", false, `"spec": {"template": {%s}}`, app(withHTTP1))
		}, reports.Fail},
		"made with the gate off": {func(s *story) {
			s.events = nil
			s.start("kube-apiserver", newest, false)
			s.show(pod, false, "%s", app(withTLS))
		}, reports.Fail},
		"lost by an old API server that wrote it": {func(s *story) {
			s.start("kube-apiserver", old, false)
			s.show(pod, true, "%s", app(without))
			s.show(pod, false, "%s", app(without))
			s.start("kube-apiserver", newest, true)
			s.show(pod, true, "%s", app(without))
		}, reports.Pass},
		"back after an old API server wrote it": {func(s *story) {
			s.start("kube-apiserver", old, false)
			s.show(pod, true, "%s", app(without))
			s.show(pod, false, "%s", app(without))
			s.start("kube-apiserver", newest, true)
			s.show(pod, true, "%s", app(withTLS))
		}, reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(story)
			s.start("kube-apiserver", newest, true)
			s.show(pod, false, "%s", app(withTLS))
			tc.tell(s)
			if got, observed := s.outcome(t, "field-survival"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

// TestFieldSurvivalThroughSeveralServers: any API server that runs may have written an object,
// and the one that shows it is the one that is observed.
func TestFieldSurvivalThroughSeveralServers(t *testing.T) {
	t.Parallel()
	const a, b = "kube-apiserver/a", "kube-apiserver/b"
	for name, tc := range map[string]struct {
		tell func(*story)
		want reports.Outcome
	}{
		"lost by the old one that wrote it": {func(s *story) {
			s.show(pod, false, "%s", app(without))
		}, reports.Pass},
		"lost when the old one had ended": {func(s *story) {
			s.add(b, record.ComponentStopped{Asked: true})
			s.show(pod, false, "%s", app(withTLS))
			s.show(pod, false, "%s", app(without))
		}, reports.Fail},
		"not shown by the old one, and not lost": {func(s *story) {
			s.add(b, record.Observing{})
			s.show(pod, true, "%s", app(without))
			s.add(a, record.Observing{})
			s.show(pod, true, "%s", app(withTLS))
		}, reports.Pass},
		"lost though the old one only showed it": {func(s *story) {
			s.add(b, record.Observing{})
			s.show(pod, true, "%s", app(without))
			s.add(a, record.Observing{})
			s.show(pod, true, "%s", app(without))
		}, reports.Fail},
		"shown by the one that does not know it": {func(s *story) {
			s.add(b, record.Observing{})
			s.show(pod, true, "%s", app(withTLS))
		}, reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(story)
			s.start(a, newest, true)
			s.start(b, old, false)
			s.add(a, record.Observing{})
			s.show(pod, false, "%s", app(withTLS))
			tc.tell(s)
			if got, observed := s.outcome(t, "field-survival"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

func TestFieldSurvivalOfWhatTheScenarioAskedFor(t *testing.T) {
	t.Parallel()
	decoded := func(text string) (v map[string]any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	manifest := decoded(`{"kind": "Pod", "metadata": {"name": "app"}, ` + app(withTLS) + `}`)
	for name, tc := range map[string]struct {
		gates  bool
		answer string
		want   reports.Outcome
	}{
		"kept":                  {true, app(withTLS), reports.Pass},
		"lost":                  {true, app(without), reports.Fail},
		"dropped, gate off":     {false, app(without), reports.Pass},
		"not dropped, gate off": {false, app(withTLS), reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{cell: plan.Cell{Steps: []plan.Step{{Name: "create", Action: action.Apply{Objects: []map[string]any{manifest}}}}}}
			s.start("kube-apiserver", newest, tc.gates)
			s.add("create", record.APIAnswer{Object: pod, Code: 201, Response: decoded(`{"metadata": {"name": "app"}, ` + tc.answer + `}`)})
			if got, observed := s.outcome(t, "field-survival"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

func TestFieldSurvivalOfAPatch(t *testing.T) {
	t.Parallel()
	const labels, twice = `{"metadata": {"labels": {"a": "b"}}}`, `{"spec": {"containers": [{"name": "app", "readinessProbe": ` + withTLS + `}]}}`
	for name, tc := range map[string]struct {
		gates         bool
		before, after string
		patch         string
		want          reports.Outcome
	}{
		"added":                        {true, without, withTLS, twice, reports.Pass},
		"added, and lost":              {true, without, without, twice, reports.Fail},
		"added with the gate off":      {false, without, withTLS, twice, reports.Fail},
		"dropped with the gate off":    {false, without, without, twice, ""},
		"something else":               {true, withTLS, withTLS, labels, reports.Pass},
		"lost by something else":       {true, withTLS, without, labels, reports.Fail},
		"appeared with something else": {true, without, withTLS, labels, reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var merge, response map[string]any
			if err := json.Unmarshal([]byte(tc.patch), &merge); err != nil {
				t.Fatal(err)
			}
			s := &story{cell: plan.Cell{Steps: []plan.Step{{Name: "patch", Action: action.Patch{Merge: merge}}}}}
			s.start("kube-apiserver", newest, tc.gates || tc.before == withTLS)
			s.show(pod, false, "%s", app(tc.before))
			s.show(pod, false, "%s", app(tc.after))
			last, _ := record.As[record.ObjectObserved](s.events[len(s.events)-1])
			if err := json.Unmarshal(last.Object, &response); err != nil {
				t.Fatal(err)
			}
			s.add("patch", record.APIAnswer{Object: pod, Code: 200, Response: response})
			if got, observed := s.outcome(t, "field-survival"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

func TestAClientLosesWhatItsTypesLack(t *testing.T) {
	t.Parallel()
	update := func(v release.Version, times int) action.Action { return action.Client{Version: v, Times: times} }
	store := func(v release.Version) action.Action { return action.Store{Version: v} }
	apply := action.Written{Write: action.Write{Verb: action.Applies}}
	for name, tc := range map[string]struct {
		step   action.Action
		after  string
		states int // that the step writes; only the last one is its answer
		want   reports.Outcome
	}{
		"kept by the same release":         {update(newest, 1), withTLS, 1, reports.Pass},
		"lost by the same release":         {update(newest, 1), without, 1, reports.Fail},
		"kept by an older one":             {update(old, 1), withTLS, 1, reports.Fail},
		"lost by an older one":             {update(old, 1), without, 1, reports.Pass},
		"its status by an older one":       {action.Client{Version: old, Times: 1, Subresource: "status"}, withTLS, 1, reports.Pass},
		"lost at the first of several":     {update(old, 3), without, 3, reports.Pass},
		"lost at the first of several new": {update(newest, 3), without, 3, reports.Fail},
		"lost, and no client may":          {action.Patch{}, without, 3, reports.Fail},
		"applied, and lost":                {apply, without, 1, reports.Pass},
		"written by kubectl":               {action.Kubectl{}, without, 0, reports.Pass},
		"stored by an older one":           {store(old), without, 1, reports.Pass},
		"stored by the same, and lost":     {store(newest), without, 1, reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{cell: plan.Cell{Steps: []plan.Step{{Name: "write", Action: tc.step}}}}
			s.start("kube-apiserver", newest, true)
			s.show(pod, false, "%s", app(withTLS))
			s.add("write", record.StepStarted{Number: 1, Name: "write"})
			for range tc.states {
				s.show(pod, false, "%s", app(tc.after))
			}
			last, _ := record.As[record.ObjectObserved](s.events[len(s.events)-1])
			if _, silent := tc.step.(action.Kubectl); silent {
				s.add("next", record.StepStarted{Number: 2, Name: "next"})
				s.show(pod, false, "%s", app(tc.after)) // seen late
				if got, observed := s.outcome(t, "field-survival"); got != tc.want {
					t.Errorf("%q (%s), want %q", got, observed, tc.want)
				}
				return
			}
			_, stored := tc.step.(action.Store)
			s.add("write", record.APIAnswer{Object: pod, Code: 200, Stored: stored, Response: last.Object})
			if got, observed := s.outcome(t, "field-survival"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

func TestAWebhookLosesWhatItsTypesLack(t *testing.T) {
	t.Parallel()
	rules := func(operations ...string) []action.WebhookRule {
		return []action.WebhookRule{{Operations: operations, Resources: []string{"pods"}}}
	}
	of := func(v release.Version) action.Webhook {
		return action.Webhook{Name: "injector", Rules: rules("UPDATE", "CREATE"), WebhookReply: action.WebhookReply{Reserialize: v}}
	}
	late := of(old)
	late.Delay = behavior.Duration(time.Second)
	for name, tc := range map[string]struct {
		webhook           action.Webhook
		created, after    string
		ends              bool
		wantCreated, want reports.Outcome
	}{
		"of the same release":       {of(newest), withTLS, withTLS, false, reports.Pass, reports.Pass},
		"of the same, and lost":     {of(newest), without, without, false, reports.Fail, reports.Fail},
		"of an older one":           {of(old), without, without, false, reports.Pass, reports.Pass},
		"of an older one, and kept": {of(old), withTLS, withTLS, false, reports.Fail, reports.Fail},
		"that may be too late":      {late, withTLS, without, false, reports.Pass, reports.Pass},
		"of other operations":       {action.Webhook{Name: "injector", Rules: rules("DELETE"), WebhookReply: action.WebhookReply{Reserialize: old}}, without, without, false, reports.Fail, reports.Fail},
		"that patches the spec":     {action.Webhook{Name: "injector", Rules: rules("*"), Patch: []action.PatchOperation{{Op: "remove", Path: "/spec/containers/0/readinessProbe"}}}, without, without, false, reports.Pass, reports.Pass},
		"that has ended":            {of(old), withTLS, withTLS, true, reports.Pass, reports.Pass},
		"that has ended, and lost":  {of(old), without, without, true, reports.Fail, reports.Fail},
	} {
		manifest := map[string]any{}
		if err := json.Unmarshal([]byte(`{"kind": "Pod", "metadata": {"name": "app"}, `+app(withTLS)+`}`), &manifest); err != nil {
			t.Fatal(err)
		}
		cell := plan.Cell{Steps: []plan.Step{
			{Number: 1, Name: "begins", Action: tc.webhook},
			{Number: 2, Name: "ends", Action: action.Delete{Object: spec.ObjectRef{Resource: "mutatingwebhookconfigurations", Name: "injector"}}},
			{Number: 3, Name: "create", Action: action.Apply{Objects: []map[string]any{manifest}}},
			{Number: 4, Name: "label", Action: action.Patch{Merge: map[string]any{"metadata": map[string]any{}}}},
		}}
		begin := func() *story {
			s := &story{cell: cell}
			s.start("kube-apiserver", newest, true)
			s.add("begins", record.StepStarted{Number: 1, Name: "begins"})
			if tc.ends {
				s.add("ends", record.StepStarted{Number: 2, Name: "ends"})
			}
			return s
		}
		t.Run(name+", created", func(t *testing.T) {
			t.Parallel()
			s := begin()
			s.add("create", record.StepStarted{Number: 3, Name: "create"})
			var response map[string]any
			if err := json.Unmarshal([]byte(`{"metadata": {"name": "app"}, `+app(tc.created)+`}`), &response); err != nil {
				t.Fatal(err)
			}
			s.add("create", record.APIAnswer{Object: pod, Code: 201, Response: response})
			if got, observed := s.outcome(t, "field-survival"); got != tc.wantCreated {
				t.Errorf("%q (%s), want %q", got, observed, tc.wantCreated)
			}
		})
		t.Run(name+", written", func(t *testing.T) {
			t.Parallel()
			s := &story{cell: cell}
			s.start("kube-apiserver", newest, true)
			s.show(pod, false, "%s", app(withTLS))
			s.add("begins", record.StepStarted{Number: 1, Name: "begins"})
			if tc.ends {
				s.add("ends", record.StepStarted{Number: 2, Name: "ends"})
			}
			s.add("label", record.StepStarted{Number: 4, Name: "label"})
			s.show(pod, false, "%s", app(tc.after))
			last, _ := record.As[record.ObjectObserved](s.events[len(s.events)-1])
			s.add("label", record.APIAnswer{Object: pod, Code: 200, Response: last.Object})
			if got, observed := s.outcome(t, "field-survival"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

func TestNothingElseChanges(t *testing.T) {
	t.Parallel()
	restart := func(s *story) { s.start("kubelet/node-a", newest, true) }
	changed := func(from, to string) func(*story) {
		return func(s *story) {
			restart(s)
			s.show(pod, false, "%s", strings.Replace(app(without), from, to, 1))
		}
	}
	for name, tc := range map[string]struct {
		tell func(*story)
		want reports.Outcome
	}{
		"no restart":        {func(*story) {}, ""},
		"as it was":         {changed("", ""), reports.Pass},
		"another container": {changed("fake://1", "fake://2"), reports.Fail},
		"restarted":         {changed(`"ready": true`, `"ready": true, "restartCount": 1`), reports.Fail},
		"not ready":         {changed(`"ready": true`, `"ready": false`), reports.Fail},
		"shown with the default": {func(s *story) {
			s.show("pods/default/web", false, "%s", app(`{"httpGet": {"port": 5000}}`))
			s.connect("default/web/app", record.FirstHTTP1, behavior.HTTP1, true)
			restart(s)
			s.show("pods/default/web", true, "%s", app(`{"httpGet": {"port": 5000, "protocol": "HTTP1"}}`))
		}, reports.Pass},
		"another spec":              {changed(`5000`, `5001`), reports.Fail},
		"uses the field":            {changed(without, withTLS), ""},
		"a probe that was given up": {func(s *story) { restart(s); s.connect(cont, record.FirstNothing, behavior.GRPC, false) }, ""},
		"a probe that was cut off": {func(s *story) {
			end := s.now().Add(time.Minute)
			s.add(cont, record.Connection{Port: 5000, First: record.FirstHTTP2, Opened: end.Add(-time.Second), Closed: end, CloseReason: record.ClientReset})
			restart(s)
			s.show(pod, false, "%s", strings.Replace(app(without), `"ready": true`, `"ready": false`, 1))
		}, reports.Fail},
		"a server that fails": {func(s *story) { restart(s); s.connect(cont, record.FirstHTTP2, behavior.GRPC, false) }, ""},
		"deleted": {func(s *story) {
			restart(s)
			s.show(pod, true, "%s", app(without))
			gone, _ := record.As[record.ObjectObserved](s.events[len(s.events)-1])
			gone.Change = "deleted"
			s.add(pod, gone)
		}, reports.Fail},
		"not ready for a moment, before the restart": {func(s *story) {
			s.show(pod, false, "%s", strings.Replace(app(without), `"ready": true`, `"ready": false`, 1))
			s.show(pod, false, "%s", app(without))
			restart(s)
			s.show(pod, false, "%s", app(without))
		}, reports.Pass},
		"not ready, and young": {func(s *story) {
			// The kubelet is started again by the fourth event from here.
			justBefore := s.now().Add(3*time.Minute - law.Young/2).Format(time.RFC3339)
			young := strings.Replace(app(without), "2026-01-01T00:00:00Z", justBefore, 1)
			s.show("pods/default/young", false, "%s", young)
			s.connect("default/young/app", record.FirstHTTP2, behavior.GRPC, true)
			restart(s)
			s.show("pods/default/young", false, "%s", strings.Replace(young, `"ready": true`, `"ready": false`, 1))
		}, reports.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(story)
			s.start("kube-apiserver", newest, true)
			s.start("kubelet/node-a", newest, true)
			s.show(pod, false, "%s", app(without))
			s.connect(cont, record.FirstHTTP2, behavior.GRPC, true)
			tc.tell(s)
			if got, observed := s.outcome(t, "nothing-else-changes"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

// TestAStaticPodStaysToo: the API server shows it by a mirror pod.
func TestAStaticPodStaysToo(t *testing.T) {
	t.Parallel()
	const key, container = "pods/default/static-node-a", "default/static-node-a/app"
	writes := func(s *story, probe string) {
		s.add("default/static-node-a", record.StaticPodWritten{Node: "node-a", Pod: json.RawMessage(`{"metadata": {"name": "static-node-a"}, ` + app(probe) + `}`)})
	}
	for name, tc := range map[string]struct {
		tell func(*story)
		want reports.Outcome
	}{
		"as it was":         {func(*story) {}, reports.Pass},
		"restarted":         {func(s *story) { s.mirror(key, strings.Replace(app(without), "fake://1", "fake://2", 1)) }, reports.Fail},
		"with another file": {func(s *story) { writes(s, without) }, ""},
		"removed by the scenario": {func(s *story) {
			s.cell.Steps = []plan.Step{{Action: action.StaticPod{Node: "node-a", Remove: "static"}}}
		}, ""},
		"uses the field": {func(s *story) {
			s.events = nil
			s.begin()
			writes(s, withTLS)
			s.mirror(key, app(without))
			s.start("kubelet/node-a", newest, true)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(story)
			s.begin()
			writes(s, without)
			s.mirror(key, app(without))
			s.connect(container, record.FirstHTTP2, behavior.GRPC, true)
			s.start("kubelet/node-a", newest, true)
			s.mirror(key, app(without))
			tc.tell(s)
			if got, observed := s.outcome(t, "nothing-else-changes"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}

// begin starts an API server and a kubelet.
func (s *story) begin() {
	s.start("kube-apiserver", newest, true)
	s.start("kubelet/node-a", newest, true)
}

// mirror records a pod that shows a static pod.
func (s *story) mirror(key, rest string) {
	s.show(key, false, "%s", rest)
	last := &s.events[len(s.events)-1]
	last.Data = json.RawMessage(strings.Replace(string(last.Data), `"generation"`, `"annotations": {"kubernetes.io/config.mirror": "x"}, "generation"`, 1))
}

func TestAWorkloadKeepsItsRevision(t *testing.T) {
	t.Parallel()
	const web = `"spec": {"replicas": %d, "template": {"spec": {"containers": []}}}, "status": {"observedGeneration": 1}`
	for replicas, want := range map[int]reports.Outcome{1: reports.Pass, 2: reports.Fail} {
		s := new(story)
		s.start("kube-apiserver", newest, true)
		s.show("deployments/default/web", false, web, 1)
		s.start("kube-apiserver", newest, false)
		s.show("deployments/default/web", false, web, replicas)
		if got, observed := s.outcome(t, "nothing-else-changes"); got != want {
			t.Errorf("%d replicas: %q (%s), want %q", replicas, got, observed, want)
		}
	}
}

func TestBoundedWrites(t *testing.T) {
	t.Parallel()
	type made struct {
		owner, spec      string
		writes, children int
	}
	tell := func(m made) *story {
		s := &story{cell: plan.Cell{Topology: record.Topology{Nodes: make([]record.Node, 5)}}}
		s.start("kube-apiserver", newest, true)
		for range m.writes {
			s.show(m.owner, false, `"spec": {%s}`, m.spec)
			s.events[len(s.events)-1].At = midnight // all at once
		}
		kind := "pods"
		if strings.HasPrefix(m.owner, "deployments/") {
			kind = "replicasets"
		}
		for i := range m.children {
			s.show(fmt.Sprintf("%s/default/web-%d", kind, i), false, `"spec": {}`)
			e := &s.events[len(s.events)-1]
			owned := strings.Replace(string(e.Data), `"generation"`, `"ownerReferences":[{"uid":"`+m.owner+`"}],"generation"`, 1)
			e.Data = json.RawMessage(owned)
		}
		return s
	}
	const (
		deployment, set, daemons = "deployments/default/web", "statefulsets/default/web", "daemonsets/default/web"
		one, four                = ``, `"replicas": 4, "template": {}`
	)
	for name, tc := range map[string]struct {
		made
		want reports.Outcome
	}{
		"at rest":                        {made{deployment, one, 1, 1}, reports.Pass},
		"written without end":            {made{deployment, one, law.SomeWrites + 1, 1}, reports.Fail},
		"written for each replica":       {made{deployment, four, law.SomeWrites + 1, 1}, reports.Pass},
		"ReplicaSets without end":        {made{deployment, one, 1, 9}, reports.Fail},
		"a rollout with each change":     {made{deployment, one, 1, 1 + law.SomeChildren}, reports.Pass},
		"ReplicaSets for each replica":   {made{deployment, four, 1, 4 + law.SomeChildren}, reports.Fail},
		"a pod for each replica":         {made{set, four, 1, 4 + law.SomeChildren}, reports.Pass},
		"pods without end":               {made{set, four, 1, 5 + law.SomeChildren}, reports.Fail},
		"a pod for each node":            {made{daemons, one, 1, 5 + law.SomeChildren}, reports.Pass},
		"more pods than there are nodes": {made{daemons, one, 1, 6 + law.SomeChildren}, reports.Fail},
	} {
		if got, observed := tell(tc.made).outcome(t, "bounded-writes"); got != tc.want {
			t.Errorf("%s: %q (%s), want %q", name, got, observed, tc.want)
		}
	}
}

// TestALoss: where events may be missing that an oracle looks at, it says nothing, but for what was seen.
func TestALoss(t *testing.T) {
	t.Parallel()
	const deployment = "deployments/default/web"
	for name, tc := range map[string]struct {
		writes  int
		subject string
		lost    record.Payload
		want    reports.Outcome
	}{
		"of objects":                       {1, "", record.ObjectObserved{}, reports.Unknown},
		"of the object":                    {1, "deployments", record.ObjectObserved{}, reports.Unknown},
		"of an object that shows a fault":  {law.SomeWrites + 1, "", record.ObjectObserved{}, reports.Fail},
		"of what the oracle does not need": {1, "", record.Exec{}, reports.Pass},
	} {
		s := &story{}
		s.start("kube-apiserver", newest, true)
		for range tc.writes {
			s.show(deployment, false, `"spec": {}`)
			s.events[len(s.events)-1].At = midnight
		}
		s.add(tc.subject, record.Losing(midnight, errors.New("a watch broke"), tc.lost))
		if got, observed := s.outcome(t, "bounded-writes"); got != tc.want {
			t.Errorf("%s: %q (%s), want %q", name, got, observed, tc.want)
		}
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	s := new(story)
	s.start("kube-apiserver", newest, true)
	s.start("kubelet/node-a", old, false)
	s.show(pod, false, "%s", app(withTLS))
	s.connect(cont, record.FirstHTTP2, behavior.GRPCTLS, false)
	s.connect(cont, record.FirstNothing, behavior.GRPCTLS, false)
	s.add(cont, record.Connection{
		ID: 1, Port: 5000, Protocol: behavior.HTTP1, First: record.FirstHTTP2, Opened: s.now(), Closed: s.now(), CloseReason: record.ServerClosed,
		Requests: []record.Request{{Method: "PRI", Status: 400}},
	})
	s.start("kubelet/node-a", newest, true)
	s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true)
	s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true)
	s.add("default/static-node-a", record.StaticPodWritten{Node: "node-a", Pod: json.RawMessage(`{` + app(withTLS) + `}`)})
	s.connect("default/static-node-a/app", record.FirstTLS, behavior.GRPCTLS, true)
	// What the API server shows otherwise is another probe for the next kubelet.
	s.show(pod, true, "%s", app(without))
	s.start("kubelet/node-a", newest, false)
	s.connect(cont, record.FirstHTTP2, behavior.GRPCTLS, false)

	want := []reports.Observation{
		{Probe: "grpc mode=TLS", Server: "grpc-tls", APIServer: "none (static pod)", Kubelet: "v1.37.1 gate on", Wire: "tls-client-hello", Succeeds: true},
		{Probe: "grpc mode=TLS", Server: "grpc-tls", APIServer: "v1.37.1 gate on", Kubelet: "v1.36.3", Wire: "http2-preface"},
		{Probe: "grpc mode=TLS", Server: "grpc-tls", APIServer: "v1.37.1 gate on", Kubelet: "v1.37.1 gate on", Wire: "tls-client-hello", Succeeds: true},
		{Probe: "grpc mode=TLS", Server: "http1", APIServer: "v1.37.1 gate on", Kubelet: "v1.36.3", Wire: "http2-preface"},
	}
	_, got := Look(s.cell, s.events)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTheLedgerStatesWhatTheOraclesProve: every oracle serves a statement, and
// every statement about oracles is served by one.
func TestTheLedgerStatesWhatTheOraclesProve(t *testing.T) {
	t.Parallel()
	all, err := ledger.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	var stated, served []string
	for _, r := range all {
		if r.KEP == "ORACLE" {
			stated = append(stated, r.ID)
		}
	}
	for _, o := range oracles {
		served = append(served, requirements+o.id)
	}
	slices.Sort(stated)
	slices.Sort(served)
	if !slices.Equal(stated, served) {
		t.Errorf("stated are %v, served %v", stated, served)
	}
}
