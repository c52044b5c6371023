package narrate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// long is a history with far more than a story has room for: many attempts, of
// which some fail, and many versions of many objects.
func long() history {
	h := *beginning("off")
	for i := range 400 {
		at := 2 + float64(i)/10
		c := connection(at, record.Connection{
			Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, CloseReason: record.ClientClosed,
			Requests: []record.Request{{Method: "GET", Path: "/up", Proto: "HTTP/1.1", Status: 200, UserAgent: "kube-probe/1.37", Started: when(at)}},
		})
		switch {
		case i%100 == 99:
			c.Requests[0].Status = 500 + i
		case i%100 >= 50: // looks the same, over another wire
			c.Requests[0].Path += "?"
		}
		h.at(at+0.1, "default/web/app", c)
	}
	for i := range 40 {
		step := i / 10
		if i%10 == 0 {
			h.step(50+float64(i), step+1, fmt.Sprint(step+1), "wait")
		}
		for o := range 40 {
			key := fmt.Sprintf("deployments/default/web-%d", o)
			if i == 0 {
				h.at(50, "1", record.APIAnswer{Object: key, Code: 201})
			}
			h.show(50+float64(i), key, "modified", fmt.Sprintf(`{"metadata": {"uid": "%d", "annotations": {"n": "%d", "long": %q}}}`, o, i, strings.Repeat("x", 100)))
		}
	}
	return h
}

func length(t *testing.T, s narrate.Narration) int {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

// TestLimit: a narration is as long as it may be, says what it has left out, and
// still refers to what is there. What failed stays longest.
func TestLimit(t *testing.T) {
	t.Parallel()
	result := outcome(reports.Fail)
	result.ID = "a/b"
	in := narrate.Input{
		Printed: strings.Repeat("plan ", 100), Events: long(),
		Result: result, Logs: wrote(narrate.LogFile{Component: "kubelet/a", Path: "p", Text: strings.Repeat(klog("W", when(80), "a.go:1", strings.Repeat("y", 200)), 8)}),
	}
	for budget, said := range map[int][]string{
		1 << 30: {"objects"},
		300_000: {"objects"},
		80_000:  {"objects", "identical to their"},
		16_000:  {"objects", "identical to their", "what went over the wire"},
		8_000:   {"objects", "identical to their", "what went over the wire", "attempts that did not fail", "parts of the timeline"},
	} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			t.Parallel()
			in := in
			in.Limit = budget
			s := of(in)
			if n := length(t, s); n > budget {
				t.Errorf("it is %d bytes long", n)
			}
			for _, part := range said {
				if !slices.ContainsFunc(s.Omitted, func(o string) bool { return strings.Contains(o, part) && strings.Contains(o, "cells/a/b/") }) {
					t.Errorf("it does not say that it leaves out %s: %q", part, s.Omitted)
				}
			}
			if len(s.Steps) != 4 {
				t.Errorf("it has %d steps", len(s.Steps))
			}
			refers(t, s)
			if bad := failures(s); budget >= 16_000 && bad != 4 {
				t.Errorf("%d of 4 attempts that failed are there", bad)
			}
		})
	}
}

// TestConcerned: what went over the wire of attempts stays longest where a check is
// about them that does not hold; the others say that theirs is left out.
func TestConcerned(t *testing.T) {
	t.Parallel()
	h := new(history)
	h.at(1, "kubelet/a", record.ComponentStarted{Version: "v1.90.1"})
	for _, pod := range []string{"web", "other"} {
		h.show(1, "pods/default/"+pod, "added", `{"metadata": {"uid": "`+pod+`"}, "spec": {"nodeName": "a", "containers": [
			{"name": "app"}, {"name": "x", "readinessProbe": {"httpGet": {"port": 8080, "path": "/x"}}}, {"name": "y", "readinessProbe": {"httpGet": {"port": 8080, "path": "/y"}}}]}}`)
	}
	for i := range 60 {
		at, status := 2+float64(i)/10, []int{200, 500}[i/3%2] // no four alike in a row
		for container, path := range map[string]string{"default/web/app": "/" + []string{"x", "y"}[i%2], "default/other/app": "/x"} {
			h.at(at+0.1, container, connection(at, record.Connection{
				Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, CloseReason: record.ClientClosed,
				Requests: []record.Request{{Method: "GET", Path: path, Headers: map[string][]string{"A": {fmt.Sprint(at)}}, Proto: "HTTP/1.1", Status: status, UserAgent: "kube-probe/1.37", Started: when(at)}},
			}))
		}
	}
	h.step(9, 1, "1", "check c")
	one := reports.Check{ID: "c", Outcome: reports.ExpectedFail, Expected: `at once: pods["web"].status.containerStatuses.filter(s, s.name == "x") == 1`}
	in := narrate.Input{
		Events: *h, Result: reports.Cell{ID: "a/b", Outcome: reports.ExpectedFail, Checks: []reports.Check{one}},
	}
	in.Limit = 1 << 30
	in.Limit = length(t, of(in)) * 3 / 5
	s := of(in)
	kept := make(map[string]int)
	refers(t, s)
	for _, a := range s.Attempts {
		of := a.Container + " " + a.By
		if len(a.Wire) == 0 && !a.LeftOut {
			t.Errorf("the attempt at %g does not say that something is left out", a.At)
		}
		if len(a.Wire) > 0 {
			kept[of]++
		}
	}
	if n := kept["default/web/app readiness of x httpGet :8080"]; n != 30 {
		t.Errorf("%d attempts have their wire: %v; %q", n, kept, s.Omitted)
	}
	if kept["default/web/app readiness of y httpGet :8080"] == 30 {
		t.Errorf("others have all of theirs: %v", kept)
	}
}

func failures(s narrate.Narration) (bad int) {
	for _, a := range s.Attempts {
		if a.Tone == narrate.Bad {
			bad++
		}
	}
	return bad
}

// refers fails if a mark stands for an attempt of another time, or an attempt is
// like one that has no wire.
func refers(t *testing.T, s narrate.Narration) {
	t.Helper()
	stood := make(map[int]bool)
	for _, l := range s.Lanes {
		for _, m := range l.Marks {
			if m.Attempt == 0 {
				continue
			}
			stood[m.Attempt] = true
			if a := s.Attempts[m.Attempt-1]; a.At != m.At || a.Observed != m.Label {
				t.Errorf("a mark at %g stands for the attempt at %g", m.At, a.At)
			}
		}
	}
	for i, a := range s.Attempts {
		if !stood[i+1] {
			t.Errorf("no mark stands for attempt %d", i+1)
		}
		if a.Like > 0 && (len(s.Attempts[a.Like-1].Wire) == 0 || len(a.Wire) >= len(s.Attempts[a.Like-1].Wire) && len(a.Wire) > 1) {
			t.Errorf("attempt %d is like %d", i+1, a.Like)
		}
		if len(a.Wire) > 0 && a.Wire[0].At != a.At {
			t.Errorf("the wire of an attempt at %g begins at %g", a.At, a.Wire[0].At)
		}
	}
}

// TestRuns: attempts that go the same way one after the other become a span, with
// the first and the last as marks.
func TestRuns(t *testing.T) {
	t.Parallel()
	lanes := lanesOf(narrate.Input{Result: reports.Cell{ID: "a/b"}, Events: long(), Limit: 60_000}, narrate.Probe)
	want(t, narrate.Span{From: 2, To: 11.8, Label: "99 times: HTTP/1.1 request: HTTP 200, 0 bytes", Tone: narrate.Good}, lanes[0].Spans[0])
	want(t, []narrate.Mark{
		{At: 2, Label: "HTTP/1.1 request: HTTP 200, 0 bytes", Tone: narrate.Good, Attempt: 1},
		{At: 11.8, Label: "HTTP/1.1 request: HTTP 200, 0 bytes", Tone: narrate.Good, Attempt: 2},
		{At: 11.9, Label: "HTTP/1.1 request: HTTP 599, 0 bytes", Tone: narrate.Bad, Attempt: 3},
	}, lanes[0].Marks[:3])
}

func BenchmarkOf(b *testing.B) {
	in := narrate.Input{Result: reports.Cell{ID: "a/b"}, Events: long()}
	size := 0
	for _, e := range in.Events {
		size += len(e.Data)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		of(in)
	}
}
