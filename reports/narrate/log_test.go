package narrate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// checked is a history in which a check is closed at second 10.
func checked() (h history) {
	h.at(0, "kubelet/a", record.ComponentStarted{Version: "v1.90.1"})
	h.at(9, "4", record.StepStarted{Number: 4, Name: "4"})
	h.at(9, "c", record.CheckOpened{Step: 4})
	h.at(10, "c", record.CheckClosed{Step: 4})
	h.at(10, "4", record.StepDone{Number: 4})
	h.at(30, "", record.CellEnded{})
	return h
}

func outcome(o reports.Outcome) reports.Cell {
	return reports.Cell{Outcome: o, Checks: []reports.Check{{ID: "c", Outcome: o}, {ID: "other", Outcome: reports.Pass}}}
}

// about is a result in which the check c has an expression.
func about(result reports.Cell, expression string) reports.Cell {
	result.Checks[0].Expected, result.Checks[1].Expected = "at once: "+expression+" == 1", `at once: pods["line"] == 1`
	return result
}

// wrote is what reads the log of a component.
func wrote(log narrate.LogFile) func() []narrate.LogFile {
	return func() []narrate.LogFile { return []narrate.LogFile{log} }
}

// klog is a line as klog writes it.
func klog(severity string, at time.Time, from, text string) string {
	return fmt.Sprintf("%s%s       7 %s] %s\n", severity, at.Format("0102 15:04:05.000000"), from, text)
}

// TestLogs: of each form of a log the lines around what went wrong, with the
// times of the narration.
func TestLogs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []narrate.Line
	}{
		"klog": {
			klog("I", when(1), "a.go:1", "early") + klog("W", when(9.5), "a.go:2", "careful") + "\tat length\n" + klog("E", when(10.5), "a.go:3", "bad") + klog("I", when(12), "a.go:4", "late"),
			[]narrate.Line{
				{At: 9.5, Text: strings.TrimSpace(klog("W", when(9.5), "a.go:2", "careful")), Tone: narrate.Changed}, {At: 9.5, Text: "\tat length", Tone: narrate.Changed},
				{At: 10.5, Text: strings.TrimSpace(klog("E", when(10.5), "a.go:3", "bad")), Tone: narrate.Bad},
			},
		},
		"klog by a local clock": {
			klog("I", when(1).Add(-5*time.Hour-30*time.Minute), "a.go:1", "early") + klog("I", when(9.5).Add(-5*time.Hour-30*time.Minute), "a.go:2", "near"),
			[]narrate.Line{{At: 9.5, Text: strings.TrimSpace(klog("I", when(9.5).Add(-5*time.Hour-30*time.Minute), "a.go:2", "near"))}},
		},
		"JSON": {
			`{"level":"error","ts":"2026-11-22T12:00:09Z","logger":"x","msg":"bad"}` + "\n" + `{"level":"info","ts":"2026-11-22T12:00:20Z"}`,
			[]narrate.Line{{At: 9, Text: "bad", Tone: narrate.Bad, Within: 1}},
		},
		"JSON of a controller": {
			`{"level":"info","ts":"2026-11-22T12:00:09.5Z","msg":"Scaling it","controller":"cluster","name":"shoot","reconcileID":"a-b","name":"web","to":0,"why":"it is \"late\""}`,
			[]narrate.Line{{At: 9.5, Text: `Scaling it name=web to=0 why="it is \"late\""`}},
		},
		"JSON that is cut off": {
			`{"level":"error","ts":"2026-11-22T12:00:09.5Z","msg":"ba`, []narrate.Line{{At: 9.5, Text: `{"level":"error","ts":"2026-11-22T12:00:09.5Z","msg":"ba`, Tone: narrate.Bad}},
		},
		"a time and tabs": {
			"2026-11-22T12:00:09Z\tWARN\tx\n2026-11-22T12:00:20Z\tWARN\ty\n", []narrate.Line{{At: 9, Text: "2026-11-22T12:00:09Z\tWARN\tx", Tone: narrate.Changed, Within: 1}},
		},
		"a time that is known to the second": {
			"2026-11-22T12:00:05Z\tINFO\tx\n2026-11-22T12:00:04Z\tINFO\ty\n", []narrate.Line{{At: 5, Text: "2026-11-22T12:00:05Z\tINFO\tx", Within: 1}},
		},
		"no times, no UTF-8": {"\xff\n", nil},
	} {
		s := of(narrate.Input{Events: checked(), Result: outcome(reports.Fail), Logs: wrote(narrate.LogFile{Component: "kubelet/a", Path: "p", Text: tc.text})})
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []narrate.Line
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
	for _, to := range []struct {
		clock.Clock

		shows float64 // at 10 s
	}{
		{clock.Clock{Offset: -2 * time.Minute}, 10 - 120},
		{clock.Clock{Drift: 200_000, Since: when(5)}, 11},
		{clock.Clock{Frozen: true, Offset: -2 * time.Minute, Since: when(10)}, 10 - 120},
	} {
		h := checked()[:1]
		set := 5.
		if to.Frozen {
			set = 10
		}
		h.at(set, "kubelet/a", record.ClockSet{Clock: to.Clock})
		h = append(h, checked()[1:]...)
		text := klog("I", when(1), "a.go:1", "before") + klog("I", when(to.shows), "a.go:2", "after")
		s := of(narrate.Input{Events: h, Result: outcome(reports.Fail), Logs: wrote(narrate.LogFile{Component: "kubelet/a", Text: text})})
		if len(s.Logs) != 1 || len(s.Logs[0].Lines) != 1 || s.Logs[0].Lines[0].At != 10 {
			t.Errorf("%s: the logs are %+v", to.Clock, s.Logs)
		}
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
	for _, result := range []reports.Outcome{reports.Fail, reports.ExpectedFail} {
		s := of(narrate.Input{Printed: "p", Events: checked(), Result: about(outcome(result), `connections["web/app"].size()`), Logs: wrote(narrate.LogFile{Component: "kubelet/a", Text: text.String()})})
		lines := s.Logs[0].Lines
		if len(lines) != 12 {
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

// TestOrdinaryLines: those that name nothing are shown as long as there is little else.
func TestOrdinaryLines(t *testing.T) {
	t.Parallel()
	var ordinary, telling strings.Builder
	for i := range 50 {
		at := when(9 + float64(i)/50)
		ordinary.WriteString(klog("I", at, "b.go:1", fmt.Sprintf("line %d", i)))
		telling.WriteString(klog("I", at, "c.go:1", fmt.Sprintf("web %d", i)))
	}
	if n := len(excerpt(t, checked(), ordinary.String()).Lines); n != 12 {
		t.Errorf("%d ordinary lines alone", n)
	}
	log := excerpt(t, checked(), ordinary.String()+telling.String())
	if n := len(log.Lines); n != 40 {
		t.Errorf("%d lines where 50 are about the pod", n)
	}
	want(t, []string{"60 lines with less to say than those that are here"}, log.Omitted)
}

// TestTrouble: when something went wrong.
func TestTrouble(t *testing.T) {
	t.Parallel()
	died := checked()
	died.at(30, "etcd", record.ComponentStarted{})
	died.at(31, "etcd", record.ComponentStopped{})
	died.at(31, "etcd", record.ComponentStarted{})
	died.at(32, "etcd", record.ComponentStopped{Asked: true})
	died.at(33, "4", record.StepDone{Number: 4, Error: "in vain"})
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
			want(t, tc.want, narrate.Failures(tc.result, timeline.Of(tc.events)))
		})
	}
}

// excerpt is the only log of a story in which the check c, about the pod web, fails
// from second 9 to second 10.
func excerpt(t *testing.T, events history, text string) narrate.Log {
	t.Helper()
	s := of(narrate.Input{Printed: "p", Events: events, Result: about(outcome(reports.Fail), `pods["web"].ready`), Logs: wrote(narrate.LogFile{Component: "kubelet/a", Text: text})})
	if len(s.Logs) != 1 {
		t.Fatalf("%d logs", len(s.Logs))
	}
	counted := len(s.Logs[0].Lines)
	for _, line := range s.Logs[0].Lines {
		counted += line.More
	}
	for _, said := range s.Logs[0].Omitted {
		var n int
		if _, err := fmt.Sscanf(said, "%d line", &n); err != nil {
			t.Errorf("%q: %v", said, err)
		}
		counted += n
	}
	if lines := strings.Count(text, "\n"); counted != lines {
		t.Errorf("%d of %d lines are shown or counted: %+v", counted, lines, s.Logs[0])
	}
	return s.Logs[0]
}

// TestLinesThatSayTheSame are one, but for those of the window of the check. What
// means something differs.
func TestLinesThatSayTheSame(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 4 {
		at := when(8.2 + float64(i)*0.5)
		text.WriteString(klog("I", at, "a.go:1", fmt.Sprintf("web took %d.5ms, id 0a1b2c3d-0000-1111-2222-%012d, from 127.0.0.1:4%d000", i, i, i)))
		text.WriteString(klog("E", at, "b.go:1", fmt.Sprintf("web says %d", 500+i/2)))
	}
	var got []string
	for _, l := range excerpt(t, checked(), text.String()).Lines {
		got = append(got, fmt.Sprintf("%.1f %.8s +%d", l.At, l.Text[strings.LastIndex(l.Text, "web "):], l.More))
	}
	want(t, []string{"8.2 web took +1", "8.2 web says +1", "9.2 web took +1", "9.2 web says +1"}, got)
}

// TestNoise: what says nothing about the failure is left out, and counted.
func TestNoise(t *testing.T) {
	t.Parallel()
	h := checked()[:1]
	h.at(8, "kubelet/a", record.ComponentStarted{Version: "v1.90.1", ReadySeconds: 1.5})
	h = append(h, checked()[1:]...)
	text := klog("I", when(2), "usual.go:1", "tick") + // far away
		klog("I", when(7), "start.go:1", "reading flags") + klog("I", when(7.1), "start.go:2", "reading web") + klog("W", when(7.2), "start.go:3", "deprecated") + // the start
		klog("I", when(9.2), "usual.go:1", "tock") + klog("I", when(9.3), "usual.go:1", "tick of web") + klog("I", when(9.4), "new.go:1", "something new")
	for range 9 {
		text += klog("E", when(9.5), "all.go:1", "the time") + klog("E", when(9.6), "all.go:2", "about web")
	}
	log := excerpt(t, h, text)
	var got []string
	for _, l := range log.Lines {
		got = append(got, l.Text[strings.LastIndex(l.Text, "] ")+2:])
	}
	want(t, []string{"reading web", "deprecated", "tick of web", "something new", "about web"}, got)
	want(t, []string{
		"1 line from more than 4 s before what went wrong, or 1 s after it",
		"9 lines of errors and warnings that come all the time",
		"1 line from its start",
		"1 line of a kind that also comes when nothing is wrong",
	}, log.Omitted)
}

// waited is a history in which something has to come true from second 9 to second 20.
func waited() (h history) {
	h.at(0, "kubelet/a", record.ComponentStarted{Version: "v1.90.1"})
	h.at(2, "1", record.StepStarted{Number: 1, Name: "1"})
	h.at(3, "1", record.StepDone{Number: 1})
	h.at(9, "2", record.StepStarted{Number: 2, Name: "2"})
	h.at(9, "c", record.CheckOpened{Step: 2})
	h.at(20, "c", record.CheckClosed{Step: 2})
	h.at(20, "2", record.StepDone{Number: 2})
	h.at(30, "", record.CellEnded{})
	return h
}

// TestLogOfWhatDidNotComeTrue: the lines are those around the step that should have brought
// it about and the beginning of the window, and in the window those that name the subject.
func TestLogOfWhatDidNotComeTrue(t *testing.T) {
	t.Parallel()
	h := waited()[:1]
	h.at(1, "default/web/app", record.ContainerStarted{})
	h.at(1, "default/web/app-2", record.ContainerStarted{})
	h = append(h, waited()[1:]...)
	text := klog("I", when(0.5), "a.go:1", "beginning") + klog("I", when(2.5), "a.go:2", "in the step before") + klog("I", when(9.5), "a.go:3", "at its beginning") +
		klog("I", when(12), "a.go:4", `of pod="default/web" containerName="app-2"`) + klog("I", when(13), "a.go:5", `of pod="default/web" containerName="app"`) +
		klog("E", when(19.5), "a.go:6", `of pod="default/web-2"`) + klog("E", when(20.5), "a.go:7", "after its end")
	result := reports.Cell{Outcome: reports.Fail, Checks: []reports.Check{
		{ID: "c", Outcome: reports.Fail, Expected: `within 11s: pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) == [true]`},
		{ID: "known", Outcome: reports.ExpectedFail, Expected: `within 11s: pods["web-2"].ready == true`},
	}}
	s := of(narrate.Input{Events: h, Result: result, Logs: wrote(narrate.LogFile{Component: "kubelet/a", Text: text})})
	want(t, []string{"web"}, s.About)
	var said, named []string
	for _, l := range s.Logs[0].Lines {
		text := l.Text[strings.LastIndex(l.Text, "] ")+2:]
		if said = append(said, text); l.Named {
			named = append(named, text)
		}
	}
	want(t, []string{`of pod="default/web" containerName="app"`}, named)
	want(t, []string{"beginning", "in the step before", "at its beginning", `of pod="default/web" containerName="app"`}, said)
}

// TestWhatLogsAreSearchedFor: what a key names depends on what has it. A step and a zone
// have no name in logs.
func TestWhatLogsAreSearchedFor(t *testing.T) {
	t.Parallel()
	for expression, wanted := range map[string][]string{
		`pods["shop/web"].spec`: {"web"}, `pods["web"].spec.containers[0].name`: {"web"}, `containers["web/app"].running`: {"web"}, `containers["shop/web/app"].running`: {"web"},
		`objects["nodes/node-a"].spec`: {"node-a"}, `events["web"].size()`: {"web"}, `dependents["kcm"].replicas`: {"kcm"},
		`components["kubelet/node-a"].exits.size()`: {"node-a"}, `watches["late"].pods["web"].spec`: {"web"},
		`polls["agent"].views.size()`: nil, `scrapes["first"].size()`: nil, `leases["lease-nodes/a"].oldest`: nil,
	} {
		s := of(narrate.Input{Events: checked(), Result: about(outcome(reports.Fail), expression), Logs: wrote(narrate.LogFile{Component: "kubelet/a"})})
		if diff := cmp.Diff(wanted, s.About); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}

// TestALineKeepsItsCause: one that is too long and says that something is wrong keeps the end of
// the error that it has, or its own.
func TestALineKeepsItsCause(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100)
	for text, want := range map[string]string{
		long + "is wrong": "is wrong",
		strings.Repeat("“é”", 150) + "is wrong":                          "is wrong",
		"failed err=\"" + long + `of \"x\" is wrong" pod="` + long + `"`: `of \"x\" is wrong"…`,
		`failed err="wrong" pod="` + long + `"`:                          "…",
		"short":                                                          "] short",
	} {
		line := excerpt(t, checked(), klog("E", when(9.5), "a.go:1", text)).Lines[0].Text
		if !strings.HasSuffix(line, want) || utf8.RuneCountInString(line) > 330 || strings.ContainsRune(line, utf8.RuneError) {
			t.Errorf("the line is %q, want %q at its end", line, want)
		}
	}
	for text, want := range map[string]string{long + "fails": "fails", long + "goes on": "…"} {
		if line := excerpt(t, checked(), klog("I", when(9.5), "a.go:1", text)).Lines[0].Text; !strings.HasSuffix(line, want) {
			t.Errorf("the line is %q, want %q at its end", line, want)
		}
	}
}

// TestTheServerOfAField: for a field of an object, lines of the API server count that name
// either, whenever they were written before the check was decided.
func TestTheServerOfAField(t *testing.T) {
	t.Parallel()
	const fieldOnly, object = "field httpGet.protocol not declared in schema", "failed to convert default/web"
	text := klog("W", when(2), "a.go:1", fieldOnly) + klog("E", when(3), "a.go:2", object) + klog("E", when(3.5), "a.go:3", "of default/other") + klog("E", when(11.5), "a.go:4", object)
	result := about(outcome(reports.Fail), `pods["web"].spec.containers[0].probe.httpGet.protocol`)
	for component, wanted := range map[string][]string{"kube-apiserver": {fieldOnly, object}, "kubelet/a": nil} {
		h := append(history{}, checked()[:1]...)
		h.show(2, "pods/default/web", "added", `{"metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"app","probe":{"httpGet":{"protocol":"HTTP1"}}}]}}`)
		s := of(narrate.Input{Printed: "p", Events: append(h, checked()[1:]...), Result: result, Logs: wrote(narrate.LogFile{Component: component, Text: text})})
		var named []string
		for _, log := range s.Logs {
			for _, l := range log.Lines {
				named = append(named, l.Text[strings.LastIndex(l.Text, "] ")+2:])
			}
		}
		want(t, wanted, named)
		want(t, []string{"web", "httpGet.protocol"}, s.About)
	}
}

// TestANameStaysInALine: a line is not cut before the name that counts, and all of it is there.
func TestANameStaysInALine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("long ", 100) + "of web" + strings.Repeat(" so", 100)
	line := excerpt(t, checked(), klog("E", when(9.5), "a.go:1", text)).Lines[0]
	if !strings.Contains(line.Text, "of web") || len(line.Text) > 700 || !strings.HasSuffix(line.Whole, "so so") {
		t.Errorf("the line is %+v", line)
	}
}
