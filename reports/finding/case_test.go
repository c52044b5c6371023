package finding

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestWhatACaseShows: how the field changed that the check compares, what was on the wire,
// what ran in its order, and the check beside it that passes. What is of another pod, or came
// after the check was decided, is left out.
func TestWhatACaseShows(t *testing.T) {
	t.Parallel()
	check := reports.Check{ID: "not-lost", Outcome: reports.Fail, Expected: `at once: pods["web"].spec.containers[0].livenessProbe.httpGet.protocol == "HTTP2"`, Observed: `"HTTP1"`}
	twin := reports.Check{ID: "other-not-lost", Outcome: reports.Pass, Expected: strings.Replace(check.Expected, "web", "other", 1)}
	cell := reports.Cell{ID: "kep-1/a/b/kubelet:v1.89.3", Scenario: "kep-1/a/b", Axes: map[string]string{"kubelet": "v1.89.3"}, Checks: []reports.Check{check, twin}}
	narration := &narrate.Narration{
		SetUp:  []string{"rig", "  etcd v3.7.0", "", "images", "  web speaks http1"},
		Steps:  []narrate.Step{{Number: 2, Action: "patch pods/default/web", Acts: true, From: 7.9, Answers: []narrate.Line{{Text: "200 OK"}}}},
		Checks: []narrate.Check{{ID: "not-lost", From: 9, To: 9, Cause: "It was lost.", Named: reports.Names{{Variable: "pods", Text: "web", Object: "pods/default/web"}}, History: []narrate.Line{{At: 3, What: "kube-apiserver", Text: `"HTTP2"`}, {At: 8, What: "kube-apiserver, written in step 2", Text: `"HTTP1"`}}}, {ID: "other-not-lost", Named: reports.Names{{Variable: "pods", Text: "other", Object: "pods/default/other"}}}},
		Lanes: []narrate.Lane{
			{Name: "kubelet/node-a", Kind: narrate.Component, Spans: []narrate.Span{{From: 2, Label: "v1.89.3"}, {From: 4, Label: "starting"}, {From: 5, Label: "v1.90.1 X=true"}, {From: 10, Label: "v1.91.0"}}},
			{Name: "kube-apiserver", Kind: narrate.Component, Spans: []narrate.Span{{From: 1, Label: "v1.90.1"}}},
			{Name: "pods/default/web", Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 3, Label: "Ready"}, {From: 11, Label: "gone"}}},
			{Name: "pods/default/other", Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 3, Label: "not Ready"}}},
		},
		Attempts: []narrate.Attempt{{At: 6, Container: "default/web/app", By: "liveness", Observed: "refused"}, {At: 7, Container: "default/other/app", By: "liveness", Observed: "good"}},
		Objects: []narrate.Object{{Key: "pods/default/web", Versions: []narrate.Version{
			{At: 3, Step: 1, YAML: "spec:\n  protocol: HTTP2\n"}, {At: 8, Step: 2, YAML: "spec:\n  protocol: HTTP1\n"}, {At: 12, Step: 3, YAML: "spec:\n  protocol: HTTP3\n"},
		}}},
		Logs: []narrate.Log{{Component: "kubelet", Lines: []narrate.Line{{At: 8, Text: "pod web"}, {At: 8, Text: "pod other"}}}},
	}
	run := evidence.Run{Report: reports.Report{Cells: []reports.Cell{cell}}}
	got := NewCase(run, Finding{Statement: Statement{Requirement: "KEP-1/kept", Statement: "Second reading: it is kept."}}, cell, check, narration)
	var text strings.Builder
	for _, e := range got.Exhibits {
		text.WriteString(e.Title + "\n" + e.Text + "\n")
	}
	for _, want := range []string{"  3.000 s  \"HTTP2\": kube-apiserver\n  8.000 s  \"HTTP1\": kube-apiserver, written in step 2", "pods/default/web: Ready", "default/web/app, liveness: refused", "kubelet: pod web", "step 2: patch pods/default/web: 200 OK", "of the check other-not-lost, which passes\n  7.000 s  default/other/app", "images\n  web speaks http1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the exhibits have no %q:\n%s", want, text.String())
		}
	}
	for _, other := range []string{"pods/default/other", "pod other", "gone", "HTTP3"} {
		if strings.Contains(text.String(), other) {
			t.Errorf("the exhibits have %q:\n%s", other, text.String())
		}
	}
	if ran := strings.Join(got.Ran, "\n"); ran != "   1.0 s  kube-apiserver v1.90.1\n   2.0 s  kubelet/node-a v1.89.3\n   5.0 s  kubelet/node-a v1.90.1 X=true" {
		t.Errorf("what ran is\n%s", ran)
	}
	if got.Closest.ID != twin.ID || got.Headline != "It was lost" || got.Cause != "It was lost." || !strings.Contains(got.Again, cell.ID) {
		t.Errorf("the case is %+v", got)
	}
}

// TestACaseOfNoRecord has the values of its check, and what the facts say.
func TestACaseOfNoRecord(t *testing.T) {
	t.Parallel()
	cell := reports.Cell{ID: "a/b/c", Scenario: "a/b/c", Checks: []reports.Check{{ID: "stays-up", Outcome: reports.Fail}}}
	facts := evidence.Facts{Components: []evidence.Component{{Name: "kubelet/node-a", Starts: []evidence.Start{{Version: "v1.89.3"}, {Version: "v1.90.1", Gates: map[string]bool{"X": false}}}}}}
	got := NewCase(evidence.Run{Facts: map[string]evidence.Facts{"a/b/c": facts}}, Finding{}, cell, cell.Checks[0], nil)
	if got.Headline != "The check “stays up” fails in a/b/c" || len(got.Exhibits) != 0 || strings.Join(got.Ran, "") != "kubelet/node-a v1.89.3, then v1.90.1 with X off" {
		t.Errorf("the case is %+v", got)
	}
}

// TestTheEvidenceIsOfWhatIsNamed, and of nothing that has its namespace or the name of its
// container too.
func TestTheEvidenceIsOfWhatIsNamed(t *testing.T) {
	t.Parallel()
	s := view{until: 10, about: reports.Names{{Variable: "containers", Text: "shop/web/app", Object: "pods/shop/web", Container: "app"}}, Narration: &narrate.Narration{
		Lanes: []narrate.Lane{
			{Name: "pods/shop/web", Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 1, Label: "Ready"}}},
			{Name: "pods/shop/other", Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 2, Label: "Ready"}}},
			{Name: "pods/default/web", Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 2, Label: "Ready"}}},
			{Name: "node-a/web", Kind: narrate.Agent, Marks: []narrate.Mark{{At: 3, Label: "list"}}},
		},
		Attempts: []narrate.Attempt{
			{At: 1, Container: "shop/web/app", By: "liveness"}, {At: 1, Container: "shop/web/log", By: "other"}, {At: 1, Container: "shop/other/app", By: "other"}, {At: 1, Container: "default/web/app", By: "other"},
		},
		Logs: []narrate.Log{{Component: "kubelet", Lines: []narrate.Line{{At: 1, Text: "of web"}, {At: 2, Text: "of the app of another in the shop"}}}},
	}}
	for got, want := range map[string]string{
		s.moments().Text:  "  1.000 s  pods/shop/web: Ready",
		s.attempts().Text: "  1.000 s  shop/web/app, liveness:  (one of 1)",
		s.lines().Text:    "  1.000 s  kubelet: of web",
	} {
		if got != want {
			t.Errorf("the evidence is\n%s\nwant\n%s", got, want)
		}
	}
}

// TestTheCaseOfALostField shows which server wrote each value, and what was lost.
func TestTheCaseOfALostField(t *testing.T) {
	t.Parallel()
	check := reports.Check{ID: "kept", Outcome: reports.Fail, Expected: `at once: pods["web"].spec.protocol == "HTTP2"`}
	narration := func(tone narrate.Tone) *narrate.Narration {
		return &narrate.Narration{
			Checks: []narrate.Check{{ID: "kept", To: 9, Named: reports.Names{{Variable: "pods", Text: "web", Object: "pods/default/web"}}, History: []narrate.Line{
				{At: 3, What: "kube-apiserver v1.90.1, resourceVersion 1", Text: `"HTTP2"`}, {At: 8, What: "kube-apiserver v1.89.3, resourceVersion 2, written in step 2", Text: "not set", Tone: tone},
			}}},
			Objects: []narrate.Object{{Key: "pods/default/web", Versions: []narrate.Version{{At: 3, Step: 1, YAML: "spec:\n  protocol: HTTP2\n"}, {At: 8, Step: 2, YAML: "spec: {}\n"}}}},
		}
	}
	cell := reports.Cell{ID: "a/b/c", Checks: []reports.Check{check}}
	got := NewCase(evidence.Run{}, Finding{}, cell, check, narration(narrate.Bad)).Exhibits[0]
	want := Exhibit{Title: "History of the field", Text: "  3.000 s  \"HTTP2\": kube-apiserver v1.90.1, resourceVersion 1\n  8.000 s  not set: kube-apiserver v1.89.3, resourceVersion 2, written in step 2 (lost here)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := NewCase(evidence.Run{}, Finding{}, cell, check, narration("")).Exhibits[0]; got.Title != want.Title || got.Text+" (lost here)" != want.Text {
		t.Errorf("of one that is not lost, it is %+v", got)
	}
}

// TestLogLinesOfAField: those that name it, whole as the narration has them.
func TestLogLinesOfAField(t *testing.T) {
	t.Parallel()
	text := "field httpGet.protocol " + strings.Repeat("long ", maxExhibit/4) + "not declared"
	s := view{until: 10, looked: narrate.Check{Field: "httpGet.protocol"}, about: reports.Names{{Variable: "pods", Text: "web", Object: "pods/default/web"}}, Narration: &narrate.Narration{
		Logs: []narrate.Log{{Component: "kube-apiserver", Lines: []narrate.Line{{At: 1, Text: text}, {At: 2, Text: "of another"}}}},
	}}
	if got := s.lines().Text; got != "  1.000 s  kube-apiserver: "+text {
		t.Errorf("the lines are\n%s", got)
	}
}

// TestACaseNamesTheChecksOfItsFailure: those that fail for the same, and no other.
func TestACaseNamesTheChecksOfItsFailure(t *testing.T) {
	t.Parallel()
	narration := &narrate.Narration{Checks: []narrate.Check{{ID: "first"}, {ID: "second", Same: "first"}, {ID: "third", Same: "first"}, {ID: "fourth"}}}
	cell := reports.Cell{ID: "a/b/c"}
	for id, want := range map[string]string{"first": "second third", "second": "first third", "fourth": ""} {
		got := NewCase(evidence.Run{}, Finding{}, cell, reports.Check{ID: id}, narration).Also
		if strings.Join(got, " ") != want {
			t.Errorf("with %s, the same failure has %q, want %q", id, got, want)
		}
	}
}
