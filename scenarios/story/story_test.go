package story_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	tale "github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/story"
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

// lanes are those of a kind in a cell's story.
func lanesOf(in story.Input, kind tale.Kind) (all []tale.Lane) {
	for _, l := range story.Of(in).Lanes {
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
	h.at(1, "create", record.StepDone{Number: 1})
	h.at(1, "3", record.StepStarted{Number: 3, Name: "3", Action: "check a, b"})
	h.at(2, "a", record.CheckOpened{Step: 3})
	h.at(2, "b", record.CheckOpened{Step: 3})
	h.at(3, "a", record.CheckClosed{Step: 3})
	h.at(4, "", record.CellEnded{Error: "killed"})
	s := story.Of(story.Input{Cell: plan.Cell{ID: "a/b"}, Plan: "the plan", Events: h})
	want(t, tale.Story{
		Cell: "a/b", Began: noon, Seconds: 4, Plan: "the plan",
		Steps: []tale.Step{
			{Number: 1, Name: "create", Action: "create Pod web", To: 1, Answers: []tale.Line{
				{At: 0.5, What: "pods/default/web", Text: "201 Created"},
				{At: 0.5, What: "pods/default/web", Text: "warning: mind", Tone: tale.Changed},
				{At: 0.6, What: "pods/default/web", Text: "422 Invalid: no", Tone: tale.Changed},
				{At: 0.7, What: "metrics", Text: "create/metrics: 1 metric"},
				{At: 0.8, What: "log of etcd", Text: "6 lines"},
				{At: 0.8, Text: "1"}, {At: 0.8, Text: "2"}, {At: 0.8, Text: "3"}, {At: 0.8, Text: "4"}, {At: 0.8, Text: "5"},
			}},
			{Number: 3, Action: "check a, b", From: 1, To: 4},
		},
		Checks: []tale.Check{{ID: "a", Step: 3, From: 2, To: 3}, {ID: "b", Step: 3, From: 2, To: 4}},
	}, s)
}

// TestACheckBeforeAnyStep: a history that was damaged has a story, too.
func TestACheckBeforeAnyStep(t *testing.T) {
	t.Parallel()
	var h history
	h.at(0, "a", record.CheckOpened{Step: 1})
	h.at(1, "a", record.CheckClosed{Step: 1})
	h.at(2, "1", record.StepDone{Number: 1})
	s := story.Of(story.Input{Cell: plan.Cell{ID: "a/b"}, Events: h})
	want(t, tale.Story{Cell: "a/b", Began: noon, Seconds: 2, Checks: []tale.Check{{ID: "a", Step: 1, To: 1}}}, s)
}

// TestNoHistory: what never ran has a story that says nothing.
func TestNoHistory(t *testing.T) {
	t.Parallel()
	want(t, tale.Story{Cell: "a/b"}, story.Of(story.Input{Cell: plan.Cell{ID: "a/b"}, Result: reports.Cell{Outcome: reports.Unknown}}))
}

// TestComponents: releases and gates, restarts, ends that somebody asked for and
// others, and clocks. What ends with the rig is no news.
func TestComponents(t *testing.T) {
	t.Parallel()
	var h history
	h.start(0, "etcd", "v3.7.0", nil)
	h.start(2, "kubelet/a", "v1.36.3", nil)
	h.at(4, "kubelet/a", record.ComponentStopped{State: "exit status 0", Asked: true})
	h.start(5, "kubelet/a", "v1.37.1", map[string]bool{"B": true, "A": false})
	h.at(6, "kubelet/a", record.ComponentStopped{State: "signal: killed", Asked: true})
	h.start(8, "kubelet/a", "v1.37.1", map[string]bool{"B": true, "A": false})
	h.at(9, "kubelet/a", record.ComponentStopped{State: "exit status 2"})
	h.step(10, 1, "1", "wait")
	h.at(12, "etcd", record.ComponentStopped{State: "signal: killed", Asked: true})
	detail := "process 7, ready after 0.5 s\nsource"
	wanted := []tale.Lane{
		{Name: "etcd", Kind: tale.Component, Spans: []tale.Span{{From: 0, To: 12, Label: "v3.7.0", Detail: detail}}},
		{Name: "kubelet/a", Kind: tale.Component, Spans: []tale.Span{
			{From: 1.5, To: 2, Label: "starting"}, {From: 2, To: 4, Label: "v1.36.3", Detail: detail},
			{From: 4, To: 4.5, Label: "stopped", Tone: tale.Changed}, {From: 4.5, To: 5, Label: "starting", Tone: tale.Changed},
			{From: 5, To: 6, Label: "v1.37.1 A=false B=true", Detail: detail, Tone: tale.Changed},
			{From: 6, To: 7.5, Label: "killed", Tone: tale.Changed}, {From: 7.5, To: 8, Label: "starting", Tone: tale.Changed},
			{From: 8, To: 9, Label: "v1.37.1 A=false B=true", Detail: detail, Tone: tale.Changed},
			{From: 9, To: 12, Label: "ended by itself", Tone: tale.Bad},
		}, Marks: []tale.Mark{
			{At: 4, Label: "stopped", Detail: "exit status 0", Tone: tale.Changed},
			{At: 4.5, Label: "restarted as v1.37.1 A=false B=true, which was v1.36.3", Tone: tale.Changed},
			{At: 6, Label: "killed", Detail: "signal: killed", Tone: tale.Changed},
			{At: 7.5, Label: "restarted", Tone: tale.Changed},
			{At: 9, Label: "ended by itself", Detail: "exit status 2", Tone: tale.Bad},
		}},
	}
	want(t, wanted, lanesOf(story.Input{Events: h}, tale.Component))
}

// TestSameStory: the same values make the same story, whatever the order of maps.
func TestSameStory(t *testing.T) {
	t.Parallel()
	in := story.Input{Cell: plan.Cell{ID: "a/b"}, Events: long(), Budget: 4000}
	first := story.Of(in)
	for range 20 {
		if again := story.Of(in); !reflect.DeepEqual(first, again) {
			t.Fatal(cmp.Diff(first, again))
		}
	}
}
