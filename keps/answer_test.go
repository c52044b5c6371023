package keps

import (
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/instrumentation"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// swept is a sweep in which gates are turned off at the API server, at the kubelet and at one of two API servers.
func swept(bare bool, findings ...trial.Finding) *trial.Result {
	r := &trial.Result{Version: "v1.37.2", Gates: []string{"ThingGate"}, Findings: findings}
	gate := "ThingGate"
	if bare {
		gate, r.Bare = "", r.Gates
	}
	r.Transitions = trial.Transitions([]string{record.APIServer, trial.Kubelet, trial.ClientsServer}, "v1.37.2", "")
	for n, transition := range r.Transitions {
		r.Plans = append(r.Plans, trial.PlanResult{Plan: trial.Plan{Number: n + 1, Transition: transition}, Objects: 4})
		r.Tried = append(r.Tried, trial.Tally{Transition: transition.String(), Gate: gate, Mutation: trial.Label, Objects: 4})
	}
	return r
}

// found is a finding about a Deployment with a field of the gate.
func found(what string) trial.Finding {
	return trial.Finding{What: what, Items: []trial.Found{{
		Item:       trial.Item{Use: trial.Use{Kind: "Deployment", Used: trial.Used{Field: "thing", Gates: []string{"ThingGate"}}}},
		Transition: "gates off at kube-apiserver", Detail: "it is gone", Alone: &trial.Rate{Red: 3, Runs: 3}, Control: &trial.Rate{Runs: 3},
	}}}
}

var thing = KEP{Number: 1, Title: "Things", Gates: []Gate{{Name: "ThingGate", Components: []string{record.APIServer, trial.Kubelet}}}}

func released(locked bool) gated.Release {
	return gated.Release{Version: "v1.37.2", Gates: []gated.Gate{{Name: "ThingGate", Stage: "BETA", Default: true, Locked: locked, Fields: []gated.Field{{Name: "core/v1.Thing.field"}}}}}
}

// TestVerdicts: an answer is as good as what was tried, and no better.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	unconfirmed := swept(false)
	unconfirmed.NotConfirmed = []trial.Finding{found(law.Lost)}
	elsewhere := thing
	elsewhere.Gates = []Gate{{Name: "ThingGate", Components: []string{record.APIServer, record.Scheduler}}}
	for name, test := range map[string]struct {
		kep      KEP
		off      *trial.Result
		question string
		want     Verdict
	}{
		"all components":                      {thing, swept(false), prr.Disabled, Shown},
		"no field":                            {thing, swept(true), prr.Disabled, Partly},
		"a component did not change":          {elsewhere, swept(false), prr.Disabled, Partly},
		"it did not run":                      {thing, nil, prr.Disabled, NotTried},
		"no object":                           {thing, &trial.Result{Gates: []string{"ThingGate"}}, prr.Disabled, NotTried},
		"lost while it is off":                {thing, swept(false, found(law.Lost)), prr.Disabled, Contradicted},
		"not confirmed":                       {thing, unconfirmed, prr.Disabled, Partly},
		"lost, and there again":               {thing, swept(false, found(law.Lost)), prr.Reenabled, Shown},
		"another one afterwards":              {thing, swept(false, found(law.Changed)), prr.Reenabled, Contradicted},
		"while it is off, it was right":       {thing, swept(false, found(law.Changed)), prr.Disabled, Shown},
		"a failing test is one":               {thing, swept(false, found(law.Lost)), prr.Tests, Partly},
		"no failure of half a rollout":        {thing, swept(false), prr.Rollouts, Partly},
		"at the API server alone, not half":   {thing, swept(false, found(law.Lost)), prr.Rollouts, Partly},
		"no rollback":                         {thing, swept(false), prr.Upgrades, NotTried},
		"absence of changes is no proof":      {thing, swept(false), prr.Defaults, Partly},
		"what no sweep looks at":              {thing, swept(false), "What are other known failure modes?", NotTried},
		"fields are what objects grow by":     {thing, swept(false), prr.Sizes, Partly},
		"components started with and without": {thing, swept(false), prr.Enablement, Shown},
	} {
		r := Answers(test.kep, Evidence{Release: released(false), Off: test.off})
		if got := r.Answer(test.question); got.Verdict != test.want || len(got.Sentences) == 0 {
			t.Errorf("%s: %s (%s), want %s", name, got.Verdict, strings.Join(got.Sentences, " "), test.want)
		}
	}
}

// TestConcerned: what was seen only while another component changed says nothing of a gate.
func TestConcerned(t *testing.T) {
	t.Parallel()
	of := func(component string) KEP {
		return KEP{Number: 1, Gates: []Gate{{Name: "ThingGate", Components: []string{component}}}, Written: map[string]Written{prr.Disabled: {Text: "Yes."}}}
	}
	r := swept(false, found(law.Lost))
	r.Tried = append(r.Tried, trial.Tally{Transition: "gates off at kube-apiserver", Gate: "ThingGate", Mutation: trial.Create, Objects: 100})
	for component, want := range map[string]struct {
		verdict Verdict
		beside  Beside
		says    string
	}{
		record.APIServer: {Contradicted, Disagrees, "gates off at kube-apiserver (4 objects)"},
		trial.Kubelet:    {Shown, "", "gates off at kubelet/node-a (4 objects)"},
	} {
		got := Answers(of(component), Evidence{Release: released(false), Off: r}).Answer(prr.Disabled)
		for _, f := range got.Findings {
			if want := "gates/finding-1: Deployment, " + law.Lost + ", with gates off at kube-apiserver: it is gone"; f.String() != want {
				t.Errorf("got %q, want %q", f, want)
			}
		}
		if said := strings.Join(got.Sentences, " "); got.Verdict != want.verdict || got.Beside != want.beside || !strings.Contains(said, want.says) {
			t.Errorf("%s: %s, %q: %s", component, got.Verdict, got.Beside, said)
		}
	}
	earlier := of(record.APIServer)
	earlier.Written[prr.Disabled] = Written{Text: "At GA, the gate gets locked. Yes, it was possible before."}
	if got := Answers(earlier, Evidence{Release: released(false), Off: r}).Answer(prr.Disabled); got.Verdict != Contradicted || got.Beside != "" {
		t.Errorf("earlier stages: %s, %q", got.Verdict, got.Beside)
	}
}

// TestStage: the stage that kep.yaml has for the release is compared with that of the gate.
func TestStage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stage, milestone string
		gates            []Gate
		beside           Beside
	}{
		"the same":        {"beta", "v1.37", thing.Gates, ""},
		"another":         {"stable", "v1.37", thing.Gates, Disagrees},
		"of later":        {"stable", "v1.38", thing.Gates, ""},
		"one of two":      {"stable", "v1.37", append([]Gate{{Name: "NoGate"}}, thing.Gates...), ""},
		"names no stages": {"", "v1.37", thing.Gates, ""},
	} {
		k := KEP{Number: 1, Stage: tc.stage, Milestone: tc.milestone, Gates: tc.gates, Written: map[string]Written{prr.Enablement: {Text: "By the gate."}}}
		got := Answers(k, Evidence{Release: released(false), Off: swept(false)}).Answer(prr.Enablement)
		said := strings.Join(got.Sentences, " ")
		if got.Beside != tc.beside || strings.Contains(said, "kep.yaml says GA") != (tc.beside != "") || strings.Contains(said, "NoGate") != (len(tc.gates) > 1) {
			t.Errorf("%s: %q: %s", name, got.Beside, said)
		}
	}
}

// TestNothingIsTried: each reason is said, and no question has another answer.
func TestNothingIsTried(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		gates   []Gate
		release gated.Release
		why     string
	}{
		"no gate":        {nil, released(false), "kep.yaml names no feature gate"},
		"unknown":        {[]Gate{{Name: "NoGate"}}, released(false), "v1.37.2 has no gate NoGate"},
		"not of a rig's": {[]Gate{{Name: "ThingGate", Components: []string{"kube-proxy"}}}, released(false), "a rig does not run kube-proxy, which ThingGate is of"},
	} {
		k := KEP{Gates: test.gates}
		r := Answers(k, Evidence{Release: test.release, Off: swept(false)})
		other := slices.ContainsFunc(r.Answers, func(a Answer) bool { return a.Verdict != NotReachable })
		if r.Why != test.why || other || len(Gates(test.release, []KEP{k})) > 0 {
			t.Errorf("%s: %s, with other answers: %v", name, r.Why, other)
		}
	}
}

// TestLocked: a gate that can't be turned off is no gate for a sweep that does, and one for a rollback.
func TestLocked(t *testing.T) {
	t.Parallel()
	all, locked := []KEP{thing}, released(true)
	if off, back := Unlocked(locked, all), Gates(locked, all); len(off) > 0 || len(back) != 1 {
		t.Errorf("turned off %v, rolled back %v", off, back)
	}
	back := swept(false)
	back.To = "v1.36.5"
	r := Answers(thing, Evidence{Release: locked, Back: back})
	for question, want := range map[string]Verdict{
		prr.Enablement: Shown, prr.Disabled: Shown, prr.Reenabled: NotTried, prr.Defaults: NotTried, prr.Upgrades: Shown,
	} {
		if got := r.Answer(question); got.Verdict != want || question != prr.Upgrades && !strings.Contains(strings.Join(got.Sentences, " "), "locked") {
			t.Errorf("%s: %s (%s), want %s", question, got.Verdict, strings.Join(got.Sentences, " "), want)
		}
	}
}

// TestMetrics: a metric counts under its own name, and only if it moves.
func TestMetrics(t *testing.T) {
	t.Parallel()
	off := swept(false)
	off.Asked, off.Reasons = []string{"asked"}, []string{"Pulled"}
	off.Metrics = []trial.Metric{
		{Name: "kubelet_things_total", Component: trial.Kubelet, Moved: true}, {Name: "still_total", Component: trial.Kubelet},
		{Name: "thing_duration_seconds", Component: record.APIServer, Moved: true},
	}
	declared := []instrumentation.Metric{
		{Name: "kubelet_thing_waits", Short: []string{"thing_waits"}}, {Name: "kubelet_things_total", Short: []string{"things_total"}}, {Name: "still_total"},
		{Name: "thing_duration_seconds", Samples: true}, {Name: "queue_waits"},
	}
	for name, test := range map[string]struct {
		inFile, text string
		question     string
		want         Verdict
		says         string
		beside       Beside
	}{
		"moves":                  {"kubelet_things_total", "", prr.Indicators, Shown, "it moved", NoAnswer},
		"a histogram":            {"", "Look at `thing_duration_seconds_bucket`.", prr.RollbackMetrics, Shown, "kube-apiserver has it", ""},
		"does not move":          {"still_total", "", prr.Indicators, Partly, "did not move", NoAnswer},
		"its short name":         {"", "Metric name: things_total", prr.InUse, Shown, "kubelet has it as kubelet_things_total", ""},
		"declared":               {"", "Metric name: `queue_waits` of the kubelet", prr.InUse, Partly, "v1.37.2 declares queue_waits", ""},
		"declared under a name":  {"", "Metric name: `thing_waits`", prr.InUse, Partly, "v1.37.2 declares kubelet_thing_waits", ""},
		"nowhere":                {"", "Metric name: `kubelet_things_made_total`", prr.InUse, Partly, "declare no metric kubelet_things_made_total, but kubelet_things_total.", Disagrees},
		"of another program":     {"", "Cluster Autoscaler: scale_ups_total", prr.InUse, Partly, "declare no metric scale_ups_total.", ""},
		"not there":              {"no_such_total", "", prr.Indicators, Partly, "declare no metric no_such_total", Disagrees},
		"none":                   {"kubelet_things_total", "Look at logs.", prr.RollbackMetrics, NotTried, "names no metric", ""},
		"an event":               {"", "Event Reason: `Pulled`", prr.Working, Shown, "reason Pulled", ""},
		"no such event":          {"", "Event Reason: Thrown", prr.Working, Partly, "No event had the reason Thrown", ""},
		"a line of the template": {"", "Events Event Reason: API .status Condition name:", prr.Working, NotTried, "no reason", ""},
		"no reason":              {"", "Event Reason: - [ ] API", prr.Working, NotTried, "no reason", ""},
	} {
		k := thing
		if test.inFile != "" {
			k.Metrics = []string{test.inFile}
		}
		k.Written = map[string]Written{test.question: {Text: test.text}}
		got := Answers(k, Evidence{Release: released(false), Off: off, Declared: declared}).Answer(test.question)
		if said := strings.Join(got.Sentences, " "); got.Verdict != test.want || !strings.Contains(said, test.says) || got.Beside != test.beside {
			t.Errorf("%s: %s (%s), %q", name, got.Verdict, said, got.Beside)
		}
	}
	if got := Metrics([]KEP{{Metrics: []string{"b_total", "a_total"}}, {Metrics: []string{"b_total"}}}); !slices.Equal(got, []string{"a_total", "b_total"}) {
		t.Errorf("asked for %v", got)
	}
}

// TestPlaces: only components of the proposals change, and all of them together.
func TestPlaces(t *testing.T) {
	t.Parallel()
	got := Places(released(false), []KEP{thing})
	want := []string{record.APIServer, trial.Kubelet, trial.ClientsServer, trial.ControllersServer, trial.Emulation, trial.Everywhere}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Places(released(false), []KEP{{Gates: []Gate{{Name: "ThingGate"}}}}); got != nil {
		t.Errorf("without components %v", got)
	}
}

// TestBeside: a text is compared with what a run shows, and only where one shows something.
func TestBeside(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		question, text string
		verdict        Verdict
		want           Beside
	}{
		{prr.Disabled, "Yes. Nothing is lost.", Contradicted, Disagrees},
		{prr.Disabled, "**Yes**, it can.", Shown, ""},
		{prr.Disabled, "No.", Shown, Disagrees},
		{prr.Disabled, "No, it loops.", Contradicted, ""},
		{prr.Defaults, "No.", Contradicted, Disagrees},
		{prr.Upgrades, "N/A", Shown, NotApplied},
		{prr.Upgrades, "To be determined before beta.", Partly, NotApplied},
		{prr.Upgrades, "It was tested manually on kind.", Shown, ByHand},
		{prr.Upgrades, "Manual tests will be done prior to beta.", Contradicted, Planned},
		{prr.Upgrades, "", Shown, NoAnswer},
		{prr.Upgrades, "", NotTried, ""},
		{prr.Upgrades, "N/A", NotReachable, ""},
		{prr.Upgrades, "Yes, by the integration test TestThing.", Shown, ""},
	} {
		if got := compared(Answer{Question: test.question, Verdict: test.verdict, Command: "skewrig sweep", Written: Written{Text: test.text}}); got != test.want {
			t.Errorf("%q while the run says %s: %q, want %q", test.text, test.verdict, got, test.want)
		}
	}
}

// TestCriteriaAreAsBadAsTheirWorstAnswer also tests that what changed is found.
func TestCriteriaAreAsBadAsTheirWorstAnswer(t *testing.T) {
	t.Parallel()
	good := Answers(thing, Evidence{Release: released(false), Off: swept(false)})
	bad := Answers(thing, Evidence{Release: released(false), Off: swept(false, found(law.Lost))})
	if got := good.Criteria()[0].Verdict; got != Shown {
		t.Errorf("nothing is found: %s", got)
	}
	if got := bad.Criteria()[0].Verdict; got != Contradicted {
		t.Errorf("a field is lost: %s", got)
	}
	changed := Changed([]Result{good}, []Result{bad})
	want := []Change{{"KEP-1", prr.Disabled, Shown, Contradicted}, {"KEP-1", prr.Tests, Shown, Partly}}
	if !slices.Equal(changed, want) {
		t.Errorf("changed: %v", changed)
	}
	if first := WorstFirst([]Result{good, bad})[0]; first.Answer(prr.Disabled).Verdict != Contradicted {
		t.Error("the worst is not first")
	}
}
