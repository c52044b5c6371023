package narrate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestCauses: of each kind of what an expression may be about, what happened.
func TestCauses(t *testing.T) {
	t.Parallel()
	rig := checked()[:3]
	rig.show(2, "pods/default/web", "added", `{"metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"app"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	rig.show(6, "pods/default/web", "modified", `{"metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"app"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"app"}]}}`)
	rig.from("agent/node-a", 7, "late", record.PodsEvent{Type: "ADDED"})
	rig.from("agent/node-a", 8, "list", record.PodsEvent{Type: "MODIFIED", Pod: json.RawMessage(`{"metadata": {"name": "web", "namespace": "default", "resourceVersion": "7"}, "status": {"phase": "Pending"}}`)})
	rig.at(9.3, "default/web/app", connection(9.2, record.Connection{Port: 80, First: record.FirstHTTP2, CloseReason: record.ServerClosed}))
	rig = append(rig, checked()[3:]...)
	for expression, want := range map[string]string{
		`watches["list"].pods.size()`:                           "Until 10.0 s, the Pods API had sent client \"list\" 1 message; the last was MODIFIED default/web (Pending resourceVersion 7) at 8.0 s.",
		`history["pods/default/web"].exists(p, p.ready)`:        "Pod default/web was not Ready from 6.0 s to 10.0 s (ContainersNotReady: app).",
		`watches["late"].pods.size()`:                           "Until 10.0 s, the Pods API had sent client \"late\" 1 message; the last was ADDED at 7.0 s.",
		`metrics["kubelet/a"].filter(m, pods["web"].name == m)`: "",
		`dependents.all(d, dependents[d].replicas == 0)`:        "From 9.0 s to 10.0 s, the watchdog scaled nothing.",
		`calls["dependency-watchdog->kube-apiserver"].size()`:   "From 9.0 s to 10.0 s, the watchdog asked the API server nothing.",
		`pods["other"].ready`:                                   "",
		`connections["web/app"].exists(c, c.first == "tls")`:    `1 of 1 attempt of default/web/app failed; most often (1), unknown client :80: HTTP/2 preface, ended by the server.`,
	} {
		s := of(narrate.Input{Events: rig, Result: about(outcome(reports.Fail), expression)})
		if got := strings.Join(append([]string{s.Checks[0].Cause}, s.Checks[0].Because...), " "); !strings.Contains(got, want) {
			t.Errorf("%s: the cause is %q, want %q in it", expression, got, want)
		}
	}
	if s := of(narrate.Input{Events: rig, Result: about(outcome(reports.Pass), `pods["web"].ready`)}); s.Checks[0].Cause != "" {
		t.Errorf("what holds has the cause %q", s.Checks[0].Cause)
	}
}

// TestWhatAComponentAsked: of a link that looks into what it passes, who asked how often.
func TestWhatAComponentAsked(t *testing.T) {
	t.Parallel()
	rig := checked()[:3]
	for _, at := range []float64{8, 9.2, 9.4} {
		rig.at(at, "kube-controller-manager->kube-apiserver", record.LinkRequest{Method: "POST", Path: "/api/v1/namespaces/default/pods", Code: 201})
	}
	rig = append(rig, checked()[3:]...)
	s := of(narrate.Input{Events: rig, Result: about(outcome(reports.Fail), `calls["kube-controller-manager->kube-apiserver"].size()`)})
	if want := "From 9.0 s to 10.0 s, kube-controller-manager asked the API server 2 times."; !strings.Contains(s.Checks[0].Cause+strings.Join(s.Checks[0].Because, " "), want) {
		t.Errorf("the cause is %q %q, want %q in it", s.Checks[0].Cause, s.Checks[0].Because, want)
	}
}

// TestCausesSayWhatWasCompared: the field, what it was and what it was to be, who wrote or
// sent it, and what the scenario had done.
func TestCausesSayWhatWasCompared(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		happened, then           func(*history) // before the check, and after it
		expected, observed, want string
		history                  []narrate.Line
		clocks                   string
	}{
		"a field": {
			happened: func(h *history) {
				h.start(0, "kube-apiserver", "v1.90.1", nil)
				h.step(1, 1, "late", "create Pod web")
				h.showProbe(1, "1", `"protocol":"HTTP2"`)
				h.at(3, "kube-apiserver", record.ComponentStopped{Asked: true})
				h.start(4, "kube-apiserver", "v1.89.3", nil)
				h.showProbe(3.9, "1", "")
				h.at(5, "label", record.StepStarted{Number: 2, Name: "label", Action: "patch pods/default/web with {}"})
				h.at(5, "label", record.APIAnswer{Object: "pods/default/web", Code: 200, Response: map[string]any{"metadata": map[string]any{"resourceVersion": "2"}}})
				h.at(5.1, "3", record.StepStarted{Number: 3, Name: "3", Action: "wait for 3s"})
				h.showProbe(5.2, "2", "")
				h.at(7, "kube-apiserver", record.ComponentStopped{Asked: true})
				h.start(8, "kube-apiserver", "v1.90.1", nil)
				h.showProbe(8.1, "2", `"protocol":"HTTP1"`)
			},
			expected: `at once: pods["web"].spec.probe.protocol == "HTTP2"`, observed: `"HTTP1"`,
			want: `kube-apiserver v1.89.3 lost spec.probe.protocol of pod default/web at 5.2 s, when it wrote the object in step 2 (label: patch pods/default/web with {}); ` +
				`kube-apiserver v1.90.1 showed the default "HTTP1" from 8.1 s. ` +
				`spec.probe.protocol of pod default/web was "HTTP1" at 10.0 s (step 4), since 8.1 s; expected: "HTTP2".`,
			history: []narrate.Line{
				{At: 1, What: "kube-apiserver v1.90.1, resourceVersion 1", Text: `"HTTP2"`},
				{At: 3.9, What: "kube-apiserver v1.89.3 (starting, ready at 4.0 s), resourceVersion 1, not written since: not shown", Text: "not set"},
				{At: 5.2, What: "kube-apiserver v1.89.3, resourceVersion 2, written in step 2 (label: patch pods/default/web with {})", Text: "not set", Tone: narrate.Bad},
				{At: 8.1, What: "kube-apiserver v1.90.1, resourceVersion 2, not written since: a default on read", Text: `"HTTP1"`},
			},
		},
		"a field that a webhook removed": {
			happened: func(h *history) {
				h.start(0, "kube-apiserver", "v1.90.1", nil)
				h.showProbe(1, "1", `"protocol":"HTTP2"`)
				h.step(2, 1, "label", "patch pods/default/web with {}")
				h.at(2, "other", record.WebhookCalled{Object: "pods/default/web", Allowed: true, Patch: []string{"add /metadata/labels"}})
				h.at(2, "injector", record.WebhookCalled{Object: "pods/default/web", Allowed: true, Patch: []string{"remove /spec/probe/protocol"}})
				h.at(2, "label", record.APIAnswer{Object: "pods/default/web", Code: 200, Response: map[string]any{"metadata": map[string]any{"resourceVersion": "2"}}})
				h.showProbe(2.1, "2", "")
			},
			expected: `at once: pods["web"].spec.probe.protocol == "HTTP2"`, observed: `no such key: protocol`,
			want: `Webhook injector removed spec.probe.protocol of pod default/web, which was "HTTP2", at 2.1 s in step 1 (label: patch pods/default/web with {}). ` +
				`spec.probe.protocol of pod default/web was not set at 10.0 s (step 4), since 2.1 s; expected: "HTTP2".`,
			history: []narrate.Line{
				{At: 1, What: "kube-apiserver v1.90.1, resourceVersion 1", Text: `"HTTP2"`},
				{At: 2.1, What: "kube-apiserver v1.90.1, resourceVersion 2, written in step 1 (label: patch pods/default/web with {})", Text: "not set", Tone: narrate.Changed},
			},
		},
		"a field that a conversion webhook removed": {
			happened: func(h *history) {
				h.start(0, "kube-apiserver", "v1.90.1", nil)
				h.show(1, "webs/default/web", "modified", `{"metadata":{"resourceVersion":"1"},"spec":{"probe":{"protocol":"HTTP2"}}}`)
				h.step(2, 1, "label", "patch webs/default/web with {}")
				removes := []string{"remove /spec/probe/protocol"}
				h.at(2, "webs.example.com", record.ConversionCalled{To: "example.com/v1", Objects: []record.Converted{{Object: "default/web", From: "example.com/v1beta1", Patch: removes}}})
				h.at(2, "others.example.com", record.ConversionCalled{To: "example.com/v1", Objects: []record.Converted{{Object: "default/web", Patch: removes}}})
				h.at(2, "label", record.APIAnswer{Object: "webs/default/web", Code: 200, Response: map[string]any{"metadata": map[string]any{"resourceVersion": "2"}}})
				h.show(2.1, "webs/default/web", "modified", `{"metadata":{"resourceVersion":"2"},"spec":{"probe":{}}}`)
			},
			expected: `at once: objects["webs/default/web"].spec.probe.protocol == "HTTP2"`, observed: `no such key: protocol`,
			want: `Conversion webhook of webs.example.com removed spec.probe.protocol of webs/default/web, which was "HTTP2", at 2.1 s in step 1 (label: patch webs/default/web with {}). ` +
				`spec.probe.protocol of webs/default/web was not set at 10.0 s (step 4), since 2.1 s; expected: "HTTP2".`,
			history: []narrate.Line{
				{At: 1, What: "kube-apiserver v1.90.1, resourceVersion 1", Text: `"HTTP2"`},
				{At: 2.1, What: "kube-apiserver v1.90.1, resourceVersion 2, written in step 1 (label: patch webs/default/web with {})", Text: "not set", Tone: narrate.Changed},
			},
		},
		"a field that a webhook removed from a new object": {
			happened: func(h *history) {
				h.start(0, "kube-apiserver", "v1.90.1", nil)
				h.step(1, 1, "create", "create Pod web")
				h.at(1, "injector", record.WebhookCalled{Object: "pods/default/web", Allowed: true, Patch: []string{"replace /spec/probe"}})
				h.showProbe(1.1, "1", "")
			},
			expected: `at once: pods["web"].spec.probe.protocol == "HTTP2"`, observed: `no such key: protocol`,
			want: `Webhook injector had spec.probe.protocol of pod default/web changed before it was stored. ` +
				`spec.probe.protocol of pod default/web was not set at 10.0 s (step 4); expected: "HTTP2".`,
		},
		"a field that was put into etcd": {
			happened: func(h *history) {
				h.start(0, "kube-apiserver", "v1.90.1", nil)
				h.showProbe(1, "1", `"protocol":"HTTP2"`)
				h.step(2, 1, "left", "store pods/default/web")
				h.at(2, "left", record.APIAnswer{Object: "pods/default/web", Stored: true, Code: 200, Response: map[string]any{"metadata": map[string]any{"resourceVersion": "2"}}})
				h.showProbe(2.1, "2", "")
			},
			expected: `at once: pods["web"].spec.probe.protocol == "HTTP2"`, observed: `no such key: protocol`,
			want: `spec.probe.protocol of pod default/web was lost at 2.1 s, when the object was put into etcd in step 1 (left: store pods/default/web); until then, it was "HTTP2" in storage. ` +
				`spec.probe.protocol of pod default/web was not set at 10.0 s (step 4), since 2.1 s; expected: "HTTP2".`,
			history: []narrate.Line{
				{At: 1, What: "kube-apiserver v1.90.1, resourceVersion 1", Text: `"HTTP2"`},
				{At: 2.1, What: "kube-apiserver v1.90.1, resourceVersion 2, written in step 1 (left: store pods/default/web)", Text: "not set", Tone: narrate.Bad},
			},
		},
		"a field that several API servers serve": {
			happened: func(h *history) {
				h.start(0, "kube-apiserver/a", "v1.90.1", nil)
				h.start(0, "kube-apiserver/b", "v1.89.3", nil)
				h.at(0, "kube-apiserver/a", record.Observing{})
				h.showProbe(1, "1", `"protocol":"HTTP2"`)
				h.showProbe(2, "2", "")
				h.at(3, "kube-apiserver/b", record.Observing{})
				h.showProbe(3.1, "2", `"protocol":"HTTP1"`)
			},
			expected: `at once: pods["web"].spec.probe.protocol == "HTTP2"`, observed: `"HTTP1"`,
			want: `spec.probe.protocol of pod default/web, which was "HTTP2", was no longer set at 2.0 s; the record does not say who wrote it; ` +
				`kube-apiserver/b v1.89.3 showed "HTTP1" from 3.1 s. ` +
				`spec.probe.protocol of pod default/web was "HTTP1" at 10.0 s (step 4), since 3.1 s; expected: "HTTP2".`,
			history: []narrate.Line{
				{At: 1, What: "kube-apiserver/a v1.90.1, resourceVersion 1", Text: `"HTTP2"`},
				{At: 2, What: "kube-apiserver/a v1.90.1, resourceVersion 2, written", Text: "not set", Tone: narrate.Changed},
				{At: 3.1, What: "kube-apiserver/b v1.89.3, resourceVersion 2, not written since: a default on read", Text: `"HTTP1"`},
			},
		},
		"a field that was written through one of several API servers": {
			happened: func(h *history) {
				h.start(0, "kube-apiserver/a", "v1.90.1", nil)
				h.start(0, "kube-apiserver/b", "v1.89.3", nil)
				h.at(0, "kube-apiserver/a", record.Observing{})
				h.showProbe(1, "1", `"protocol":"HTTP2"`)
				h.step(2, 1, "label", "patch pods/default/web with {}")
				h.at(2, "label", record.APIAnswer{Object: "pods/default/web", Server: "kube-apiserver/b", Code: 200, Response: map[string]any{"metadata": map[string]any{"resourceVersion": "2"}}})
				h.showProbe(2.1, "2", "")
			},
			expected: `at once: pods["web"].spec.probe.protocol == "HTTP2"`, observed: `no such key: protocol`,
			want: `kube-apiserver/b v1.89.3 lost spec.probe.protocol of pod default/web at 2.1 s, when it wrote the object in step 1 (label: patch pods/default/web with {}); until then, it was "HTTP2" in storage. ` +
				`spec.probe.protocol of pod default/web was not set at 10.0 s (step 4), since 2.1 s; expected: "HTTP2".`,
			history: []narrate.Line{
				{At: 1, What: "kube-apiserver/a v1.90.1, resourceVersion 1", Text: `"HTTP2"`},
				{At: 2.1, What: "kube-apiserver/a v1.90.1, resourceVersion 2, written in step 1 (label: patch pods/default/web with {})", Text: "not set", Tone: narrate.Bad},
			},
		},
		"a message": {
			happened: func(h *history) {
				h.start(0, "kubelet/node-a", "v1.90.1", nil)
				h.from("agent/node-a", 2, "late", record.PodsEvent{Type: "ADDED", Pod: json.RawMessage(`{"metadata": {"name": "web", "namespace": "default", "resourceVersion": "12"}, "status": {"phase": "Running"}}`)})
				h.step(4, 1, "1", "patch pods/default/web with {}")
			},
			expected: `within 1s: watches["late"].pods["web"].metadata.labels["x"] == "yes"`, observed: "no such key: labels",
			want: `kubelet/node-a v1.90.1: WatchPods sent client "late" no message about pod default/web in the 1.0 s after patch pods/default/web; expected: label x "yes". ` +
				`Label x of pod default/web, as the Pods API sent it to client "late" (step late), did not become "yes" in the 1.0 s after step 1 (patch pods/default/web with {}) at 4.0 s, until 10.0 s: it was not set. ` +
				`In these 1.0 s, no message about the pod came; the last before was ADDED of pod default/web (resourceVersion 12, Running, label x: not set) at 2.0 s. The Pods API is that of kubelet/node-a v1.90.1.`,
		},
		"a message after two steps": {
			happened: func(h *history) {
				h.from("agent/node-a", 2, "late", record.PodsEvent{Type: "ADDED", Pod: json.RawMessage(`{"metadata": {"name": "web", "namespace": "default"}}`)})
			},
			then: func(h *history) {
				h.step(11, 5, "5", "patch pods/default/web with {}")
				h.at(12.5, "6", record.StepStarted{Number: 6, Name: "6", Action: "delete pods/default/web"})
				h.from("agent/node-a", 12.5, "late", record.PodsEvent{Type: "MODIFIED", Pod: json.RawMessage(`{"metadata": {"name": "web", "namespace": "default"}}`)})
			},
			expected: `within 1s: watches["late"].pods["web"].metadata.labels["x"] == "yes"`, observed: "no such key: labels",
			want: `In these 1.0 s, no message about the pod came; the last before was ADDED of pod default/web (label x: not set) at 2.0 s; the next was MODIFIED of pod default/web (label x: not set) at 12.5 s, ` +
				`after step 5 (patch pods/default/web with {}) at 11.0 s; step 6 (delete pods/default/web) began in the same millisecond. The Pods API is that of node-a.`,
		},
		"messages in the window": {
			happened: func(h *history) {
				for i := range 6 {
					h.from("agent/node-a", 9.2+float64(i)/100, "late", record.PodsEvent{Type: "MODIFIED", Pod: json.RawMessage(fmt.Sprintf(`{"metadata": {"name": "web", "namespace": "default", "resourceVersion": "%d", "labels": {"x": "no"}}}`, i))})
				}
			},
			expected: `within 1s: watches["late"].pods["web"].metadata.labels["x"] == "yes"`, observed: `"no"`,
			want: `Label x of pod default/web, as the Pods API sent it to client "late" (step late), did not become "yes" in the 1.0 s, until 10.0 s: it was "no", since 9.200 s. ` +
				`Messages about the pod in the window: MODIFIED of pod default/web (resourceVersion 2, label x: "no") at 9.220 s, MODIFIED of pod default/web (resourceVersion 3, label x: "no") at 9.230 s, ` +
				`MODIFIED of pod default/web (resourceVersion 4, label x: "no") at 9.240 s, MODIFIED of pod default/web (resourceVersion 5, label x: "no") at 9.250 s, after 2 others. The Pods API is that of node-a.`,
		},
		"a container": {
			happened: func(h *history) {
				h.start(0, "kubelet/node-a", "v1.90.1", nil)
				h.show(2, "pods/default/web", "added", `{"metadata":{"name":"web","namespace":"default"},"spec":{"nodeName":"node-a"},"status":{"phase":"Running","containerStatuses":[{"name":"app","ready":false}]}}`)
				h.at(9.3, "default/web/app", connection(9.2, record.Connection{Port: 80, First: record.FirstHTTP2, CloseReason: record.ServerClosed}))
			},
			expected: `within 1s: pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) == [true]`, observed: "[false]",
			want: `Container app of pod default/web never got ready in 1.0 s on kubelet/node-a v1.90.1. ` +
				`Ready of container app of pod default/web did not become true in the 1.0 s, until 10.0 s: it was false; the first probe that failed began at 9.2 s. ` +
				`1 of 1 attempt of default/web/app failed; most often (1), unknown client :80: HTTP/2 preface, ended by the server.`,
		},
		"a wrong clock": {
			clocks:   "8s behind",
			expected: `always for 9s: nodes.size() == 1`, observed: "0",
			want: `nodes.size() was 0 at 10.0 s; expected: 1, for 9 s from 9.0 s. The scenario itself did nothing until then, but the nodes' clocks were 8s behind from the start.`,
		},
		"something long": {
			expected: `always for 9s: nodes.filter(n, nodes[n].ready != "True" && n != "some-node-whose-name-is-long").size() == 1`, observed: "0",
			want: `The number of nodes that c counts was 0 at 10.0 s; expected: 1, for 9 s from 9.0 s. The scenario itself had done nothing until then.`,
		},
		"a field of an answer": {
			happened: func(h *history) {
				written := func(at float64, n int, version, probe string) {
					h.at(at, "write", record.StepStarted{Number: n, Name: "write", Action: "patch pods/default/web with {}"})
					h.at(at, "write", record.APIAnswer{Object: "pods/default/web", Code: 200, Response: map[string]any{"metadata": map[string]any{"resourceVersion": version}}})
					h.show(at, "pods/default/web", "modified", `{"metadata":{"name":"web","namespace":"default","resourceVersion":"`+version+`"},"spec":{`+probe+`}}`)
				}
				h.start(0, "kube-apiserver", "v1.89.3", nil)
				written(1, 1, "1", `"mode":"TLS"`)
				written(2, 2, "2", ``)
			},
			expected: `at once: has(requests["write"].response.spec.mode) == true`, observed: "false",
			want: `kube-apiserver v1.89.3 lost spec.mode of pod default/web at 2.0 s, when it wrote the object in step 2 (write: patch pods/default/web with {}); until then, it was "TLS" in storage. ` +
				`spec.mode in the object that answered step 1, write was not set at 10.0 s (step 4); expected: any value.`,
			history: []narrate.Line{
				{At: 1, What: "kube-apiserver v1.89.3, resourceVersion 1, written in step 1 (write: patch pods/default/web with {})", Text: `"TLS"`},
				{At: 2, What: "kube-apiserver v1.89.3, resourceVersion 2, written in step 2 (write: patch pods/default/web with {})", Text: "not set", Tone: narrate.Bad},
			},
		},
		"what was never to be": {
			happened: func(h *history) {
				for i, ready := range []bool{false, true, false} {
					h.show(float64(2+i), "pods/default/web", "modified", fmt.Sprintf(`{"metadata":{"name":"web","namespace":"default","resourceVersion":"%d"},"status":{"containerStatuses":[{"name":"app","ready":%t}]}}`, i, ready))
				}
			},
			expected: `at once: history["pods/default/web"].exists(p, has(p.status.containerStatuses) && p.status.containerStatuses.exists(c, c.name == "app" && c.ready)) == false`, observed: "true",
			want: `Ready of container app of pod default/web was true from 3.0 s, which must never be (step 4, at 10.0 s). Pod default/web was not Ready at 10.0 s. The scenario itself had done nothing until then.`,
			history: []narrate.Line{
				{At: 2, What: "kube-apiserver, resourceVersion 0", Text: "false"},
				{At: 3, What: "kube-apiserver, resourceVersion 1, written", Text: "true"},
				{At: 4, What: "kube-apiserver, resourceVersion 2, written", Text: "false"},
			},
		},
		"samples of a metric": {
			expected: `at once: metrics["kubelet/node-a"]["prober_probe_total"].filter(s, s.labels["container"] == "app").map(s, s.labels["result"]) == ["failure"]`, observed: `["failed"]`,
			want: `Label result of metric prober_probe_total of kubelet/node-a was ["failed"] at 10.0 s (step 4); expected: ["failure"]. The scenario itself had done nothing until then.`,
		},
		"a member": {
			happened: func(h *history) { h.at(2, "default/web/app", record.ContainerStarted{}) },
			expected: `at once: containers.all(c, containers[c].starts > 1) == true`, observed: "false",
			want: `Starts of container web/app was 1 at 10.0 s (step 4), since 2.0 s; expected: > 1. The scenario itself had done nothing until then.`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := append(history{}, checked()[:1]...)
			if tc.happened != nil {
				tc.happened(&h)
			}
			result := outcome(reports.Fail)
			result.Checks[0].Expected, result.Checks[0].Observed = tc.expected, tc.observed
			h = append(h, checked()[1:]...)
			whole := strings.Join
			if tc.then != nil {
				tc.then(&h)
				whole = func(all []string, _ string) string { return all[len(all)-1] }
			}
			c := of(narrate.Input{Events: h, Result: result, Leases: narrate.LeasePlan{Clocks: tc.clocks}}).Checks[0]
			want(t, tc.want, whole(append([]string{c.Cause}, c.Because...), " "))
			want(t, tc.history, c.History)
		})
	}
}

// TestLostFieldHasALane: beside its object, with its values; and its check is bad from when
// the field was lost.
func TestLostFieldHasALane(t *testing.T) {
	t.Parallel()
	h := append(history{}, checked()[:1]...)
	for i, protocol := range []string{"HTTP2", "HTTP1"} {
		h.show(float64(2+2*i), "pods/default/web", "modified", fmt.Sprintf(`{"metadata":{"name":"web","namespace":"default","resourceVersion":"%d"},"spec":{"probe":{"protocol":%q}}}`, i, protocol))
	}
	result := outcome(reports.Fail)
	result.Checks[0].Expected, result.Checks[0].Observed = `at once: pods["web"].spec.probe.protocol == "HTTP2"`, `"HTTP1"`
	s := of(narrate.Input{Events: append(h, checked()[1:]...), Result: result})
	want(t, 4, s.Checks[0].Bad)
	i := slices.IndexFunc(s.Lanes, func(l narrate.Lane) bool { return l.Name == "pods/default/web/probe.protocol" })
	if i < 1 || s.Lanes[i-1].Name != "pods/default/web" {
		t.Fatalf("the field has no lane beside its object: %+v", s.Lanes)
	}
	want(t, []narrate.Span{
		{From: 2, To: 4, Label: `"HTTP2"`, Detail: "kube-apiserver, resourceVersion 0", Tone: narrate.Good},
		{From: 4, To: s.Seconds, Label: `"HTTP1"`, Detail: "kube-apiserver, resourceVersion 1, written", Tone: narrate.Bad},
	}, s.Lanes[i].Spans)
}

// TestAttemptsAreCountedUntilTheCheckAndTheEnd: a check that waits went wrong with the first of
// them that failed since the last good one, not with the value that it had before any.
func TestAttemptsAreCountedUntilTheCheckAndTheEnd(t *testing.T) {
	t.Parallel()
	h := append(history{}, checked()[:1]...)
	h.show(2, "pods/default/web", "added", `{"metadata":{"name":"web","namespace":"default"},"status":{"phase":"Running","containerStatuses":[{"name":"app","ready":false}]}}`)
	h = append(h, checked()[1:3]...)
	failed := func(at float64) {
		h.at(at+0.1, "default/web/app", connection(at, record.Connection{Port: 80, First: record.FirstHTTP2, CloseReason: record.ServerClosed}))
	}
	failed(9.2)
	failed(9.4)
	h = append(h, checked()[3])
	failed(12)
	h.at(30, "", record.CellEnded{})
	result := outcome(reports.Fail)
	result.Checks[0].Expected, result.Checks[0].Observed = `within 1s: pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) == [true]`, "[false]"
	c := of(narrate.Input{Events: h, Result: result}).Checks[0]
	want(t, narrate.Tally{First: 9.2, Failed: 2, All: 2, FailedByEnd: 3, AllByEnd: 3}, c.Tally)
	want(t, 9.2, c.Bad)
	if last := c.Because[len(c.Because)-1]; !strings.HasPrefix(last, "2 of 2 attempts of default/web/app failed by 10.0 s, 3 of 3 by the end; most often (2)") {
		t.Errorf("it says %q", last)
	}
}

// showProbe shows a version of a pod with fields of a probe.
func (h *history) showProbe(at float64, version, probe string) {
	h.show(at, "pods/default/web", "modified", `{"metadata":{"name":"web","namespace":"default","resourceVersion":"`+version+`"},"spec":{"probe":{`+probe+`}}}`)
}
