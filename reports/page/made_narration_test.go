package page

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// MadeNarration narrates a cell of a made-up run; of some, nothing was recorded. With a
// low limit it leaves out the objects.
func MadeNarration(c reports.Cell, _ reports.Run, limit int) (*narrate.Narration, error) {
	switch {
	case c.ID == "kep-2/api/lists/kubelet:v1.89.3":
		return nil, fmt.Errorf("reading the history: line 7: %s", Hostile)
	case c.Outcome == reports.HarnessError:
		return &narrate.Narration{Cell: c.ID, Began: began, Seconds: 1, Lanes: []narrate.Lane{{Name: Hostile, Kind: narrate.Component, Marks: []narrate.Mark{{At: 0.5, Label: Hostile, Detail: Hostile}}}},
			Attempts: []narrate.Attempt{{At: 0.5, Container: Hostile, By: Hostile, Expected: Hostile, Observed: Hostile, Wire: []narrate.Line{{What: Hostile, Text: Hostile}}}},
			Objects:  []narrate.Object{{Key: Hostile, Versions: []narrate.Version{{At: 0.5, Step: 1, Change: "added", YAML: Hostile}}}},
			Logs:     []narrate.Log{{Component: Hostile, Path: Hostile, Lines: []narrate.Line{{Text: Hostile, Tone: narrate.Bad}}}},
			Plan:     Hostile, Steps: []narrate.Step{{Number: 1, Action: Hostile, To: 1}}, Omitted: []string{Hostile}}, nil
	case len(c.Checks) == 0 || c.Outcome == reports.NotApplicable:
		return nil, nil
	}
	n := madeTimeline(c)
	if limit < lowLimit {
		n.Objects, n.Omitted = nil, append(n.Omitted, "4 versions of objects")
	}
	return n, nil
}

// Cause is what the narrations say of cells that need attention.
const Cause = "8 of 24 attempts of default/tls/app failed: HTTP/2 preface without TLS, closed by the server."

// Because is what they say led to it.
const Because = "Step 2 turned ExampleGate on."

// lowLimit is the limit in bytes below which there is no room for objects.
const lowLimit = 32 << 10

// madeTimeline makes up a pod whose probe fails until its kubelet is upgraded.
func madeTimeline(c reports.Cell) *narrate.Narration {
	s := &narrate.Narration{
		Cell: c.ID, Began: began, Seconds: 31.2,
		Plan:      c.ID + "\nA TLS server that an old kubelet restarts is healthy once the kubelet is upgraded\n\nrig\n  kube-apiserver v1.90.1 with ExampleGate=true\n  kubelet/node-a v1.89.3\n\nsteps\n  1. create: create Pod tls\n  2. upgrade: restart kubelet/node-a as v1.90.1\n  3. check restarts-end\n",
		PlanLines: []narrate.PlanLine{{Line: 8, Step: 1}, {Line: 9, Step: 2}, {Line: 10, Step: 3}},
		Steps: []narrate.Step{
			{Number: 1, Name: "create", Action: "create Pod tls", Acts: true, From: 6, To: 6.4},
			{Number: 2, Name: "upgrade", Action: "restart kubelet/node-a as v1.90.1 with ExampleGate=true", Acts: true, From: 10, To: 14.2},
			{Number: 3, Action: "check restarts-end, one-pod", From: 14.2, To: 31.2},
		},
		Lanes: []narrate.Lane{
			{Name: "kube-apiserver", Kind: narrate.Component, Spans: []narrate.Span{{From: 1, To: 31.2, Label: "v1.90.1", Detail: "ExampleGate=true"}}},
			{Name: "kubelet/node-a", Kind: narrate.Component, Spans: []narrate.Span{{From: 4, To: 10, Label: "v1.89.3"}, {From: 11, To: 31.2, Label: "v1.90.1", Detail: "ExampleGate=true", Tone: narrate.Changed}}},
			{Name: "kubelet/node-a->kube-apiserver", Kind: narrate.Link, Spans: []narrate.Span{{From: 20, To: 23, Label: "cut", Tone: narrate.Faulty}}},
			{Name: "default/tls/app", Kind: narrate.Container, Spans: []narrate.Span{{From: 6.4, To: 8.4, Label: "running"}, {From: 9.5, To: 31.2, Label: "running", Tone: narrate.Good}}, Marks: []narrate.Mark{{At: 8.4, Label: "stopped by the kubelet", Tone: narrate.Bad, Detail: "exit code 137"}}},
			{Name: "default/tls/app readiness grpc :8080", Kind: narrate.Probe},
			{Name: "lease-nodes/a", Kind: narrate.Leases, Spans: []narrate.Span{{From: 1, To: 31.2, Label: "renewed", Tone: narrate.Good}},
				Series: []narrate.Series{{Label: "oldest", Points: [][2]float64{{1, 2}, {12, 41}, {30, 3}}}, {Label: "median", Points: [][2]float64{{1, 1}, {12, 20}, {30, 1}}}},
				Limits: []narrate.Limit{{Value: 30, Label: "30 s: expired for the watchdog"}}},
			{Name: "pod default/tls ready", Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 6.4, To: 15, Label: "false", Tone: narrate.Bad}, {From: 15, To: 31.2, Label: "true", Tone: narrate.Good}}},
		},
		Objects: []narrate.Object{{Key: "pods/default/tls", Versions: []narrate.Version{
			{At: 6.2, Step: 1, Change: "added", YAML: podYAML(0, false)},
			{At: 8.6, Step: 1, Change: "modified", YAML: podYAML(1, false)},
			{At: 15, Step: 3, Change: "modified", YAML: podYAML(1, true)},
			{At: 30, Step: 3, Change: "deleted"},
		}}},
		Omitted: []string{"312 events of leases, to keep the timeline short: they are in history.jsonl"},
	}
	for _, check := range c.Checks {
		s.Checks = append(s.Checks, narrate.Check{ID: check.ID, Step: 3, From: 14.2, To: 31})
	}
	s.Checks[0].Summary = "did not come true in 90 s"
	if !c.Outcome.Expected() {
		s.Checks[0].Cause, s.Checks[0].Because = Cause, []string{Because}
	}
	s.Checks[0].Parts = []narrate.Line{{What: `connections["tls/app"]`, Text: Hostile}}
	s.Checks[len(s.Checks)-1].To = s.Checks[len(s.Checks)-1].From
	addProbes(s, &s.Lanes[4])
	if !c.Outcome.Expected() {
		s.Logs = []narrate.Log{{Component: "kubelet/node-a", Path: "cells/" + c.ID + "/logs/kubelet-node-a.log", Lines: []narrate.Line{
			{At: 13.9, Text: "I1122 08:13:23.0 probing tls with TLS", Named: true}, {At: 15.1, Text: "E1122 08:13:24.2 probe failed: context deadline exceeded", Tone: narrate.Bad, More: 3}},
			Rig: []narrate.Line{{At: 15, Text: "not implemented", What: "the rig has no cgroups", More: 4}}, Omitted: []string{"812 lines from its start"}}}
	}
	return s
}

// addProbes adds an attempt for each second: without TLS before the upgrade, with it
// afterwards.
func addProbes(s *narrate.Narration, lane *narrate.Lane) {
	for second := 7; second < 31; second++ {
		a := narrate.Attempt{At: float64(second), Took: 0.012, Container: "default/tls/app", By: "readiness grpc :8080",
			Expected: "TLS ClientHello, then SERVING", Observed: "HTTP/2 preface without TLS, closed by the server", Tone: narrate.Bad,
			Wire: []narrate.Line{{At: float64(second) + 0.001, What: "HTTP/2 preface", Text: "PRI * HTTP/2.0", Tone: narrate.Bad}, {At: float64(second) + 0.002, What: "closed", Text: "by the server: not a TLS record"}}}
		if second > 14 {
			a.Observed, a.Tone = "SERVING over TLS 1.3", narrate.Good
			a.Wire = []narrate.Line{
				{At: a.At + 0.001, What: "TLS ClientHello", Text: "TLS 1.3, ALPN h2, no SNI"},
				{At: a.At + 0.003, What: "HTTP/2 SETTINGS", Text: "12 bytes"},
				{At: a.At + 0.004, What: "gRPC request", Text: "/grpc.health.v1.Health/Check"},
				{At: a.At + 0.006, What: "gRPC status", Text: "0 OK, SERVING", Tone: narrate.Good},
			}
		}
		s.Attempts = append(s.Attempts, a)
		lane.Marks = append(lane.Marks, narrate.Mark{At: a.At, Label: a.Observed, Tone: a.Tone, Attempt: len(s.Attempts)})
	}
}

func podYAML(restarts int, ready bool) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: tls
  namespace: default
spec:
  containers:
  - name: app
    readinessProbe:
      grpc: {port: 8080, mode: TLS}
%sstatus:
  phase: Running
  containerStatuses:
  - name: app
    ready: %v
    restartCount: %d
`, strings.Repeat("    # a line that never changes\n", 6), ready, restarts)
}
