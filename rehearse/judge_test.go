package rehearse

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/scenarios/law"
)

const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1, template: {spec: {hostname: a}}}`

// rehearsed is what was seen of one Deployment, in all stages alike.
func rehearsed(t *testing.T) Seen {
	t.Helper()
	item := Item{Ref: Ref{Kind: "Deployment", Namespace: "shop", Name: "web", Place: manifest.Place{File: "web.yaml", Line: 1}}, Key: "deployments/shop/web", Manifest: decoded(t, web+"}")}
	s := Seen{From: "v1.90.1", To: "v1.91.0", Items: []Item{item}}
	for _, side := range []*Side{&s.Subject, &s.Twin} {
		side.Timeline = timeline.Of(nil)
		for n, stage := range Stages {
			began := time.Unix(int64(n*10), 0)
			seen := StageSeen{StageResult: StageResult{Stage: stage}, Began: began, Ended: began.Add(9 * time.Second), Objects: make(map[string]map[string]any)}
			seen.Objects[item.Key] = decoded(t, web+", status: {readyReplicas: 1}}")
			side.Stages = append(side.Stages, seen)
		}
	}
	return s
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// breaks changes what was seen of a side in a stage.
		breaks func(t *testing.T, s *StageSeen)
		stage  StageName
		want   []string // class, stage and summary
		// staying is true if the twin shows the same.
		staying bool
	}{
		{name: "nothing", stage: Back, breaks: func(*testing.T, *StageSeen) {}},
		{name: "a list that can't be decoded", stage: Back, breaks: func(_ *testing.T, s *StageSeen) {
			s.Unread = map[string]string{"deployments/shop/web": "no kind"}
		}, want: []string{"not readable, back: the API server can't read it"}},
		{name: "an object that is gone", stage: Upgraded, breaks: func(_ *testing.T, s *StageSeen) { clear(s.Objects) }, want: []string{"not readable, upgraded: gone"}},
		{name: "a field that goes", stage: Back, breaks: func(t *testing.T, s *StageSeen) {
			t.Helper()
			s.Objects["deployments/shop/web"] = decoded(t, strings.Replace(web, "hostname: a", "", 1)+", status: {readyReplicas: 1}}")
		}, want: []string{"field lost, back: spec.template.spec.hostname is lost"}},
		{name: "a value that changes", stage: Nodes, breaks: func(t *testing.T, s *StageSeen) {
			t.Helper()
			s.Objects["deployments/shop/web"] = decoded(t, strings.Replace(web, "hostname: a", "hostname: b", 1)+", status: {readyReplicas: 1}}")
		}, want: []string{"rewritten, nodes: spec.template.spec.hostname is rewritten"}},
		{name: "pods that are not ready", stage: HalfWay, breaks: func(t *testing.T, s *StageSeen) {
			t.Helper()
			s.Objects["deployments/shop/web"] = decoded(t, web+"}")
		}, want: []string{"not ready, half-way: not ready any more"}},
		{name: "a request that is refused", stage: Changed, breaks: func(_ *testing.T, s *StageSeen) {
			s.Answers = map[string][]law.Said{"deployments/shop/web": {{Text: "web is no good", Code: 422}}}
		}, want: []string{"refused, changed: apply: NAME is no good"}},
		{name: "a request that fails", stage: Changed, breaks: func(_ *testing.T, s *StageSeen) {
			s.Answers = map[string][]law.Said{"deployments/shop/web": {{}, {Text: "panic", Code: 500}}}
		}, want: []string{"API server fails, changed: patch of metadata.labels.skewrig.dev/round: panic"}},
		{name: "a drain that is blocked", stage: Nodes, breaks: func(_ *testing.T, s *StageSeen) {
			s.Evictions = map[string]string{"shop/web-1-2": "budget", "shop/webs-1": "budget", "other/web-1": "budget"}
		}, want: []string{"eviction blocked, nodes: a drain can't evict its pods"}},
		{name: "the same on the twin", stage: Back, staying: true, breaks: func(_ *testing.T, s *StageSeen) {
			s.Unread = map[string]string{"deployments/shop/web": "no kind"}
		}},
	} {
		s := rehearsed(t)
		answered := []law.Said{{}, {}}
		s.Subject.stage(Changed).Answers, s.Twin.stage(Changed).Answers = map[string][]law.Said{"deployments/shop/web": answered}, map[string][]law.Said{"deployments/shop/web": answered}
		c.breaks(t, s.Subject.stage(c.stage))
		if c.staying {
			c.breaks(t, s.Twin.stage(c.stage))
		}
		findings, _ := Judge(s)
		var got []string
		for _, f := range findings {
			got = append(got, string(f.What)+", "+string(f.Stage)+": "+f.Summary)
			if len(f.Objects) != 1 || f.Objects[0].Line != 1 || f.Advice == "" {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	s := rehearsed(t)
	s.Items[0].Manifest = decoded(t, strings.Replace(web, "hostname: a", "hostname: a, newer: 1", 1)+"}")
	s.Subject.stage(Changed).Warnings = map[string][]string{"deployments/shop/web": {"deprecated"}}
	s.Subject.stage(Forward).Objects["deployments/shop/web"] = decoded(t, strings.Replace(web, "hostname: a", "hostname: a, filled: 1", 1)+", status: {readyReplicas: 1}}")
	findings, notices := Judge(s)
	var got []string
	for _, n := range notices {
		got = append(got, n.Text)
	}
	want := []string{"the API server warns: deprecated", "v1.90.1 does not store spec.template.spec.newer", "v1.91.0 fills in spec.template.spec.filled"}
	if diff := cmp.Diff(want, got); diff != "" || len(findings) > 0 {
		t.Errorf("%v, -want +got:\n%s", findings, diff)
	}
}

func TestOfSaysThatItEndedEarly(t *testing.T) {
	t.Parallel()
	s := rehearsed(t)
	if r := Of(s, manifest.Input{}, Storing{}); r.Failed != "" || len(r.Stages) != len(Stages) {
		t.Errorf("%+v", r)
	}
	s.Subject.Stages = s.Subject.Stages[:3]
	if r := Of(s, manifest.Input{}, Storing{}); r.Failed == "" {
		t.Errorf("%+v", r)
	}
	s.Subject.Exit = "kube-apiserver/b v1.91.0 ended"
	r := Of(s, manifest.Input{}, Storing{})
	if r.Failed != "" || len(r.Findings) != 1 || r.Findings[0].What != Panics || r.Findings[0].Stage != Upgraded {
		t.Errorf("%+v", r)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		object string
		want   []string
	}{
		{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, []string{"apply", "patch of metadata.labels.skewrig.dev/round"}},
		{web + "}", []string{"apply", "patch of metadata.labels.skewrig.dev/round", "patch of spec.replicas", "patch of spec.replicas", "patch of spec.template.metadata.annotations.kubectl.kubernetes.io/restartedAt"}},
		{`{apiVersion: batch/v1, kind: Job, metadata: {name: a}}`, []string{"apply", "patch of metadata.labels.skewrig.dev/round", "patch of spec.suspend", "patch of spec.suspend", "delete", "apply"}},
	} {
		var got []string
		for _, r := range RequestsOf(decoded(t, c.object), 1) {
			got = append(got, NameRequest(r))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.object, diff)
		}
	}
}
