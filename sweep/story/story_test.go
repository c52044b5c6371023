package story_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/sweep/story"
	"github.com/skewrig/skewrig/sweep/trial"
)

// TestStoriesAreTheSameEachTime, with names of their own in each dimension.
func TestStoriesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	all := story.Stories(nil)
	for n, again := range story.Stories(nil) {
		if !reflect.DeepEqual(all[n], again) {
			t.Errorf("%s/%s: %s", again.Dimension, again.Name, cmp.Diff(all[n], again))
		}
	}
	had := make(map[string]bool)
	for _, s := range all {
		if id := s.Dimension + "/" + s.Name; had[id] {
			t.Errorf("two stories %s", id)
		} else {
			had[id] = true
		}
	}
	for _, d := range story.Dimensions() {
		if !slices.ContainsFunc(all, func(s story.Story) bool { return s.Dimension == d.Name }) {
			t.Errorf("no story of %s", d.Name)
		}
	}
}

// TestEachStoryIsInOneBatch, whose scenario has all that it does.
func TestEachStoryIsInOneBatch(t *testing.T) {
	t.Parallel()
	n := 0
	for _, b := range story.Batches(story.Stories(nil)) {
		n += len(b.Stories)
	}
	if all := len(story.Stories(nil)); n != all {
		t.Errorf("%d of %d stories", n, all)
	}
	s := story.Story{
		Name: "one", Dimension: "owners", Objects: []map[string]any{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}},
		Acts: []story.Act{{Words: "labeled", Steps: []story.Step{{"patch": map[string]any{"object": "configmaps/$here/a", "merge": map[string]any{}}}}, Fault: &story.Step{"stale": map[string]any{"from": "kube-scheduler"}}}},
	}
	text, err := story.Batch{ID: "sweep/owners/one", Stories: []story.Story{s}}.Scenario("v1.90.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"title: 'one: labeled'", "namespace: story-01", "object: configmaps/story-01/a", "heal: kube-scheduler", "name: rest-healed-1", "refusable: true", "object: namespaces/story-01"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, b := range story.Batches(story.Stories(nil)) {
		if text, err := b.Scenario("v1.90.1"); err != nil || strings.Contains(string(text), "$here") || strings.Contains(string(text), "$release") {
			t.Errorf("%s: %v, or a namespace is not filled in", b.ID, err)
		}
	}
}

// events are what a record has of an object that is not as it should be, from a rest on.
func events(t *testing.T, first string) *timeline.Timeline {
	t.Helper()
	h := record.NewHistory(nil)
	observe := func(resource, text string) {
		var o struct {
			Metadata struct{ Name, Namespace string }
		}
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		h.Append("watch", resource+"/"+o.Metadata.Namespace+"/"+o.Metadata.Name, record.ObjectObserved{
			Change: "added", Resource: resource, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Object: json.RawMessage(text),
		})
	}
	observe("replicasets", `{"metadata": {"name": "web", "namespace": "story-01", "uid": "1"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}}}`)
	h.Append("engine", first, record.Settled{Touched: 1})
	h.Append("engine", "rest-act-1", record.Settled{Touched: 1})
	return timeline.Of(h.Events())
}

func TestJudge(t *testing.T) {
	t.Parallel()
	s := story.Story{Name: "one", Dimension: "owners", Acts: []story.Act{{Words: "labeled"}}}
	b := story.Batch{ID: "sweep/owners/one", Stories: []story.Story{s}}
	found := story.Judge(b, events(t, "rest-created"))
	if len(found) != 1 || found[0].Resource != "replicasets" || len(found[0].Found) != 1 || found[0].Found[0].Act != 0 || found[0].Found[0].Story != "one" {
		t.Fatalf("got %+v", found)
	}
	of, shown := found[0].In(b, events(t, "rest-created"))
	if _, is := found[0].In(b, timeline.New()); is || !shown || of.Object != "replicasets/story-01/web" {
		t.Errorf("an empty record shows it: %t; got %+v", is, of)
	}
	of = story.Judge(b, events(t, "rest-act-1"))[0].Found[0]
	alone, control, is := story.Alone(s, of, 0)
	if of.Act != 1 || !is || len(alone.Stories[0].Acts) != 1 || len(control.Stories[0].Acts) != 0 {
		t.Errorf("act %d, %+v, %+v", of.Act, alone, control)
	}
	var ran story.BatchResult
	ran.See(events(t, "rest-created"))
	if ran.Objects != 1 || ran.Seconds > time.Minute.Seconds() || ran.Restless != nil {
		t.Errorf("got %+v", ran)
	}
}

// TestConfirmed: it is seen alone each time, and not in a control.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	rate := func(red int) *trial.Rate { return &trial.Rate{Red: red, Runs: 3} }
	for _, c := range []struct {
		alone, control *trial.Rate
		want           bool
	}{{rate(3), rate(0), true}, {rate(3), nil, true}, {rate(2), rate(0), false}, {rate(3), rate(1), false}, {nil, nil, false}} {
		if got := (story.Found{Alone: c.alone, Control: c.control}).Confirmed(); got != c.want {
			t.Errorf("%s, %s: %t", c.alone, c.control, got)
		}
	}
}

// TestUnconfirmed: stories are tried one after the other, until one is confirmed.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	rate := func(red int) story.Found { return story.Found{Alone: &trial.Rate{Red: red, Runs: 3}} }
	for name, test := range map[string]struct {
		found []story.Found
		place int
		is    bool
	}{
		"none is":         {[]story.Found{{}, {}}, 0, true},
		"the first isn't": {[]story.Found{rate(2), {}}, 1, true},
		"the first is":    {[]story.Found{rate(3), {}}, 1, false},
		"none is left":    {[]story.Found{rate(2), rate(0)}, -1, false},
	} {
		if place, is := (story.Finding{Found: test.found}).Unconfirmed(); place != test.place || is != test.is {
			t.Errorf("%s: got %d, %t", name, place, is)
		}
	}
}

// TestFailed: an answer with 500 is a finding, unless there is a fault.
func TestFailed(t *testing.T) {
	t.Parallel()
	b := story.Batch{ID: "sweep/parts/one", Stories: []story.Story{{Name: "one", Dimension: "parts", Acts: []story.Act{{Words: "put"}}}}}
	answered := func(code int, fault bool) *timeline.Timeline {
		h := record.NewHistory(nil)
		if fault {
			h.Append("engine", "kubelet/node-a->kube-apiserver", record.FaultBegan{Fault: record.LinkFault{Cut: record.CutDrop}})
		}
		h.Append("engine", "story-01-act-1-1", record.APIAnswer{Object: "story-01things/story-01/one", Code: code})
		return timeline.Of(h.Events())
	}
	found := story.Judge(b, answered(500, false))
	if len(found) != 1 || found[0].Class != "500" || found[0].Resource != "things" || found[0].Found[0].Act != 1 {
		t.Errorf("got %+v", found)
	}
	if found := slices.Concat(story.Judge(b, answered(500, true)), story.Judge(b, answered(422, false))); len(found) > 0 {
		t.Errorf("got %+v", found)
	}
}

// TestAt: an object is of a story if its namespace is, or its name has that of the story.
func TestAt(t *testing.T) {
	t.Parallel()
	b := story.Batch{Stories: []story.Story{{Name: "one"}, {Name: "two"}}}
	for key, want := range map[string]string{
		"pods/story-01/web": "one", "namespaces/story-02": "two", "resourceslices/story-02-a": "two", "deviceclasses/gpu.story-01.example.com": "one",
		"nodes/node-a": "", "pods/story-03/web": "", "pods/default/story": "", "pods/default/my-story-01": "",
	} {
		if s, is := b.At(key); s.Name != want || is != (want != "") {
			t.Errorf("%s: got %q, %t", key, s.Name, is)
		}
	}
	b.Stories = b.Stories[:1]
	if s, is := b.At("nodes/node-a"); s.Name != "one" || !is {
		t.Error("a node is not of the only story")
	}
}
