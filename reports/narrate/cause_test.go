package narrate_test

import (
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
	rig.at(9.3, "default/web/app", connection(9.2, record.Connection{Port: 80, First: record.FirstHTTP2, CloseReason: record.ServerClosed}))
	rig = append(rig, checked()[3:]...)
	for expression, want := range map[string]string{
		`history["pods/default/web"].size()`:                    "Pod default/web was not Ready from 6.0 s to 10.0 s (ContainersNotReady: app).",
		`watches["late"].pods.size()`:                           "Until 10.0 s, late had 1 message from the Pods API; the last was ADDED at 7.0 s.",
		`metrics["kubelet/a"].filter(m, pods["web"].name == m)`: "",
		`dependents.all(d, dependents[d].replicas == 0)`:        "From 9.0 s to 10.0 s, the watchdog scaled nothing.",
		`calls["dependency-watchdog->kube-apiserver"].size()`:   "From 9.0 s to 10.0 s, the watchdog asked the API server nothing.",
		`pods["other"].ready`:                                   "",
		`connections["web/app"].exists(c, c.first == "tls")`:    `1 of 1 attempt of default/web/app failed; most often (1), unknown client :80: HTTP/2 preface, ended by the server.`,
	} {
		s := of(narrate.Input{Events: rig, Result: about(outcome(reports.Fail), expression)})
		if got := s.Checks[0].Cause; got != want {
			t.Errorf("%s: the cause is %q, want %q", expression, got, want)
		}
	}
	if s := of(narrate.Input{Events: rig, Result: about(outcome(reports.Pass), `pods["web"].ready`)}); s.Checks[0].Cause != "" {
		t.Errorf("what holds has the cause %q", s.Checks[0].Cause)
	}
}
