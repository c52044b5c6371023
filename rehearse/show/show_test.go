package show_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/rehearse/show"
	"github.com/skewrig/skewrig/reports/render"
)

// quiet is a rehearsal of 57 objects that found nothing.
func quiet() rehearse.Report {
	r := rehearse.Report{From: "v1.36.5", To: "v1.37.2", Read: rehearse.Reading{Files: 1, Documents: 57, Objects: 57, Workloads: 45}}
	for _, s := range rehearse.Stages {
		r.Stages = append(r.Stages, rehearse.StageResult{Stage: s, Seconds: 12.5})
	}
	for i := range 57 {
		r.Objects = append(r.Objects, rehearse.Object{Ref: ref("deploy/web.yaml", fmt.Sprintf("web-%d", i), 12+20*i)})
	}
	r.Mocked = []string{"images of 45 workloads", "2 volumes", "a load balancer"}
	return r
}

func ref(file, name string, line int) rehearse.Ref {
	return rehearse.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: name, Place: manifest.Place{File: file, Line: line, Document: 1 + line/20}}
}

// mixed has findings with 1, 40 and no objects, a known one, and all else that a report can have.
func mixed() rehearse.Report {
	r := quiet()
	web := rehearse.Finding{
		What: rehearse.FieldLost, Summary: "the API server drops spec.template.spec.workloadRef", Stage: rehearse.Back,
		Cause: "the gate GenericWorkload is off by default in v1.36", Advice: "remove spec.template.spec.workloadRef before you go back",
	}
	for _, o := range r.Objects[:40] {
		web.Objects = append(web.Objects, rehearse.Affected{Ref: o.Ref, Detail: "workloadRef was {name: w}"})
	}
	panics := rehearse.Finding{
		What: rehearse.Panics, Summary: "kube-controller-manager v1.36.5 panics: nil pointer dereference", Stage: rehearse.Back,
		Advice: "do not go back before the fix of the controller manager is in v1.36",
	}
	one := rehearse.Finding{
		What: rehearse.Restarts, Summary: "containers restart", Stage: rehearse.Nodes, Advice: "expect one restart, or set a PodDisruptionBudget",
		Objects: []rehearse.Affected{{Ref: r.Objects[41].Ref, Detail: "web restarted 3 times"}},
	}
	accepted := one
	accepted.Accepted, accepted.Objects = "restarts at night are fine", []rehearse.Affected{{Ref: r.Objects[42].Ref, Detail: "web restarted once"}}
	r.Findings, r.Known = []rehearse.Finding{web, panics, one}, []rehearse.Finding{accepted}
	r.Problems = []manifest.Problem{
		{Place: manifest.Place{File: "deploy/old.yaml", Line: 1, Document: 1}, Object: "PodSecurityPolicy old", Why: "neither release has policy/v1beta1"},
		{Place: manifest.Place{File: "-", Line: 7, Document: 2, Template: "shop/templates/notes.yaml"}, Why: "it is no Kubernetes object: the field kind is missing"},
	}
	for i := 50; i < 53; i++ {
		r.Objects[i].Pending = "0 of 1 pods ready"
	}
	r.Notices = []rehearse.Notice{
		{Text: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice", Objects: []rehearse.Ref{r.Objects[55].Ref, r.Objects[56].Ref}},
		{Text: "the gate MutablePVNodeAffinity is on by default since v1.37"},
	}
	r.Operators = []rehearse.RanOperator{{Name: "shop-operator", Program: "./bin/shop-operator --leader-elect=false"}}
	r.Inert = []rehearse.Inert{{Why: "its operator was not given", Objects: []rehearse.Ref{
		{APIVersion: "kafka.strimzi.io/v1", Kind: "Kafka", Namespace: "shop", Name: "events", Place: manifest.Place{File: "kafka.yaml", Line: 3, Document: 1}},
	}}}
	return r
}

// hostile has names and messages that do something if a format lets them through.
func hostile() rehearse.Report {
	const bad = "<script>alert(1)</script>\x1b[31m\n| %0A::error::x |`*_[a](javascript:b) &amp; ]]> \u202e ${{ x }} @octocat \xff"
	r := quiet()
	r.Objects = r.Objects[:1]
	at := rehearse.Ref{APIVersion: bad, Kind: bad, Namespace: bad, Name: " " + bad + " ", Place: manifest.Place{File: "a b/%0A:\x1b[2J<script>\n\xff.yaml", Line: 3, Document: 1, Template: bad}}
	f := rehearse.Finding{What: rehearse.Refused, Summary: bad, Stage: rehearse.HalfWay, Cause: bad, Advice: bad, Objects: []rehearse.Affected{{Ref: at, Detail: bad}}}
	r.Findings, r.Known = []rehearse.Finding{f}, []rehearse.Finding{f}
	r.Known[0].Accepted = bad
	r.Objects = append(r.Objects, rehearse.Object{Ref: at, Pending: bad})
	r.Problems = []manifest.Problem{{Place: at.Place, Object: bad, Why: bad}, {Place: at.Place, Object: bad + " ", Why: bad + " "}}
	r.Notices = []rehearse.Notice{{Text: bad, Objects: []rehearse.Ref{at}}}
	r.Mocked, r.Inert = []string{bad}, []rehearse.Inert{{Why: bad, Objects: []rehearse.Ref{at}}}
	return r
}

// failed ended before anything changed.
func failed() rehearse.Report {
	r := mixed()
	r.Failed, r.Stages = "stage upgraded: kube-apiserver v1.37.2 exited with code 1", r.Stages[:2]
	r.Findings = r.Findings[2:]
	r.Findings[0].Stage = rehearse.HalfWay
	return r
}

// samples are the reports that each format is checked with, by the name of the golden file.
func samples() map[string]rehearse.Report {
	return map[string]rehearse.Report{
		"quiet": quiet(), "mixed": mixed(), "hostile": hostile(), "failed": failed(), "empty": {From: "v1.36.5", To: "v1.37.2"},
	}
}

// written is what a writer writes.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func textOf(t *testing.T, r rehearse.Report) string {
	t.Helper()
	return written(t, func(w io.Writer) error { return show.Text(w, r, "rehearsal") })
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, r := range samples() {
		got := textOf(t, r)
		golden.Check(t, "testdata/"+name+".txt", got)
		if strings.ContainsAny(got, "\x1b\u202e") {
			t.Errorf("%s: the text can control a terminal", name)
		}
	}
}

// TestTextFitsAScreen: a normal report is at most 24 lines of 100 columns, also if very much was found.
func TestTextFitsAScreen(t *testing.T) {
	t.Parallel()
	if got := strings.Count(render.Fit(textOf(t, mixed()), 100), "\n"); got > 24 {
		t.Errorf("%d lines:\n%s", got, render.Fit(textOf(t, mixed()), 100))
	}
	many := mixed()
	for range 500 {
		many.Findings = append(many.Findings, many.Findings[2])
		many.Problems = append(many.Problems, many.Problems[0])
		many.Notices = append(many.Notices, many.Notices[1])
		many.Inert = append(many.Inert, many.Inert[0])
		many.Known = append(many.Known, many.Known[0])
	}
	if got := strings.Count(textOf(t, many), "\n"); got > 44 {
		t.Errorf("%d lines of a very long report:\n%s", got, textOf(t, many))
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	onlyBack, onlyUp, some, forwardOnly := quiet(), quiet(), quiet(), quiet()
	onlyBack.Findings = mixed().Findings[:2]
	onlyUp.Findings = mixed().Findings[2:]
	some.Problems = mixed().Problems
	forwardOnly.Stages = forwardOnly.Stages[:5]
	storedOnly := quiet()
	storedOnly.Stages = storedOnly.Stages[:1]
	storedOnly.Objects[0].Pending = "0 of 1 pods are ready"
	none := rehearse.Report{From: "v1.36.5", To: "v1.37.2", Problems: mixed().Problems[:1]}
	for want, r := range map[string]rehearse.Report{
		"v1.36.5 -> v1.37.2: yes, nothing changes for your 57 objects. Back to v1.36.5: yes.":                                                             quiet(),
		"v1.36.5 -> v1.37.2: yes, nothing changes for your 57 objects. Back to v1.36.5: NO, 2 findings.":                                                  onlyBack,
		"v1.36.5 -> v1.37.2: NO, 1 finding. Back to v1.36.5: yes, for your 57 objects.":                                                                   onlyUp,
		"v1.36.5 -> v1.37.2: NO, 1 finding. Back to v1.36.5: NO, 2 findings.":                                                                             mixed(),
		"v1.36.5 -> v1.37.2: yes, nothing changes for the 57 objects that were stored (2 documents were left out). Back to v1.36.5: yes.":                 some,
		"v1.36.5 -> v1.37.2: yes, nothing changes for your 57 objects. Back to v1.36.5: NOT JUDGED, it was not rehearsed.":                                forwardOnly,
		"v1.36.5: 56 of 57 objects came to rest. The upgrade was not rehearsed.":                                                                          storedOnly,
		"v1.36.5 -> v1.37.2 and back: NOT JUDGED: no object was stored, and 1 document was left out.":                                                     none,
		"v1.36.5 -> v1.37.2 and back: NOT JUDGED, after 1 finding: the rehearsal ended early, stage upgraded: kube-apiserver v1.37.2 exited with code 1.": failed(),
	} {
		if got := show.Answer(r); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for name, r := range samples() {
		golden.Check(t, "testdata/"+name+".json", written(t, func(w io.Writer) error { return show.JSON(w, r) }))
	}
}
