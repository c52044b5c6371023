package narrate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/explain"
	"github.com/skewrig/skewrig/scenarios/oracle"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// when is a time so many seconds after the beginning.
func when(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// history is one that is made up.
type history []record.Event

func (h *history) from(source string, at float64, subject string, payload record.Payload) {
	data, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	*h = append(*h, record.Event{Seq: len(*h) + 1, At: when(at), Source: source, Kind: payload.EventKind(), Subject: subject, Data: data})
}

func (h *history) at(at float64, subject string, payload record.Payload) {
	h.from("", at, subject, payload)
}

// start starts a component that is ready after half a second.
func (h *history) start(at float64, component string, version release.Version, gates map[string]bool) {
	h.at(at, component, record.ComponentStarted{Version: version, Gates: gates, PID: 7, ReadySeconds: 0.5, Source: "source"})
}

// show shows an object.
func (h *history) show(at float64, key, change, object string) {
	seen := record.ObjectObserved{Change: change, Object: json.RawMessage(object)}
	parts := split(key)
	seen.Resource, seen.Name = parts[0], parts[len(parts)-1]
	if len(parts) == 3 {
		seen.Namespace = parts[1]
	}
	h.at(at, key, seen)
}

func split(key string) (parts []string) {
	from := 0
	for i, c := range key {
		if c == '/' {
			parts, from = append(parts, key[from:i]), i+1
		}
	}
	return append(parts, key[from:])
}

// step takes a step that lasts a second.
func (h *history) step(at float64, number int, name, action string) {
	h.at(at, name, record.StepStarted{Number: number, Name: name, Action: action})
	h.at(at+1, name, record.StepDone{Number: number})
}

// of is the narration of an input, with what oracles and checks know of its events.
func of(in narrate.Input) narrate.Narration {
	in.Attempts = oracle.Attempts(in.Events)
	explain.Checks(context.Background(), &in)
	return narrate.Of(in)
}

// lanes are those of a kind in a cell's
func lanesOf(in narrate.Input, kind narrate.Kind) (all []narrate.Lane) {
	for _, l := range of(in).Lanes {
		if l.Kind == kind {
			all = append(all, l)
		}
	}
	return all
}

func want[T any](t *testing.T, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCourse: steps with what was answered, and checks; those that did not end
// last until the history does.
func TestCourse(t *testing.T) {
	t.Parallel()
	var h history
	h.at(0, "create", record.StepStarted{Number: 1, Name: "create", Action: "create Pod web"})
	h.at(0.5, "create", record.APIAnswer{Object: "pods/default/web", Code: 201, Warning: []string{"mind"}})
	h.at(0.6, "create", record.APIAnswer{Object: "pods/default/web", Code: 422, Reason: "Invalid", Message: "no"})
	h.at(0.7, "create", record.Scraped{Path: "/metrics", Metrics: map[string][]record.Sample{"a": nil}})
	h.at(0.8, "create", record.LogRead{Component: "etcd", Lines: []string{"1", "2", "3", "4", "5", "6"}})
	h.at(0.9, "create", record.StoredRead{Object: "pods/default/web", Encoding: "protobuf", APIVersion: "v1", Kind: "Pod", Bytes: 7})
	h.at(0.9, "create", record.APIAnswer{Path: "/api/v1", Code: 200, Bytes: 9})
	h.at(1, "create", record.StepDone{Number: 1})
	h.at(1, "3", record.StepStarted{Number: 3, Name: "3", Action: "check a, b"})
	h.at(2, "a", record.CheckOpened{Step: 3})
	h.at(2, "b", record.CheckOpened{Step: 3})
	h.at(3, "a", record.CheckClosed{Step: 3})
	h.at(4, "", record.CellEnded{Error: "killed"})
	s := of(narrate.Input{Result: reports.Cell{ID: "a/b"}, Printed: "the plan", Events: h})
	want(t, narrate.Narration{
		Cell: "a/b", Began: noon, Seconds: 4, Plan: "the plan",
		Steps: []narrate.Step{
			{Number: 1, Name: "create", Action: "create Pod web", Acts: true, To: 1, Answers: []narrate.Line{
				{At: 0.5, What: "pods/default/web", Text: "201 Created"},
				{At: 0.5, What: "pods/default/web", Text: "warning: mind", Tone: narrate.Changed},
				{At: 0.6, What: "pods/default/web", Text: "422 Invalid: no", Tone: narrate.Changed},
				{At: 0.7, What: "metrics", Text: "create/metrics: 1 metric"},
				{At: 0.8, What: "log of etcd", Text: "6 lines"},
				{At: 0.8, Text: "1"}, {At: 0.8, Text: "2"}, {At: 0.8, Text: "3"}, {At: 0.8, Text: "4"}, {At: 0.8, Text: "5"},
				{At: 0.9, What: "etcd", Text: "pods/default/web: 7 bytes of protobuf, v1 Pod"},
				{At: 0.9, What: "/api/v1", Text: "200 OK: 9 bytes"},
			}},
			{Number: 3, Action: "check a, b", From: 1, To: 4},
		},
		Checks: []narrate.Check{{ID: "a", Step: 3, From: 2, To: 3}, {ID: "b", Step: 3, From: 2, To: 4}},
	}, s)
}

// TestWhichStepsAct: of a plan, their kinds say it; without one, their words do.
func TestWhichStepsAct(t *testing.T) {
	t.Parallel()
	actions := map[int]string{1: "create Pod web", 2: "scrape /metrics of etcd", 3: "read /x/ in the log of etcd", 4: "Pods API of node-a: list", 5: "wait for 1s", 6: "check a"}
	var h history
	for number := range len(actions) {
		name := fmt.Sprint(number + 1)
		h.at(float64(number), name, record.StepStarted{Number: number + 1, Name: name, Action: actions[number+1]})
	}
	acting := func(plan record.Plan) (numbers []int) {
		for _, s := range of(narrate.Input{Events: h, Plan: plan}).Steps {
			if s.Acts {
				numbers = append(numbers, s.Number)
			}
		}
		return numbers
	}
	want(t, []int{1}, acting(record.Plan{}))
	plan := record.Plan{Steps: []record.Step{{Number: 1, Kind: "wait"}, {Number: 2, Kind: "scrape"}, {Number: 3, Kind: "log"}, {Number: 4, Kind: "podsAPI"}, {Number: 5, Kind: "patch"}, {Number: 6, Kind: "checks"}}}
	want(t, []int{5}, acting(plan))
}

// TestLinesOfAPlan: which lines of a printed plan are of the control, of steps and of checks.
func TestLinesOfAPlan(t *testing.T) {
	t.Parallel()
	const printed = "a/b\ntitle\ncontrol: a/c (there)\n\nrig\n  1. no step\n\nimages\n  web\n\nsteps\n  1. upgrade: restart kubelet/a\n      kubelet/a v1 -> v2\n 12. check a\n      a: at once: 1 == 1\n      other: x\n"
	s := of(narrate.Input{Result: reports.Cell{ID: "a/b", Checks: []reports.Check{{ID: "a"}}}, Printed: printed})
	want(t, []narrate.PlanLine{{Line: 2, Control: "a/c"}, {Line: 11, Step: 1}, {Line: 13, Step: 12}, {Line: 14, Step: 12, Check: "a"}}, s.PlanLines)
	want(t, []string{"1. no step"}, s.Rig)
	want(t, []string{"rig", "  1. no step", "", "images", "  web"}, s.SetUp)
}

// TestACheckBeforeAnyStep: a history that was damaged has a story, too.
func TestACheckBeforeAnyStep(t *testing.T) {
	t.Parallel()
	var h history
	h.at(0, "a", record.CheckOpened{Step: 1})
	h.at(1, "a", record.CheckClosed{Step: 1})
	h.at(2, "1", record.StepDone{Number: 1})
	s := of(narrate.Input{Result: reports.Cell{ID: "a/b"}, Events: h})
	want(t, narrate.Narration{Cell: "a/b", Began: noon, Seconds: 2, Checks: []narrate.Check{{ID: "a", Step: 1, To: 1}}}, s)
}

// TestNoHistory: what never ran has a story that says nothing.
func TestNoHistory(t *testing.T) {
	t.Parallel()
	want(t, narrate.Narration{Cell: "a/b"}, of(narrate.Input{Result: reports.Cell{ID: "a/b", Outcome: reports.Unknown}}))
}

// TestComponents: releases and gates, restarts, ends that were asked for and
// others, and clocks. What ends with the rig is no news.
func TestComponents(t *testing.T) {
	t.Parallel()
	var h history
	h.start(0, "etcd", "v3.7.0", nil)
	h.start(2, "kubelet/a", "v1.89.3", nil)
	h.at(4, "kubelet/a", record.ComponentStopped{State: "exit status 0", Asked: true})
	h.start(5, "kubelet/a", "v1.90.1", map[string]bool{"B": true, "A": false})
	h.at(5.5, "kubelet/a", record.Routed{Via: []string{"a", "b"}})
	h.at(6, "kubelet/a", record.ComponentStopped{State: "signal: killed", Asked: true})
	h.at(7, "a", record.NodeRebooted{Before: "one", BootID: "two"})
	h.start(8, "kubelet/a", "v1.90.1", map[string]bool{"B": true, "A": false})
	h.at(9, "kubelet/a", record.ComponentStopped{State: "exit status 2"})
	h.step(10, 1, "1", "wait")
	h.at(12, "etcd", record.ComponentStopped{State: "signal: killed", Asked: true})
	detail := "process 7, ready after 0.5 s\nsource"
	wanted := []narrate.Lane{
		{Name: "etcd", Kind: narrate.Component, Spans: []narrate.Span{{From: 0, To: 12, Label: "v3.7.0", Detail: detail}}},
		{Name: "kubelet/a", Kind: narrate.Component, Spans: []narrate.Span{
			{From: 1.5, To: 2, Label: "starting"}, {From: 2, To: 4, Label: "v1.89.3", Detail: detail},
			{From: 4, To: 4.5, Label: "stopped", Tone: narrate.Changed}, {From: 4.5, To: 5, Label: "starting", Tone: narrate.Changed},
			{From: 5, To: 6, Label: "v1.90.1 A=false B=true", Detail: detail, Tone: narrate.Changed},
			{From: 6, To: 7.5, Label: "killed", Tone: narrate.Changed}, {From: 7.5, To: 8, Label: "starting", Tone: narrate.Changed},
			{From: 8, To: 9, Label: "v1.90.1 A=false B=true", Detail: detail, Tone: narrate.Changed},
			{From: 9, To: 12, Label: "ended by itself", Tone: narrate.Bad},
		}, Marks: []narrate.Mark{
			{At: 4, Label: "stopped", Detail: "exit status 0", Tone: narrate.Changed},
			{At: 4.5, Label: "restarted as v1.90.1 A=false B=true, which was v1.89.3", Tone: narrate.Changed},
			{At: 5.5, Label: "led to a, b", Tone: narrate.Changed},
			{At: 6, Label: "killed", Detail: "signal: killed", Tone: narrate.Changed},
			{At: 7, Label: "node rebooted", Detail: "boot ID two", Tone: narrate.Faulty},
			{At: 7.5, Label: "restarted", Tone: narrate.Changed},
			{At: 9, Label: "ended by itself", Detail: "exit status 2", Tone: narrate.Bad},
		}},
	}
	want(t, wanted, lanesOf(narrate.Input{Events: h}, narrate.Component))
}

// TestSameStory: the same values make the same story, whatever the order of maps.
func TestSameStory(t *testing.T) {
	t.Parallel()
	in := narrate.Input{Result: reports.Cell{ID: "a/b"}, Events: long(), Limit: 4000}
	first := of(in)
	for range 20 {
		if again := of(in); !reflect.DeepEqual(first, again) {
			t.Fatal(cmp.Diff(first, again))
		}
	}
}
