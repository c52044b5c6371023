package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// cellWith is a cell with one step of checks.
func cellWith(t *testing.T, checks ...action.Check) *Program {
	t.Helper()
	p, err := Compile(plan.Cell{ID: "a/b/c", File: "c.yaml", Steps: []plan.Step{
		{Number: 1, Name: "1", Action: action.Checks{Checks: checks}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// story tells a history: what happens in the one step of cellWith.
func story(tell func(*record.History)) []record.Event {
	var h record.History
	h.Append("engine", "1", record.StepStarted{Number: 1, Action: "checks"})
	tell(&h)
	h.Append("engine", "1", record.StepDone{Number: 1})
	h.Append("engine", "", record.CellEnded{})
	return h.Events()
}

func opened(h *record.History, id string) { h.Append("engine", id, record.CheckOpened{Step: 1}) }

func closed(h *record.History, id string, after time.Duration) {
	h.Append("engine", id, record.CheckClosed{Step: 1, Watched: after.Seconds()})
}

func started(h *record.History) {
	h.Append("runtime/node-a", "default/tls/app", record.ContainerStarted{})
}

func exited(h *record.History, signal string) {
	h.Append("runtime/node-a", "default/tls/app", record.ContainerExited{ExitCode: 2, Signal: signal, Reason: "Error"})
}

// restarts wants no restart, in different ways.
func restarts(mode record.Mode, span time.Duration) action.Check {
	return action.Check{
		ID: "restarts", Requirement: "X/1", Observe: `containers["tls/app"].restarts`, Is: 0, Mode: mode, Span: behavior.Duration(span),
	}
}

// restarted is about a restart, which must or must not be.
func restarted(mode record.Mode, span time.Duration) action.Check {
	c := restarts(mode, span)
	c.Is, c.Must = nil, "it >= 1"
	return c
}

// starts bounds the starts while the check is watched.
func starts(times int) action.Check {
	return action.Check{
		ID: "restarts", Observe: `containers["tls/app"].starts`, Mode: record.AtMost, Span: behavior.Duration(time.Second), Times: times,
	}
}

// grows wants starts while the check is watched.
func grows(times int) action.Check {
	c := starts(times)
	c.Mode = record.AtLeast
	return c
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	again := restarted(record.Eventually, time.Minute)
	for name, tc := range map[string]struct {
		check    action.Check
		tell     func(*record.History)
		want     reports.Outcome
		observed string
		reason   string
	}{
		"now, and it is": {
			check: restarts(record.Now, 0), want: reports.Pass, observed: "0",
			tell: func(h *record.History) { started(h); opened(h, "restarts"); closed(h, "restarts", 0) },
		},
		"now, and it is not": {
			check: restarts(record.Now, 0), want: reports.Fail, observed: "1",
			tell: func(h *record.History) { started(h); started(h); opened(h, "restarts"); closed(h, "restarts", 0) },
		},
		"what happens after now does not count": {
			check: restarts(record.Now, 0), want: reports.Pass, observed: "0",
			tell: func(h *record.History) { started(h); opened(h, "restarts"); started(h); closed(h, "restarts", 0) },
		},
		"always": {
			check: restarts(record.Always, time.Second), want: reports.Pass, observed: "0",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				exited(h, "")
				closed(h, "restarts", time.Second)
				started(h)
			},
		},
		"not always": {
			check: restarts(record.Always, time.Second), want: reports.Fail, observed: "1",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				exited(h, "SIGTERM")
				started(h)
				closed(h, "restarts", time.Second)
			},
		},
		"watched too short for always": {
			check: restarts(record.Always, time.Second), want: reports.Unknown, observed: "0", reason: "watched for less than 1s",
			tell: func(h *record.History) { started(h); opened(h, "restarts"); closed(h, "restarts", time.Second/2) },
		},
		"eventually": {
			check: again, want: reports.Pass, observed: "1",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				started(h)
				closed(h, "restarts", time.Second)
			},
		},
		"never": {
			check: again, want: reports.Fail, observed: "0",
			tell: func(h *record.History) { started(h); opened(h, "restarts"); closed(h, "restarts", time.Minute) },
		},
		"eventually, of a run that looked for something else": {
			check: again, want: reports.Unknown, observed: "0", reason: StoppedWatching,
			tell: func(h *record.History) { started(h); opened(h, "restarts"); closed(h, "restarts", time.Second) },
		},
		"eventually, but too late": {
			check: again, want: reports.Fail, observed: "0",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				closed(h, "restarts", time.Minute)
				started(h)
			},
		},
		"never, and it is not": {
			check: restarted(record.Never, time.Second), want: reports.Pass, observed: "0",
			tell: func(h *record.History) { started(h); opened(h, "restarts"); closed(h, "restarts", time.Second) },
		},
		"never, and it is": {
			check: restarted(record.Never, time.Second), want: reports.Fail, observed: "1",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				started(h)
				started(h)
				closed(h, "restarts", time.Second)
			},
		},
		"never, of what is not there": {
			check: restarted(record.Never, time.Second), want: reports.Fail, observed: "no such key: tls/app",
			tell: func(h *record.History) { opened(h, "restarts"); closed(h, "restarts", time.Second) },
		},
		"watched too short for never": {
			check: restarted(record.Never, time.Second), want: reports.Unknown, observed: "0", reason: "watched for less than 1s",
			tell: func(h *record.History) { started(h); opened(h, "restarts"); closed(h, "restarts", time.Second/2) },
		},
		"as many as it may be": {
			check: starts(2), want: reports.Pass, observed: "2 more, from 1 to 3",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				started(h)
				started(h)
				closed(h, "restarts", time.Second)
				started(h)
			},
		},
		"one more than it may be": {
			check: starts(1), want: reports.Fail, observed: "2 more, from 1 to 3",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				started(h)
				started(h)
				closed(h, "restarts", time.Second)
			},
		},
		"as many more as it has to be": {
			check: grows(1), want: reports.Pass, observed: "1 more, from 2 to 3",
			tell: func(h *record.History) {
				started(h)
				started(h)
				opened(h, "restarts")
				started(h)
				closed(h, "restarts", time.Second/2)
			},
		},
		"what was not there grows from nothing": {
			check: grows(1), want: reports.Pass, observed: "1 more, from 0 to 1",
			tell: func(h *record.History) { opened(h, "restarts"); started(h); closed(h, "restarts", time.Second/2) },
		},
		"what was not there may not grow": {
			check: starts(1), want: reports.Fail, observed: "no such key: tls/app",
			tell: func(h *record.History) { opened(h, "restarts"); started(h); closed(h, "restarts", time.Second) },
		},
		"what came before does not count": {
			check: grows(1), want: reports.Fail, observed: "0 more, from 2 to 2",
			tell: func(h *record.History) {
				started(h)
				started(h)
				opened(h, "restarts")
				closed(h, "restarts", time.Second)
			},
		},
		"growth of what is no number": {
			check: action.Check{ID: "restarts", Observe: `containers["tls/app"].running`, Mode: record.AtMost, Span: behavior.Duration(time.Second), Times: 1},
			want:  reports.Fail, observed: "true, which is not an integer, or was not one before",
			tell: func(h *record.History) { started(h); opened(h, "restarts"); closed(h, "restarts", time.Second) },
		},
		"what is asked about is not there": {
			check: restarts(record.Now, 0), want: reports.Fail, observed: "no such key: tls/app",
			tell: func(h *record.History) { opened(h, "restarts"); closed(h, "restarts", 0) },
		},
		"never opened": {
			check: restarts(record.Now, 0), want: reports.Unknown, reason: "the cell ended before the check was decided",
			tell: func(*record.History) {},
		},
		"a late machine fails no check": {
			check: again, want: reports.Unknown, observed: "0",
			reason: "the machine was too late to be trusted: timers fired 0.02 s late on average and 7.00 s at worst, with 1.5 threads for each processor",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				closed(h, "restarts", time.Minute)
				h.Append("engine", "", record.Lateness{Mean: 0.02, Worst: 7, Queue: 1.5})
			},
		},
		"a late machine may have missed what should stay away": {
			check: restarts(record.Always, time.Second), want: reports.Unknown, observed: "0",
			reason: "the machine was too late to be trusted: timers fired 0.30 s late on average and 1.00 s at worst, with 0.0 threads for each processor",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				closed(h, "restarts", time.Second)
				h.Append("engine", "", record.Lateness{Mean: 0.3, Worst: 1})
			},
		},
		"threads that wait are not lateness": {
			check: again, want: reports.Fail, observed: "0",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				closed(h, "restarts", time.Minute)
				h.Append("engine", "", record.Lateness{Mean: 0.08, Worst: 1, Queue: 40})
			},
		},
		"what stayed away while threads waited stayed away": {
			check: restarts(record.Always, time.Second), want: reports.Pass, observed: "0",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				closed(h, "restarts", time.Second)
				h.Append("engine", "", record.Lateness{Mean: 0.08, Worst: 1, Queue: 40})
			},
		},
		"what should stay away is seen however late the machine": {
			check: restarts(record.Always, time.Second), want: reports.Fail, observed: "1",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				started(h)
				closed(h, "restarts", time.Second)
				h.Append("engine", "", record.Lateness{Worst: 7})
			},
		},
		"what is so at once is seen however late the machine": {
			check: restarts(record.Now, 0), want: reports.Fail, observed: "1",
			tell: func(h *record.History) {
				started(h)
				started(h)
				opened(h, "restarts")
				closed(h, "restarts", 0)
				h.Append("engine", "", record.Lateness{Worst: 7})
			},
		},
		"a late machine does not spoil a pass": {
			check: again, want: reports.Pass, observed: "1",
			tell: func(h *record.History) {
				started(h)
				opened(h, "restarts")
				started(h)
				closed(h, "restarts", time.Minute)
				h.Append("engine", "", record.Lateness{Worst: 7})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := Judge(t.Context(), cellWith(t, tc.check), story(tc.tell))
			if len(verdict.Checks) != 1 || verdict.Outcome != "" {
				t.Fatalf("verdict %+v, want one check and no word on the cell", verdict)
			}
			got := verdict.Checks[0]
			if got.Outcome != tc.want || got.Observed != tc.observed || got.Reason != tc.reason {
				t.Errorf("got %s, observed %q, reason %q\nwant %s, observed %q, reason %q",
					got.Outcome, got.Observed, got.Reason, tc.want, tc.observed, tc.reason)
			}
		})
	}
}

func TestAnInterruptedCellIsNotJudged(t *testing.T) {
	t.Parallel()
	p := cellWith(t, restarts(record.Now, 0))
	for name, tc := range map[string]struct {
		events  []record.Event
		outcome reports.Outcome
		reason  string
	}{
		"nothing was recorded": {outcome: reports.HarnessError, reason: "before its first step"},
		"the rig did not start": {
			events:  endedWith(nil, record.CellEnded{Error: "starting the rig: etcd is gone"}),
			outcome: reports.HarnessError, reason: "starting the rig: etcd is gone",
		},
		"killed in a step":   {events: story(started)[:2], outcome: reports.HarnessError, reason: "in or after step 1 (checks)"},
		"killed at the end":  {events: story(started)[:3], outcome: reports.HarnessError, reason: "in or after step 1 (checks)"},
		"something was left": {events: endedWith(story(started)[:3], record.CellEnded{Error: "a port"}), outcome: reports.HarnessError, reason: "a port"},
		"a user ended it": {
			events:  endedWith(story(started)[:2], record.CellEnded{Error: "interrupt", Interrupted: true}),
			outcome: reports.Unknown, reason: "broken off: interrupt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := Judge(t.Context(), p, tc.events)
			if verdict.Outcome != tc.outcome || !strings.Contains(verdict.Reason, tc.reason) {
				t.Errorf("verdict %s: %q, want %s that says %q", verdict.Outcome, verdict.Reason, tc.outcome, tc.reason)
			}
		})
	}
}

// TestWhatWasSoBeforeTheFaultProvesNothing: etcd is started again before it is missed.
func TestWhatWasSoBeforeTheFaultProvesNothing(t *testing.T) {
	t.Parallel()
	running := action.Check{ID: "goes-on", Observe: `containers["tls/app"].running`, Is: true, Mode: record.Eventually, Span: behavior.Duration(time.Minute)}
	p := cellWith(t, running)
	for name, tc := range map[string]struct {
		fault record.Payload
		away  float64 // seconds
		began bool    // the program was there before
		want  reports.Outcome
	}{
		"away for a moment":   {record.ComponentStopped{Asked: true}, 0.14, true, reports.Unknown},
		"away for long":       {record.ComponentStopped{Asked: true}, 2, true, reports.Pass},
		"came with the fault": {record.ComponentStopped{Asked: true}, 0.14, false, reports.Pass},
		"ended by itself":     {record.ComponentStopped{}, 0.14, true, reports.Pass},
		"cut off":             {record.FaultBegan{Fault: record.LinkFault{Cut: record.CutDrop}}, 0.14, true, reports.Unknown},
		"slow":                {record.FaultBegan{Fault: record.LinkFault{Delay: time.Second}}, 0.14, true, reports.Unknown},
		"cut off for long":    {record.FaultBegan{Fault: record.LinkFault{Cut: record.CutDrop}}, 2, true, reports.Pass},
		"came with the cut":   {record.FaultBegan{Fault: record.LinkFault{Cut: record.CutDrop}}, 0.14, false, reports.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := func(after float64, subject string, payload record.Payload) record.Event {
				data, err := json.Marshal(payload)
				if err != nil {
					t.Fatal(err)
				}
				at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(after * float64(time.Second)))
				return record.Event{At: at, Kind: payload.EventKind(), Subject: subject, Data: data}
			}
			app := func(at float64) record.Event { return event(at, "default/tls/app", record.ContainerStarted{}) }
			events := []record.Event{event(1, "etcd", record.ComponentStarted{}), event(2, "stop", record.StepStarted{Number: 1}), event(2, "etcd", tc.fault)}
			if tc.began {
				events = slices.Insert(events, 1, app(1))
			} else {
				events = append(events, app(2))
			}
			events = append(events, event(2, "checks", record.StepStarted{Number: 2}), event(2, "goes-on", record.CheckOpened{Step: 2}),
				event(2+tc.away, "goes-on", record.CheckClosed{Step: 2}), event(9, "", record.CellEnded{}))
			if got := Judge(t.Context(), p, events).Checks[0]; got.Outcome != tc.want {
				t.Errorf("%s (%s), want %s", got.Outcome, got.Reason, tc.want)
			}
		})
	}
}

// TestAFaultThatDidNothingProvesNothing: what was seen while it lasted is not
// what the scenario is about.
func TestAFaultThatDidNothingProvesNothing(t *testing.T) {
	t.Parallel()
	p := cellWith(t, restarts(record.Now, 0))
	for effect, want := range map[record.Effect]reports.Outcome{{}: reports.Unknown, {Withheld: 1}: ""} {
		verdict := Judge(t.Context(), p, story(func(h *record.History) {
			started(h)
			h.Append("link", "kubelet/node-a->kube-apiserver", record.FaultEnded{Fault: record.LinkFault{Cut: record.CutDrop}, Effect: effect})
			opened(h, p.cell.Steps[0].Action.(action.Checks).Checks[0].ID)
			closed(h, p.cell.Steps[0].Action.(action.Checks).Checks[0].ID, 0)
		}))
		if said := strings.Contains(verdict.Reason, "kubelet/node-a->kube-apiserver (drop) had no effect"); verdict.Outcome != want || said != (want != "") {
			t.Errorf("effect %+v: %s: %q, want %q", effect, verdict.Outcome, verdict.Reason, want)
		}
	}
}

// endedWith is a history that ends as given.
func endedWith(events []record.Event, ended record.CellEnded) []record.Event {
	var h record.History
	h.Append("engine", "", ended)
	return slices.Concat(events, h.Events())
}

// TestExpressionsSee shows every variable of the language with a value.
func TestExpressionsSee(t *testing.T) {
	t.Parallel()
	events := story(func(h *record.History) {
		started(h)
		exited(h, "SIGTERM")
		h.Append("server", "default/tls/app", record.Connection{
			First: "tls-client-hello", Requests: []record.Request{{Status: 200}},
			Handshake: &record.Handshake{Version: "1.3"},
		})
		h.Append("runtime/node-a", "default/idle/app", record.ContainerStarted{})
		h.Append("server", "default/quiet/app", record.Connection{First: "nothing"})
		object(h, "pods", "default", "tls", `{"spec":{"containers":[{"name":"app","livenessProbe":{"grpc":{"port":5000,"mode":"TLS"}}}]}}`)
		object(h, "pods", "other", "web", `{"spec":{}}`)
		object(h, "deployments", "default", "web", `{"spec":{"replicas":3}}`)
		object(h, "events", "default", "tls.1", `{"involvedObject":{"kind":"Pod","namespace":"default","name":"tls"},"reason":"Unhealthy","message":"Liveness probe failed","count":1}`)
		object(h, "events", "default", "tls.1", `{"involvedObject":{"kind":"Pod","namespace":"default","name":"tls"},"reason":"Unhealthy","message":"Liveness probe failed","count":2}`)
		object(h, "events", "default", "node.1", `{"involvedObject":{"kind":"Node","name":"tls"},"reason":"Starting"}`)
		h.Append("engine", "create", record.APIAnswer{Code: 422, Causes: []record.APICause{{Field: "spec"}}})
		h.Append("engine", "made", record.APIAnswer{Code: 201, Object: "pods/default/made"})
		h.Append("cluster", "kubelet/node-a", record.ComponentStarted{Version: "v1.89.3"})
		h.Append("engine", "kubelet/node-a", record.Scraped{Metrics: map[string][]record.Sample{"up": {{Labels: map[string]string{"a": "b"}, Value: 1}}}})
		for _, id := range []string{"seen"} {
			opened(h, id)
			closed(h, id, 0)
		}
	})
	for observe, want := range map[string]string{
		`containers["tls/app"]`: `{"execs":[],"exits":[{"code":2,"reason":"Error","signal":"SIGTERM"}],"pods":1,"processes":[],"restarts":0,"running":false,"starts":1}`,
		`containers["tls/app"].execs.all(e, e.code == 0 && e.args[0] == "x")`: `true`,
		`connections["tls/app"].map(c, c.first)`:                              `["tls-client-hello"]`,
		`connections["tls/app"][0].requests[0].status`:                        `200`,
		`connections["quiet/app"][0].requests`:                                `[]`,
		`connections["idle/app"]`:                                             `[]`,
		`pods["tls"].spec.containers[0].livenessProbe.grpc.mode`:              `"TLS"`,
		`has(pods["tls"].spec.containers[0].livenessProbe.grpc.service)`:      `false`,
		`"other/web" in pods`:                                                 `true`,
		`objects["deployments/default/web"].spec.replicas`:                    `3`,
		`events["tls"]`:                        `[{"count":2,"message":"Liveness probe failed","reason":"Unhealthy","type":""}]`,
		`events["other/web"].size()`:           `0`,
		`events["made"].size()`:                `0`,
		`requests["create"].causes[0].field`:   `"spec"`,
		`components["kubelet/node-a"].version`: `"v1.89.3"`,
		`history["pods/default/tls"].size()`:   `1`,
		`metrics["kubelet/node-a"]["up"].exists(s, s.labels["a"] == "b" && s.value > 0.5)`: `true`,
		`int(metrics["kubelet/node-a"]["up"][0].value) + 1`:                                `2`,
	} {
		t.Run(observe, func(t *testing.T) {
			t.Parallel()
			p := cellWith(t, action.Check{ID: "seen", Requirement: "X/1", Observe: observe, Must: "true", Mode: record.Now})
			got := Judge(t.Context(), p, events).Checks[0]
			if got.Observed != want || got.Outcome != reports.Pass {
				t.Errorf("%s is %s (%s), want %s", observe, got.Observed, got.Outcome, want)
			}
		})
	}
}

// TestANameThatWasNeverSeenIsNoEmptyList: a typing error must not pass for
// something that did not happen.
func TestANameThatWasNeverSeenIsNoEmptyList(t *testing.T) {
	t.Parallel()
	events := story(func(h *record.History) {
		started(h)
		h.Append("engine", "refused", record.APIAnswer{Code: 422, Object: "pods/default/tsl"})
		opened(h, "typo")
		closed(h, "typo", 0)
	})
	for _, observe := range []string{`connections["tsl/app"].size()`, `events["tsl"].size()`} {
		p := cellWith(t, action.Check{ID: "typo", Observe: observe, Is: 0, Mode: record.Now})
		if got := Judge(t.Context(), p, events).Checks[0]; got.Outcome != reports.Fail || !strings.Contains(got.Observed, "no such key: tsl") {
			t.Errorf("%s: %s, observed %s", observe, got.Outcome, got.Observed)
		}
	}
}

// TestTheContainersOfAReplacedPodGoOn: its name stays, and its counters go on, before the
// container of the other pod is started and after it. That is no restart.
func TestTheContainersOfAReplacedPodGoOn(t *testing.T) {
	t.Parallel()
	sandbox := func(h *record.History) { h.Append("runtime/node-a", "default/tls", record.SandboxStarted{}) }
	events := story(func(h *record.History) {
		sandbox(h)
		started(h)
		started(h)
		exited(h, "")
		sandbox(h)
		opened(h, "between")
		closed(h, "between", 0)
		started(h)
		opened(h, "after")
		closed(h, "after", 0)
	})
	for id, want := range map[string][]any{"between": {2, 1, 1, false}, "after": {3, 1, 2, true}} {
		p := cellWith(t, action.Check{ID: id, Mode: record.Now, Is: want, Observe: `[containers["tls/app"]].map(c, [c.starts, c.restarts, c.pods, c.running])[0]`})
		if got := Judge(t.Context(), p, events).Checks[0]; got.Outcome != reports.Pass {
			t.Errorf("%s: observed %s, want %v", id, got.Observed, want)
		}
	}
}

func TestWhatIsNotTheSubjectsFault(t *testing.T) {
	t.Parallel()
	p := cellWith(t, restarts(record.Now, 0))
	for name, tc := range map[string]struct {
		tell func(*record.History)
		want reports.Outcome
	}{
		"a fake server without a port": {
			tell: func(h *record.History) {
				h.Append("server", "default/tls/app", record.ListenFailed{Port: 5000, Error: "address already in use"})
			},
			want: reports.HarnessError,
		},
		"a link without file descriptors": {
			tell: func(h *record.History) {
				h.Append("link", "kubelet/a->kube-apiserver", record.LinkFailed{Error: "too many open files"})
			},
			want: reports.HarnessError,
		},
		"a wait in vain": {
			tell: func(h *record.History) {
				h.Append("engine", "1", record.StepDone{Number: 1, Error: "not within 60s", Unmet: true})
			},
			want: reports.Unknown,
		},
	} {
		if got := Judge(t.Context(), p, story(tc.tell)); got.Outcome != tc.want || got.Reason == "" {
			t.Errorf("%s: %s %q, want %s", name, got.Outcome, got.Reason, tc.want)
		}
	}
}

// TestWhatFailedBeforeAScenarioWasStuck: it is judged, and what was not reached is not.
func TestWhatFailedBeforeAScenarioWasStuck(t *testing.T) {
	t.Parallel()
	p := cellWith(t,
		action.Check{ID: "failed", Requirement: "X/1", Mode: record.Now, Observe: `"tls" in pods`, Is: true},
		action.Check{ID: "not-reached", Requirement: "X/1", Mode: record.Now, Observe: `"tls" in pods`, Is: false},
	)
	v := Judge(t.Context(), p, story(func(h *record.History) {
		opened(h, "failed")
		closed(h, "failed", 0)
		h.Append("engine", "2", record.StepDone{Number: 2, Error: "not within 60s", Unmet: true})
	}))
	if v.Outcome != "" || v.Checks[0].Outcome != reports.Fail {
		t.Errorf("cell %q, its check %s, want the check to decide", v.Outcome, v.Checks[0].Outcome)
	}
	if c := v.Checks[1]; c.Outcome != reports.Unknown || c.Reason != "step 2: not within 60s" {
		t.Errorf("the check that was not reached is %s: %s", c.Outcome, c.Reason)
	}
}

// TestWhatARunDidNotReachIsNoPass: what always holds may have broken later, and what broke before did.
func TestWhatARunDidNotReachIsNoPass(t *testing.T) {
	t.Parallel()
	of := func(tell func(*record.History)) []reports.Check {
		return Trusted(story(tell), []reports.Check{{ID: "oracle:a", Outcome: reports.Pass}, {ID: "oracle:b", Outcome: reports.Fail}})
	}
	got := of(func(h *record.History) {
		h.Append("engine", "2", record.StepDone{Number: 2, Error: "not within 60s", Unmet: true})
	})
	if got[0].Outcome != reports.Unknown || got[0].Reason != "step 2: not within 60s" || got[1].Outcome != reports.Fail {
		t.Errorf("in a run that was stuck: %+v", got)
	}
	if got := of(func(*record.History) {}); got[0].Outcome != reports.Pass {
		t.Errorf("in a whole run: %+v", got)
	}
}

// TestAnErrorOfTheRigBesideAWaitInVain: what failed before may come from the rig, so that it does not
// count.
func TestAnErrorOfTheRigBesideAWaitInVain(t *testing.T) {
	t.Parallel()
	p := cellWith(t, action.Check{ID: "failed", Requirement: "X/1", Mode: record.Now, Observe: `"tls" in pods`, Is: true})
	events := func(ended record.CellEnded) []record.Event {
		var h record.History
		h.Append("engine", "1", record.StepStarted{Number: 1, Action: "checks"})
		opened(&h, "failed")
		closed(&h, "failed", 0)
		h.Append("engine", "2", record.StepDone{Number: 2, Error: "not within 60s", Unmet: true})
		return endedWith(h.Events(), ended)
	}
	for name, tc := range map[string]struct {
		ended   record.CellEnded
		outcome reports.Outcome
	}{
		"the wait alone":   {record.CellEnded{Error: "step 2: not within 60s"}, ""},
		"a record is lost": {record.CellEnded{Error: "step 2: not within 60s\nnode-a: a record is lost", Rig: true}, reports.HarnessError},
		"an interrupt":     {record.CellEnded{Error: "interrupt", Rig: true, Interrupted: true}, reports.Unknown},
	} {
		v := Judge(t.Context(), p, events(tc.ended))
		if v.Outcome != tc.outcome || v.Outcome != "" && !strings.HasSuffix(v.Reason, tc.ended.Error) {
			t.Errorf("%s: %q: %s", name, v.Outcome, v.Reason)
		}
	}
}

func object(h *record.History, resource, namespace, name, text string) {
	h.Append("watch", resource+"/"+namespace+"/"+name, record.ObjectObserved{
		Change: "added", Resource: resource, Namespace: namespace, Name: name, Object: []byte(text),
	})
}

func TestADeletedObjectIsGone(t *testing.T) {
	t.Parallel()
	events := story(func(h *record.History) {
		object(h, "pods", "default", "tls", `{"spec":{}}`)
		h.Append("watch", "pods/default/tls", record.ObjectObserved{Change: "deleted", Resource: "pods", Namespace: "default", Name: "tls", Object: []byte(`{}`)})
		h.Append("cluster", "kubelet/node-a", record.ComponentStarted{})
		h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
		opened(h, "gone")
		closed(h, "gone", 0)
	})
	p := cellWith(t, action.Check{
		ID: "gone", Requirement: "X/1", Mode: record.Now, Is: []any{false, false, false},
		Observe: `["tls" in pods, "pods/default/tls" in objects, components["kubelet/node-a"].running]`,
	})
	if got := Judge(t.Context(), p, events).Checks[0]; got.Outcome != reports.Pass {
		t.Errorf("observed %s", got.Observed)
	}
}

// TestMistakesInExpressionsAreAllReported: each with the place of what is wrong, however
// the file writes the expression, and with what may have been meant.
func TestMistakesInExpressionsAreAllReported(t *testing.T) {
	t.Parallel()
	const text = `steps:
- wait: {until: 'pods[', within: 3s}
- checks:
  - {id: one, observe: containerz, is: 1}
  - id: two
    observe: >-
      size([1]) > 0 &&
      sise([2]) > 0
    is: true
  # Each of these would hold as long as there is no event.
  - {id: three, observe: "events[\"tls\"].filter(e, e.reson == \"Unhealthy\").size()", is: 0}
  - id: four
    observe: connections["tls/app"]
    must: |
      it.all(c,
        c.handshake.versions == "1.3")
  - {id: five, observe: 'containers["tls/app"].exits', must: it >= 1}
  - {id: six, observe: 'containers["tls/app"].starts', must: it}
- wait: {until: 'containers["tls/app"].starts'}
- wait: {until: 'containers["${pod}/app"].runningg'}
`
	_, err := Compile(plan.Cell{File: "c.yaml", Text: text, Steps: []plan.Step{
		{Number: 1, Line: 2, Action: action.Wait{Until: "pods["}},
		{Number: 2, Line: 3, Action: action.Checks{Checks: []action.Check{
			{ID: "one", Line: 4, Observe: "containerz", Is: 1},
			{ID: "two", Line: 5, Observe: "size([1]) > 0 && sise([2]) > 0", Is: true},
			{ID: "three", Line: 11, Observe: `events["tls"].filter(e, e.reson == "Unhealthy").size()`, Is: 0},
			{ID: "four", Line: 12, Observe: `connections["tls/app"]`, Must: "it.all(c,\n  c.handshake.versions == \"1.3\")\n"},
			{ID: "five", Line: 17, Observe: `containers["tls/app"].exits`, Must: "it >= 1"},
			{ID: "six", Line: 18, Observe: `containers["tls/app"].starts`, Must: "it"},
			{ID: "seven", Line: 18, Observe: `containers["tls/app"].starts`, Must: "value == 1"}, // a function's name
		}}},
		{Number: 3, Line: 19, Action: action.Wait{Until: `containers["tls/app"].starts`}},
		{Number: 4, Line: 20, Action: action.Wait{Until: `containers["tls/app"].runningg`}},
	}})
	const want = `c.yaml:2:23: wait until: syntax: it ends too early
c.yaml:4:24: check one: undeclared reference to 'containerz': did you mean containers?
c.yaml:8:11: check two: undeclared reference to 'sise': did you mean size?
c.yaml:11:54: check three: undefined field 'reson': did you mean reason?
c.yaml:16:20: check four: undefined field 'versions': did you mean version?
c.yaml:17:65: check five: found no matching overload for '_>=_' applied to '(list(timeline.Exit), int)'
c.yaml:18:62: check six: it is neither true nor false, it is a number
c.yaml:18:56: check seven: undeclared reference to 'value': did you mean orValue?
c.yaml:19:18: wait until: it is neither true nor false, it is a number
c.yaml:20:10: wait until: undefined field 'runningg': did you mean running?`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheTrackerAgreesWithTheJudge: what ends the watching live is what the
// judge finds later.
func TestTheTrackerAgreesWithTheJudge(t *testing.T) {
	t.Parallel()
	always, eventually := restarts(record.Always, time.Second), restarts(record.Eventually, time.Second)
	eventually.ID, eventually.Must = "eventually", "it >= 1"
	p := cellWith(t, always, eventually)
	var h record.History
	started(&h)
	w := NewTracker().Watch(t.Context(), p, action.Checks{Checks: []action.Check{always, eventually}}, h.Events())
	if w.Decided("restarts") || w.Decided("eventually") {
		t.Fatal("decided before anything happened")
	}
	exited(&h, "SIGTERM")
	w.Advance(t.Context(), h.Events())
	if w.Decided("restarts") || w.Decided("eventually") {
		t.Fatal("decided by an exit")
	}
	started(&h)
	w.Advance(t.Context(), h.Events())
	if !w.Decided("restarts") || !w.Decided("eventually") {
		t.Error("not decided by the restart")
	}
}

// TestAStopIsJudged: a component that ends in its time is as expected, and one that has
// to be killed, when the check is decided, is not.
func TestAStopIsJudged(t *testing.T) {
	t.Parallel()
	const kubelet = "kubelet/node-a"
	stop := action.Stop{Component: kubelet, Within: behavior.Duration(30 * time.Second), Step: "in time"}
	p, err := Compile(plan.Cell{ID: "a/b/c", File: "c.yaml", Steps: []plan.Step{{Number: 1, Name: "in time", Action: stop}}})
	if err != nil {
		t.Fatal(err)
	}
	ends := func(h *record.History) {
		h.Append("cluster", kubelet, record.ComponentStopped{Asked: true, Seconds: 0.4})
	}
	killed := func(h *record.History) {
		h.Append("cluster", kubelet, record.ComponentStopped{Code: -1, Signal: "SIGKILL", Asked: true, Seconds: 30, Overdue: true})
	}
	for name, tc := range map[string]struct {
		tell func(*record.History)
		want reports.Outcome
	}{
		"in time": {func(h *record.History) { ends(h); closed(h, "in-time-ended", 0) }, reports.Pass},
		"in vain": {func(h *record.History) { closed(h, "in-time-ended", 30*time.Second); killed(h) }, reports.Fail},
		"on a machine that is too late": {func(h *record.History) {
			closed(h, "in-time-ended", 30*time.Second)
			killed(h)
			h.Append("engine", "", record.Lateness{Worst: 4})
		}, reports.Unknown},
	} {
		got := Judge(t.Context(), p, story(func(h *record.History) {
			h.Append("cluster", kubelet, record.ComponentStarted{Version: "v1.90.1"})
			h.Append("cluster", kubelet, record.ComponentStopped{Asked: true})
			h.Append("cluster", kubelet, record.ComponentStarted{Version: "v1.90.1"})
			h.Append("engine", "in time", record.StepStarted{Number: 1, Name: "in time"})
			opened(h, "in-time-ended")
			tc.tell(h)
		}))
		if got.Outcome != "" || len(got.Checks) != 1 || got.Checks[0].ID != "in-time-ended" || got.Checks[0].Outcome != tc.want {
			t.Errorf("%s: %q %+v, want %s", name, got.Outcome, got.Checks, tc.want)
		}
	}
}

// TestAWaitThatCannotBeEvaluatedSaysWhy: with file, line, column, key and what to do.
func TestAWaitThatCannotBeEvaluatedSaysWhy(t *testing.T) {
	t.Parallel()
	const until = `objects["endpointslices/default/web"].endpoints.size() > 0`
	text := "steps:\n- wait:\n    until: '" + until + "'\n"
	p, err := Compile(plan.Cell{ID: "a/b/c", File: "c.yaml", Text: text, Steps: []plan.Step{{Number: 1, Name: "1", Line: 2, Action: action.Wait{Until: until}}}})
	if err != nil {
		t.Fatal(err)
	}
	now := expr.Vars(NewTracker().timeline)
	now["objects"] = map[string]any{"endpointslices/default/web": map[string]any{"endpoints": nil}}
	_, evalErr := expr.NewBudget(expr.MaxCost).Eval(t.Context(), "wait", p.waits[1], now)
	if evalErr == nil {
		t.Fatal("it was evaluated")
	}
	got := expr.Until(p.cell, p.cell.Steps[0]).Failed(evalErr, nil, now).Error()
	want := `c.yaml:3:13: wait until: no such overload: size: objects["endpointslices/default/web"].endpoints is null; null is not absent: ask for has(x.y) && x.y != null first`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
