package check

import (
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// TestOnALateMachine: a restart after a probe that waited in vain for a healthy server, and
// a time that was measured, say nothing of the subject. Everything else that was seen does.
func TestOnALateMachine(t *testing.T) {
	t.Parallel()
	asked := func(edit func(*record.Connection)) record.Connection {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := record.Connection{
			Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, CloseReason: record.ClientClosed,
			Opened: at, Closed: at.Add(time.Second), Requests: []record.Request{{Method: "GET", Path: "/", Started: at}},
		}
		edit(&c)
		return c
	}
	unanswered := asked(func(*record.Connection) {})
	late := asked(func(c *record.Connection) {
		c.Requests = []record.Request{{Status: 200, Duration: behavior.Duration(1200 * time.Millisecond)}}
	})
	silent := asked(func(c *record.Connection) { c.Requests = nil })
	brief := asked(func(c *record.Connection) { c.Requests, c.Closed = nil, c.Opened })
	answered := asked(func(c *record.Connection) { c.Requests[0].Status = 200 })
	faulty := asked(func(c *record.Connection) { c.Fault = behavior.StallHandshake })
	tcp := asked(func(c *record.Connection) { c.Protocol, c.Requests = behavior.TCP, nil })

	const vain = "s a client waited in vain for tls/app, whose server was to answer at once"
	now := func(observe string) action.Check {
		return action.Check{ID: "c", Observe: observe, Is: "x", Mode: record.Now}
	}
	all := now(`string(containers.filter(name, containers[name].starts != 1).size())`)
	status := now(`pods["tls"].status.phase`)
	for name, tc := range map[string]struct {
		check  action.Check
		seen   record.Connection
		delay  time.Duration // of the server
		timely bool
		why    string // why it is unknown; empty if it has failed
	}{
		"a probe without an answer":    {check: restarts(record.Now, 0), seen: unanswered, why: vain},
		"an answer that came too late": {check: restarts(record.Now, 0), seen: late, why: vain},
		"a server that did not read":   {check: restarts(record.Now, 0), seen: silent, why: vain},
		"a restart while it is watched": {
			check: restarts(record.Always, time.Second), seen: unanswered, why: vain,
		},
		"all containers":                {check: all, seen: unanswered, why: vain},
		"the status of the pod":         {check: status, seen: unanswered, why: vain},
		"the status of another pod":     {check: now(`pods["other"].status.phase`), seen: unanswered},
		"the spec of the pod":           {check: now(`pods["tls"].spec.nodeName`), seen: unanswered},
		"an answer of the API server":   {check: now(`string(requests["tls"].code)`), seen: unanswered},
		"a machine that was in time":    {check: restarts(record.Now, 0), seen: unanswered, timely: true},
		"a server that has answered":    {check: restarts(record.Now, 0), seen: answered},
		"a server that stalls":          {check: restarts(record.Now, 0), seen: faulty},
		"a server that is set to delay": {check: restarts(record.Now, 0), seen: unanswered, delay: 2 * time.Second},
		"a server that waits briefly":   {check: restarts(record.Now, 0), seen: unanswered, delay: time.Millisecond, why: vain},
		"a connection that was left":    {check: restarts(record.Now, 0), seen: brief},
		"a port without a protocol":     {check: restarts(record.Now, 0), seen: tcp},
		"a time that is computed": {
			check: now(`string(connections["tls/app"].map(c, timestamp(c.closed) - timestamp(c.opened)).size())`), seen: answered, why: "; the check measures a time",
		},
		"a time that is read":              {check: now(`string(containers["tls/app"].execs.map(e, e.seconds).size())`), seen: answered, why: "; the check measures a time"},
		"what came after a moment":         {check: now(`string(connections["tls/app"].filter(c, c.at > since).size())`), seen: answered},
		"a difference that is not of time": {check: now(`string(connections["tls/app"].size() - 1)`), seen: answered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Compile(plan.Cell{
				ID: "a/b/c", File: "c.yaml", Steps: []plan.Step{{Number: 1, Name: "1", Action: action.Checks{Checks: []action.Check{tc.check}}}},
				Images: []spec.Image{{Listen: []behavior.Listener{{Port: 8080, Phases: behavior.Timeline{{Delay: behavior.Duration(tc.delay)}}}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := Judge(t.Context(), p, story(func(h *record.History) {
				started(h)
				opened(h, tc.check.ID)
				h.Append("server", "default/tls/app", tc.seen)
				started(h)
				if tc.check.Mode == record.Now {
					opened(h, tc.check.ID)
				}
				closed(h, tc.check.ID, time.Duration(tc.check.Span))
				if !tc.timely {
					h.Append("engine", "", record.Lateness{Worst: 7})
				}
			})).Checks[0]
			want := reports.Fail
			if tc.why != "" {
				want = reports.Unknown
			}
			if got.Outcome != want || !strings.HasSuffix(got.Reason, tc.why) {
				t.Errorf("got %s, because %q; want %s, because it ends with %q", got.Outcome, got.Reason, want, tc.why)
			}
		})
	}
}
