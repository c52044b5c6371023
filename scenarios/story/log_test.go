package story_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/reports"
	tale "github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/story"
)

// checked is a history in which a check is closed at second 10.
func checked() (h history) {
	h.at(0, "kubelet/a", cluster.ComponentStarted{Version: "v1.37.1"})
	h.at(9, "4", check.StepStarted{Number: 4, Name: "4"})
	h.at(9, "c", check.Opened{Step: 4})
	h.at(10, "c", check.Closed{Step: 4})
	h.at(10, "4", check.StepDone{Number: 4})
	h.at(30, "", check.Ended{})
	return h
}

func outcome(o reports.Outcome) reports.Cell {
	return reports.Cell{Outcome: o, Checks: []reports.Check{{ID: "c", Outcome: o}, {ID: "other", Outcome: reports.Pass}}}
}

// klog is a line as klog writes it.
func klog(severity string, at time.Time, from, text string) string {
	return fmt.Sprintf("%s%s       7 %s] %s\n", severity, at.Format("0102 15:04:05.000000"), from, text)
}

// TestLogs: of each form of a log the lines around what went wrong, with the
// times of the story.
func TestLogs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []tale.Line
	}{
		"klog": {
			klog("I", when(1), "a.go:1", "early") + klog("W", when(9.5), "a.go:2", "careful") + "\tat length\n" + klog("E", when(10.5), "a.go:3", "bad") + klog("I", when(12), "a.go:4", "late"),
			[]tale.Line{
				{At: 9.5, Text: strings.TrimSpace(klog("W", when(9.5), "a.go:2", "careful")), Tone: tale.Changed}, {At: 9.5, Text: "\tat length", Tone: tale.Changed},
				{At: 10.5, Text: strings.TrimSpace(klog("E", when(10.5), "a.go:3", "bad")), Tone: tale.Bad},
			},
		},
		"klog by a local clock": {
			klog("I", when(1).Add(-5*time.Hour-30*time.Minute), "a.go:1", "early") + klog("I", when(9.5).Add(-5*time.Hour-30*time.Minute), "a.go:2", "near"),
			[]tale.Line{{At: 9.5, Text: strings.TrimSpace(klog("I", when(9.5).Add(-5*time.Hour-30*time.Minute), "a.go:2", "near"))}},
		},
		"JSON": {
			`{"level":"error","ts":"2026-11-22T12:00:09Z","msg":"bad"}` + "\n" + `{"level":"info","ts":"2026-11-22T12:00:20Z"}`,
			[]tale.Line{{At: 9, Text: `{"level":"error","ts":"2026-11-22T12:00:09Z","msg":"bad"}`, Tone: tale.Bad}},
		},
		"a time and tabs": {
			"2026-11-22T12:00:09Z\tWARN\tx\n2026-11-22T12:00:20Z\tWARN\ty\n", []tale.Line{{At: 9, Text: "2026-11-22T12:00:09Z\tWARN\tx", Tone: tale.Changed}},
		},
		"no times, no UTF-8": {"\xff\n", nil},
	} {
		s := story.Of(story.Input{Events: checked(), Result: outcome(reports.Fail), Logs: []story.Log{{Component: "kubelet/a", Path: "p", Text: tc.text}}})
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []tale.Line
			for _, l := range s.Logs {
				if l.Component != "kubelet/a" || l.Path != "p" {
					t.Errorf("the log is %s of %s", l.Path, l.Component)
				}
				lines = l.Lines
			}
			want(t, tc.want, lines)
		})
	}
}

// TestLogOfAnotherClock: a component whose clock was set writes other times.
func TestLogOfAnotherClock(t *testing.T) {
	t.Parallel()
	h := checked()[:1]
	h.at(5, "kubelet/a", cluster.ClockSet{Clock: clock.Clock{Offset: -2 * time.Minute}})
	h = append(h, checked()[1:]...)
	text := klog("I", when(1), "a.go:1", "before") + klog("I", when(10-120), "a.go:2", "after")
	s := story.Of(story.Input{Events: h, Result: outcome(reports.Fail), Logs: []story.Log{{Component: "kubelet/a", Text: text}}})
	if len(s.Logs) != 1 || len(s.Logs[0].Lines) != 1 || s.Logs[0].Lines[0].At != 10 {
		t.Errorf("the logs are %+v", s.Logs)
	}
}

// TestLogLines: if there are too many lines, those that say something stay.
func TestLogLines(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100 {
		at := when(8 + float64(i)/50)
		text.WriteString(klog("E", at, "noise.go:1", "all the time") + klog("I", at, "b.go:1", fmt.Sprintf("line %d", i)))
	}
	text.WriteString(klog("I", when(6.1), "c.go:1", "of web") + klog("W", when(6.2), "d.go:1", "once"))
	cell := plan.Cell{Steps: []plan.Step{{Action: plan.Checks{Checks: []plan.Check{{ID: "c", Observe: `connections["web/app"].size()`}, {ID: "other", Observe: `pods["line"]`}}}}}}
	for result, limit := range map[reports.Outcome]int{reports.Fail: 40, reports.ExpectedFail: 12} {
		s := story.Of(story.Input{Cell: cell, Plan: "p", Events: checked(), Result: outcome(result), Logs: []story.Log{{Component: "kubelet/a", Text: text.String()}}})
		lines := s.Logs[0].Lines
		if len(lines) != limit {
			t.Errorf("%s: %d lines", result, len(lines))
		}
		var all []string
		for _, l := range lines {
			all = append(all, l.Text[strings.LastIndex(l.Text, "] ")+2:])
		}
		said := strings.Join(all, "; ")
		if !strings.HasSuffix(said, "; line 99; of web; once") || strings.Contains(said, "all the time") {
			t.Errorf("%s: the lines are %s", result, said)
		}
	}
}

// TestTrouble: when something went wrong.
func TestTrouble(t *testing.T) {
	t.Parallel()
	died := checked()
	died.at(31, "etcd", cluster.ComponentStopped{})
	died.at(32, "etcd", cluster.ComponentStopped{Asked: true})
	died.at(33, "4", check.StepDone{Number: 4, Error: "in vain"})
	for name, tc := range map[string]struct {
		result reports.Cell
		events history
		want   []time.Time
	}{
		"all is well":              {outcome(reports.Pass), checked(), nil},
		"not for this release":     {outcome(reports.NotApplicable), checked(), nil},
		"a check fails":            {outcome(reports.Fail), checked(), []time.Time{when(10)}},
		"it is known to":           {outcome(reports.ExpectedFail), checked(), []time.Time{when(10)}},
		"what always holds":        {reports.Cell{Outcome: reports.Fail, Checks: []reports.Check{{ID: "oracle:x", Outcome: reports.Fail}}}, checked(), []time.Time{when(10)}},
		"it ended before a step":   {reports.Cell{Outcome: reports.HarnessError}, checked()[:1], []time.Time{when(0)}},
		"it ended before it began": {reports.Cell{Outcome: reports.Unknown}, nil, nil},
		"a component dies":         {outcome(reports.Pass), died, []time.Time{when(31), when(33)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want(t, tc.want, story.Trouble(tc.result, tc.events))
		})
	}
}
