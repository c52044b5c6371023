package law_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/law"
)

// story is a made-up record of the pod web, with ten seconds a phase.
type story struct {
	events  []record.Event
	version int // the last resource version
}

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s *story) add(at float64, subject string, payload record.Payload) {
	data, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	s.events = append(s.events, record.Event{Seq: len(s.events) + 1, At: midnight.Add(time.Duration(at * float64(time.Second))), Kind: payload.EventKind(), Subject: subject, Data: data})
}

// show shows an object of the namespace default, which was written.
func (s *story) show(at float64, resource, name, rest string) {
	s.version++
	body := fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "default", "uid": "uid-%s", "resourceVersion": "%d", "generation": 2}, %s}`, name, name, s.version, rest)
	s.add(at, resource+"/default/"+name, record.ObjectObserved{Change: "modified", Resource: resource, Namespace: "default", Name: name, Object: json.RawMessage(body)})
}

// pod is one that runs, with a field, in a phase, whose container was started again so many times, and whose status is about a generation.
func pod(field, phase string, restarts, observed int) string {
	return fmt.Sprintf(`"spec": {"field": %q}, "status": {"phase": %q, "observedGeneration": %d, "containerStatuses": [{"name": "app", "restartCount": %d}]}`, field, phase, observed, restarts)
}

func TestNamedAfter(t *testing.T) {
	t.Parallel()
	names := map[string]bool{"shop/web": true, "shop/web-front": true, "shop": true, "s0001": true}
	for name, want := range map[string]string{
		"shop/web": "shop/web", "shop/web-7c9d-x2": "shop/web", "shop/web-front-7c9d": "shop/web-front",
		"shop/db-0": "", "other/web": "", "s0001-a": "s0001", "": "", "shop/webs": "",
	} {
		if got := law.NamedAfter(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// owned shows a thing that another one owns.
func (s *story) owned(at float64, name, owner string) {
	body := fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "default", "uid": "uid-%s", "ownerReferences": [{"uid": "uid-%s"}]}}`, name, name, owner)
	s.add(at, "things/default/"+name, record.ObjectObserved{Change: "modified", Resource: "things", Namespace: "default", Name: name, Object: json.RawMessage(body)})
}

// TestLaws: a pod for which all is well breaks no law, and for each law there is one that breaks it.
func TestLaws(t *testing.T) {
	t.Parallel()
	fine := pod("x", "Running", 0, 2)
	web := law.Object{Key: "pods/default/web", Kind: "Pod", Name: "web", Fields: []law.Field{{Path: "spec.field", Off: true}}}
	creates, bare := []law.Request{{Verb: law.Creates}}, []law.Request{{Verb: law.Creates, Without: []string{"spec.field"}}}
	no, down := law.Said{Text: "no", Code: 422}, law.Said{Text: "down", Code: 503}
	broken := map[string]bool{}
	for name, tc := range map[string]struct {
		object func(*law.Object)
		record func(*story)
		want   []string
	}{
		"all is well": {},
		"it is written": {record: func(s *story) {
			for range law.MaxWrites + 1 {
				s.show(25, "pods", "web", fine)
			}
		}, want: []string{law.Endless}},
		"it is asked for": {record: func(s *story) {
			for range law.MaxWrites + 1 {
				s.add(25, "kube-controller-manager->kube-apiserver", record.LinkRequest{Method: "PUT", Path: "/api/v1/namespaces/default/pods/web", Code: 409})
			}
		}, want: []string{law.Asked}},
		"what it owns is asked for": {record: func(s *story) {
			for range law.MaxWrites + 1 {
				s.add(25, "kube-controller-manager->kube-apiserver", record.LinkRequest{Method: "PUT", Path: "/api/v1/namespaces/default/pods/web-1/status", Code: 409})
			}
		}, want: []string{law.Asked}},
		"another namespace's": {record: func(s *story) {
			for range law.MaxWrites + 1 {
				s.add(25, "kube-controller-manager->kube-apiserver", record.LinkRequest{Method: "PUT", Path: "/api/v1/namespaces/web/pods/web", Code: 409})
			}
		}},
		"owners in a circle": {record: func(s *story) {
			s.owned(25, "a", "b")
			s.owned(25, "b", "a")
		}},
		"it is only read": {record: func(s *story) {
			for range law.MaxWrites + 1 {
				s.add(25, "kube-controller-manager->kube-apiserver", record.LinkRequest{Method: "GET", Path: "/api/v1/namespaces/default/pods/web", Code: 200})
			}
		}},
		"it is reported": {record: func(s *story) {
			for n := range law.MaxWrites + 1 {
				s.show(25, "events", fmt.Sprintf("web.%d", n), `"involvedObject": {"uid": "uid-web"}`)
			}
		}, want: []string{law.Events}},
		"a server fails":       {object: func(o *law.Object) { o.Answers = []law.Answer{{Off: down}} }, want: []string{law.Failed}},
		"it is refused":        {object: func(o *law.Object) { o.Answers = []law.Answer{{Off: no}} }, want: []string{law.Refused}},
		"it was refused":       {object: func(o *law.Object) { o.Answers = []law.Answer{{On: no, Off: no}} }},
		"its field goes":       {record: func(s *story) { s.show(25, "pods", "web", pod("y", "Running", 0, 2)) }, want: []string{law.Lost}},
		"it is made with it":   {object: func(o *law.Object) { o.Requests = creates }, want: []string{law.Stored}},
		"it is made bare":      {object: func(o *law.Object) { o.Requests = bare }, want: []string{law.Defaulted}},
		"its gate stays on":    {object: func(o *law.Object) { o.Requests, o.Fields[0].Off = creates, false }},
		"it is deleted":        {object: func(o *law.Object) { o.Requests = []law.Request{{Verb: law.Deletes}} }, want: []string{law.Stays}},
		"it is another one":    {object: func(o *law.Object) { o.Fields = nil }, record: func(s *story) { s.show(35, "pods", "web", pod("y", "Running", 0, 2)) }, want: []string{law.Changed}},
		"its controller lags":  {record: func(s *story) { s.show(25, "pods", "web", pod("x", "Running", 0, 1)) }, want: []string{law.Behind}},
		"its container starts": {record: func(s *story) { s.show(35, "pods", "web", pod("x", "Running", 1, 2)) }, want: []string{law.Stopped}},
		"it ends":              {record: func(s *story) { s.show(35, "pods", "web", pod("x", "Failed", 0, 2)) }, want: []string{law.Stopped}},
	} {
		o, s := web, &story{}
		o.Fields = slices.Clone(web.Fields)
		s.show(1, "pods", "web", fine)
		if tc.object != nil {
			tc.object(&o)
		}
		if tc.record != nil {
			tc.record(s)
		}
		at := func(seconds int) time.Time { return midnight.Add(time.Duration(seconds) * time.Second) }
		c := law.NewCourse(law.Course{
			Timeline: timeline.Of(s.events), ServerChanges: true,
			Began: map[law.Phase]time.Time{law.On: at(0), law.Off: at(10), law.Mutated: at(20), law.Again: at(30)}, Ended: at(40),
		}, []law.Object{o})
		var got []string
		for _, b := range c.Breaches(o) {
			got, broken[b.What] = append(got, b.What), true
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	page, err := os.ReadFile("../../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range law.All {
		if row := "| " + l.Breach + " | " + strings.TrimSuffix(l.Statement, "."); !strings.Contains(string(page), row) {
			t.Errorf("docs/sweep.md has no row %q", row)
		}
		if !broken[l.Breach] {
			t.Errorf("nothing breaks the law that says %q", l.Breach)
		}
		if l.Statement == "" || l.Source == "" {
			t.Errorf("the law of %q has no statement, or no source", l.Breach)
		}
	}
}
