package trial_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// deployment is one with a probe that has a mode, if there is one.
func deployment(mode string) map[string]any {
	container := map[string]any{"name": "sweep", "image": "registry.example/sweep"}
	if mode != "" {
		container["livenessProbe"] = map[string]any{"grpc": map[string]any{"port": int64(8080), "mode": mode}}
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "sweep"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "sweep"}},
			"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "sweep"}}, "spec": map[string]any{"containers": []any{container}}},
		},
	}
}

func uses() []trial.Use {
	of := trial.Use{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespaced: true, Object: deployment("")}
	with := of
	with.Used = trial.Used{Field: "core/v1.GRPCAction.mode", Gates: []string{"GRPCContainerProbeTLS"}, Path: "spec.template.spec.containers[].livenessProbe.grpc.mode"}
	with.Object = deployment("TLS")
	return []trial.Use{of, with}
}

// TestItems: each mutation that a kind can take has an object of its own, with a name and labels of its own.
func TestItems(t *testing.T) {
	t.Parallel()
	job := trial.Use{Used: trial.Used{Field: "x"}, APIVersion: "batch/v1", Kind: "Job", Resource: "jobs", Conditions: true, Object: deployment("TLS")}
	node := trial.Use{Used: trial.Used{Field: "x", ByComment: true}, APIVersion: "v1", Kind: "Node", Resource: "nodes", Object: map[string]any{"metadata": map[string]any{"name": "sweep"}}}
	var b strings.Builder
	for _, i := range trial.Items(append(uses(), job, node)) {
		labels, _ := kube.Value(i.Object, "spec.template.metadata.labels.app")
		name, _ := kube.Value(i.Object, "metadata.name")
		var patch map[string]any
		if r := i.Request(i.Mutations[0]); r.Verb == law.Patches {
			patch = r.Body
		}
		fmt.Fprintln(&b, i.Kind, i.Field, i.Mutations.Name(), name, labels, patch)
	}
	golden.Check(t, "testdata/items.txt", b.String())
}

// history is what a sweep of Deployments saw, with ten seconds a phase.
type history struct {
	items  []trial.Item
	events []record.Event
	number int // the last resource version
	broken map[string]bool
}

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *history) show(at float64, change, resource, name, owner string, object map[string]any) {
	h.number++
	metadata := map[string]any{"name": name, "namespace": "sweep", "uid": "uid-" + name, "resourceVersion": fmt.Sprint(h.number)}
	if owner != "" {
		metadata["ownerReferences"] = []any{map[string]any{"uid": "uid-" + owner}}
	}
	metadata["generation"] = 1
	if g, has := object["generation"]; has {
		metadata["generation"] = g
	}
	shown := map[string]any{"metadata": metadata, "spec": object["spec"], "status": map[string]any{"observedGeneration": 1}}
	text, err := json.Marshal(shown)
	if err != nil {
		panic(err)
	}
	payload := record.ObjectObserved{Change: change, Resource: resource, Namespace: "sweep", Name: name, Object: text}
	data, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	h.events = append(h.events, record.Event{Seq: len(h.events) + 1, At: midnight.Add(time.Duration(at * float64(time.Second))), Kind: payload.EventKind(), Subject: resource + "/sweep/" + name, Data: data})
}

// newHistory is one in which all goes well, but for the items of some mutations, of those with the field.
func newHistory(broken ...string) *history {
	h := &history{items: trial.Items(uses()), broken: make(map[string]bool)}
	for _, b := range broken {
		h.broken[b] = true
	}
	for _, i := range h.items {
		if i.Late() {
			continue
		}
		h.show(1, "added", "deployments", i.Name, "", i.Object)
		h.show(2, "added", "replicasets", i.Name+"-0", i.Name, i.Object)
	}
	for _, i := range h.items {
		mutation := i.Mutations[0]
		bad := h.broken[string(mutation)] && !i.IsControl() || h.broken["all "+string(mutation)]
		object := i.Object
		switch {
		case i.Late() && !bad:
			object = deployment("")
		case mutation == trial.Delete && !bad:
			h.show(21, "deleted", "deployments", i.Name, "", object)
			h.show(22, "deleted", "replicasets", i.Name+"-0", i.Name, object)
			continue
		case mutation == trial.Template && bad:
			for n := range 70 {
				h.show(21+float64(n)/10, "added", "replicasets", fmt.Sprintf("%s-%d", i.Name, n+1), i.Name, object)
			}
		case (mutation == trial.Label || mutation == trial.OldClient) && bad:
			object = deployment("")
		case mutation == trial.Nothing && bad:
			spec := maps.Clone(i.Object["spec"].(map[string]any)) //nolint:forcetypeassert // it is a Deployment
			spec["replicas"] = 3
			h.show(39, "modified", "deployments", i.Name, "", map[string]any{"spec": spec})
			continue
		case mutation == trial.Put && bad:
			h.behind(28.5, i)
			continue
		}
		h.show(28.5, "modified", "deployments", i.Name, "", object)
	}
	return h
}

// behind shows a Deployment whose status is about an older generation.
func (h *history) behind(at float64, i trial.Item) {
	h.show(at, "modified", "deployments", i.Name, "", map[string]any{"spec": i.Object["spec"], "generation": 2})
}

var transition = trial.Transition{At: []string{"kube-apiserver"}}

func (h *history) seen(answers map[string][]law.Answer) trial.Seen {
	at := func(seconds int) time.Time { return midnight.Add(time.Duration(seconds) * time.Second) }
	return trial.Seen{
		Plan:      trial.Plan{Number: 1, Transition: transition, Gates: []string{"GRPCContainerProbeTLS"}, Items: h.items},
		Namespace: "sweep", Answers: answers,
		Course: law.Course{
			Timeline: timeline.Of(h.events),
			Began:    map[law.Phase]time.Time{law.On: at(0), law.Off: at(10), law.Mutated: at(20), law.Again: at(30)}, Ended: at(40),
		},
	}
}

// item is the name of the item with a mutation, with the field or without.
func item(mutation trial.Mutation, control bool) trial.Item {
	for _, i := range trial.Items(uses()) {
		if i.Mutations.Has(mutation) && i.IsControl() == control {
			return i
		}
	}
	panic("no item is touched so: " + string(mutation))
}

func answers(on, off law.Said, of ...trial.Item) map[string][]law.Answer {
	all := make(map[string][]law.Answer)
	for _, i := range of {
		all[i.Name] = []law.Answer{{Request: i.Request(i.Mutations[0]), On: on, Off: off}}
	}
	return all
}

// TestJudge: each thing that should not be is a finding, unless an object without the field shows it too.
func TestJudge(t *testing.T) {
	t.Parallel()
	no, down := law.Said{Text: "no", Code: 422}, law.Said{Text: "down", Code: 500}
	scaled := item(trial.Scale, false)
	for name, tc := range map[string]struct {
		broken  []string
		answers map[string][]law.Answer
		want    []string
	}{
		"all is well": {},
		"writes without end": {broken: []string{"template"}, want: []string{
			"pod template changed: it is written without end: 71 writes of it and of what it owns in 10 s of phase touched",
		}},
		"writes without end of all": {broken: []string{"all template"}, want: []string{
			"pod template changed: it is written without end: (none) 71 writes of it and of what it owns in 10 s of phase touched",
		}},
		"a touch that is refused":           {answers: answers(law.Said{}, no, scaled), want: []string{"scaled: it is refused: no"}},
		"a touch that always is":            {answers: answers(no, no, scaled)},
		"a touch of all is refused":         {answers: answers(law.Said{}, no, scaled, item(trial.Scale, true)), want: []string{"scaled: it is refused: (none) no"}},
		"too many requests":                 {answers: answers(law.Said{}, law.Said{Text: "too many", Code: 429}, scaled)},
		"an object that others write":       {answers: answers(law.Said{}, law.Said{Text: "modified", Code: 409}, scaled)},
		"a field of another manager":        {answers: answers(law.Said{}, law.Said{Text: "conflict", Code: 409}, item(trial.Apply, false)), want: []string{"labeled by server-side apply: it is refused: conflict"}},
		"an API server that fails":          {answers: answers(law.Said{}, down, scaled), want: []string{"scaled: the API server fails: down"}},
		"an API server that does so always": {answers: answers(down, down, scaled)},
		"a field that is lost":              {broken: []string{"label"}, want: []string{"labeled: the field is lost: TLS before, <nil> at the end of phase touched"}},
		"a field that a client loses":       {broken: []string{"old-client"}},
		"an object that is not gone":        {broken: []string{"delete"}, want: []string{"deleted: it is not gone: deployments/sweep/" + item(trial.Delete, false).Name + " is there at the end"}},
		"objects that are not gone":         {broken: []string{"all delete"}, want: []string{"deleted: it is not gone: (none) deployments/sweep/" + item(trial.Delete, true).Name + " is there at the end"}},
		"a field in a new object":           {broken: []string{"create"}, want: []string{"created: the field is stored although the gate is off: TLS"}},
		"a field that is filled in":         {broken: []string{"bare"}, want: []string{"created without the field: the field is filled in although the gate is off: TLS"}},
		"a status that stays behind":        {broken: []string{"put"}, want: []string{"read and written back: its status is not about its spec: generation 2, and its status is about 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range trial.Judge(newHistory(tc.broken...).seen(tc.answers)) {
				for _, i := range f.Items {
					none := ""
					if i.IsControl() {
						none = "(none) "
					}
					got = append(got, f.Signature()+": "+none+i.Detail)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestJudgeOfAnUnchangedItem: an object that is another one afterwards is a finding.
func TestJudgeOfAnUnchangedItem(t *testing.T) {
	t.Parallel()
	found := trial.Judge(newHistory("nothing").seen(nil))
	if len(found) != 1 || found[0].Signature() != "not touched: it has changed once all is undone" {
		t.Errorf("got %v", found)
	}
}

// TestJudgeOfALoss: where states of objects may be missing, nothing is said of how objects are in the end; that one was
// written without end was seen.
func TestJudgeOfALoss(t *testing.T) {
	t.Parallel()
	s := newHistory("nothing", "template").seen(nil)
	if found := trial.Judge(s); len(found) != 2 {
		t.Fatalf("without a loss: %v", found)
	}
	events := record.NewHistory(nil)
	events.Append("watch", "deployments", record.Losing(s.Began[law.Off], errors.New("a watch broke"), record.ObjectObserved{}))
	s.Add(events.Events()[0])
	if found := trial.Judge(s); len(found) != 1 || found[0].What != law.Endless {
		t.Errorf("with a loss: %v", found)
	}
	s.Restless = true
	if u := s.Unsettled(); !u.Restless || len(u.Lost) != 1 || !strings.Contains(u.Lost[0], "a watch broke") {
		t.Errorf("the plan says %+v", u)
	}
}

// TestJudgeOfAnotherPlace: where no API server changes, a field that is stored is no finding.
func TestJudgeOfAnotherPlace(t *testing.T) {
	t.Parallel()
	s := newHistory("create", "label").seen(nil)
	s.Plan.Transition.At = []string{"kube-controller-manager"}
	if found := trial.Judge(s); len(found) != 0 {
		t.Errorf("got %v", found)
	}
}

// TestJudgeOfTwoServers: what has a field may have it from the API server that has the gate on. A field that is in
// use is kept by both.
func TestJudgeOfTwoServers(t *testing.T) {
	t.Parallel()
	for _, server := range []string{trial.ClientsServer, trial.ControllersServer} {
		s := newHistory("create", "bare", "label").seen(nil)
		s.Plan.Transition.At = []string{server}
		if found := trial.Judge(s); len(found) != 1 || found[0].What != law.Lost {
			t.Errorf("%s: got %v", s.Plan, found)
		}
	}
}

// TestJudgeOfWhatIsNotServed: what an API server does not serve can't be deleted there.
func TestJudgeOfWhatIsNotServed(t *testing.T) {
	t.Parallel()
	s := newHistory("delete").seen(nil)
	s.Unserved = []string{"deployments", "replicasets"}
	if found := trial.Judge(s); len(found) != 0 {
		t.Errorf("got %v", found)
	}
}

// TestJudgeOfPanics: what a component logs of a panic is a finding without an object.
func TestJudgeOfPanics(t *testing.T) {
	t.Parallel()
	s := newHistory().seen(nil)
	s.Panics = []trial.Panic{{Component: "kube-apiserver", Text: "panic: nil", At: "k8s.io/x.F"}}
	found := trial.Judge(s)
	if len(found) != 1 || found[0].Signature() != "kube-apiserver panics: k8s.io/x.F" || found[0].Items[0].Detail != "panic: nil" {
		t.Errorf("got %v", found)
	}
	s.Plan.Transition.At = []string{trial.ControllersServer}
	s.Panics[0].Component = trial.ControllersServer
	if again := trial.Judge(s); again[0].Signature() != found[0].Signature() {
		t.Errorf("of one of two API servers, got %v", again)
	}
	dead := newHistory("delete").seen(nil)
	dead.Panics, dead.Exit = s.Panics, &trial.Exit{Component: trial.ControllersServer}
	if found := trial.Judge(dead); len(found) != 1 {
		t.Errorf("after its end, got %v", found)
	}
	if only := trial.Only(s.Plan, s.Plan.Items[:3]...); !only.Shows(found[0].What, found) || only.Shows(law.Lost, found) {
		t.Error("it is not seen of some of the objects")
	}
}

// TestJudgeOfAnEnd: a component that ends without a panic is a finding without an object, which says how.
func TestJudgeOfAnEnd(t *testing.T) {
	t.Parallel()
	exit := trial.Exit{Component: "kubelet/node-a", Started: true, State: "exit status 1", Text: "leaderelection lost"}
	for want, change := range map[string]func(*trial.Seen){
		"kubelet ends by itself: exit status 1": func(*trial.Seen) {},
		"kubelet does not start: exit status 1": func(s *trial.Seen) { s.Exit.Started = false },
		"kubelet panics: k8s.io/x.F": func(s *trial.Seen) {
			s.Panics = []trial.Panic{{Component: exit.Component, Text: exit.Text, At: "k8s.io/x.F"}}
		},
	} {
		s := newHistory("delete").seen(nil)
		s.Exit = new(exit)
		change(&s)
		found := trial.Judge(s)
		if len(found) != 1 || found[0].Signature() != want || found[0].Items[0].Detail != exit.Text {
			t.Fatalf("want %s, got %v", want, found)
		}
		if program, is := trial.ProgramOf(want); program != "kubelet" || !is {
			t.Errorf("%s is of %q", want, program)
		}
	}
	other := newHistory("delete").seen(nil)
	other.Exit, other.Panics = &exit, []trial.Panic{{Component: "kube-apiserver", Text: "Observed a panic", At: "k8s.io/x.F"}}
	if found := trial.Judge(other); len(found) != 2 {
		t.Errorf("another component panicked before, got %v", found)
	}
}

// TestScenarioOfAnEnd: it asks whether the component ended, also of an API server, whose log is asked for a panic.
func TestScenarioOfAnEnd(t *testing.T) {
	t.Parallel()
	alone := trial.Setting{Version: "v1.37.1", Transition: transition, On: release.Gates{"GRPCContainerProbeTLS": true}, To: release.Gates{"GRPCContainerProbeTLS": false}}
	i := item(trial.Label, false)
	for what, name := range map[string]string{
		"kube-apiserver ends by itself: exit status 1":          "kube-apiserver-ends-by-itself",
		"kube-controller-manager does not start: exit status 1": "kube-controller-manager-does-not-start",
	} {
		program, _ := trial.ProgramOf(what)
		id, text, err := trial.Scenario(alone, trial.Finding{What: what}, trial.Found{Item: i})
		if err != nil || !strings.HasSuffix(id, "-"+name) {
			t.Errorf("%s: %s, %v", what, id, err)
		}
		if !strings.Contains(string(text), "components['"+program+"'].exits") || strings.Contains(string(text), "log:") {
			t.Errorf("%s:\n%s", what, text)
		}
	}
}

// TestUnseen: an object of which nothing was seen is said, and so is one without a namespace that is not.
func TestUnseen(t *testing.T) {
	t.Parallel()
	h := newHistory()
	node := trial.Use{APIVersion: "v1", Kind: "Node", Resource: "nodes", Object: map[string]any{}}
	h.items = append(h.items, trial.Item{Use: node, Name: "s0012", Mutations: trial.Mutations{trial.Label}})
	if got := trial.Unseen(h.seen(nil)); len(got) != 1 || got[0].Key("sweep") != "nodes/s0012" {
		t.Errorf("got %v", got)
	}
}

// TestScenario: a finding of each kind comes with a scenario that shows it, and with a control.
func TestScenario(t *testing.T) {
	t.Parallel()
	alone := trial.Setting{Version: "v1.37.1", Transition: transition, On: release.Gates{"GRPCContainerProbeTLS": true}, To: release.Gates{"GRPCContainerProbeTLS": false}}
	half := alone
	half.Transition.At = []string{trial.ControllersServer}
	back := alone
	back.Transition, back.Killed = trial.Transitions([]string{"all"}, "v1.37.1", "v1.36.3")[0], "kube-controller-manager"
	for what, tc := range map[string]struct {
		mutation trial.Mutation
		alone    trial.Setting
	}{
		law.Endless: {trial.Template, alone}, law.Refused: {trial.Apply, alone}, law.Lost: {trial.Label, alone}, law.Stays: {trial.Delete, alone},
		law.Stored: {trial.Create, alone}, law.Defaulted: {trial.Bare, alone.Control()}, law.Failed: {trial.OldClient, alone}, law.Behind: {trial.Status, alone},
		law.Changed: {trial.Nothing, back}, "kube-apiserver panics: k8s.io/x.F": {trial.Put, half}, "kube-controller-manager panics: k8s.io/x.F": {trial.Scale, alone},
	} {
		i := item(trial.Label, false)
		i.Mutations = trial.Mutations{tc.mutation}
		f := trial.Finding{What: what, Mutations: i.Mutations, Items: []trial.Found{{Item: i}}}
		_, text, err := trial.Scenario(tc.alone, f, f.Items[0])
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, fmt.Sprintf("testdata/%s.yaml", string(tc.mutation)), string(text))
	}
}

// TestMerge: what shows the same with other mutations, or with more fields, is named with what shows it simplest.
func TestMerge(t *testing.T) {
	t.Parallel()
	found := func(transition, what string, i trial.Item, mutations ...trial.Mutation) trial.Finding {
		i.Mutations = mutations
		return trial.Finding{What: what, Mutations: mutations, Items: []trial.Found{{Item: i, Transition: transition}}}
	}
	i := item(trial.Label, false)
	two := i
	two.And = []trial.Used{{Field: "other"}}
	all := trial.Merge(nil, []trial.Finding{found("a", law.Endless, i, trial.OldClient), found("a", law.Endless, i, trial.Template)})
	all = trial.Merge(all, []trial.Finding{found("b", law.Endless, i, trial.Label, trial.Template), found("a", law.Endless, two, trial.Template)})
	all = trial.Merge(all, []trial.Finding{found("c", law.Lost, i, trial.Scale)})
	if len(all) != 2 || len(all[0].Items) != 1 || len(all[1].Items) != 1 {
		t.Fatalf("got %v", all)
	}
	first := all[0].Items[0]
	if diff := cmp.Diff([]any{"a", []string{"b"}, "pod template changed", []trial.Mutations{{trial.OldClient}, {trial.Label, trial.Template}}}, []any{first.Transition, first.Also, first.Mutations.String(), first.AlsoMutated}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	news, had := trial.New(all, all[:1])
	if len(news) != 1 || len(had) != 1 || news[0].Signature() != all[1].Signature() {
		t.Errorf("new are %v, known %v", news, had)
	}
}

// TestMergeOfConsequences: what an object shows in one plan may be a consequence of what it shows in another.
func TestMergeOfConsequences(t *testing.T) {
	t.Parallel()
	i := item(trial.Template, false)
	found := func(what string, mutations ...trial.Mutation) trial.Finding {
		i.Mutations = mutations
		return trial.Finding{What: what, Mutations: mutations, Items: []trial.Found{{Item: i, Transition: "a"}}}
	}
	behind, endless := found(law.Behind, trial.Template), found(law.Endless, trial.Template)
	for _, all := range [][]trial.Finding{trial.Merge([]trial.Finding{behind}, []trial.Finding{endless}), trial.Merge([]trial.Finding{endless}, []trial.Finding{behind})} {
		if len(all) != 1 || all[0].What != law.Endless {
			t.Errorf("got %v", all)
		}
	}
	if all := trial.Merge([]trial.Finding{found(law.Endless, trial.Scale)}, []trial.Finding{behind}); len(all) != 2 {
		t.Errorf("touched otherwise, got %v", all)
	}
}

// TestRandom: the same seed makes the same plans, which differ from each other and try what was not tried.
func TestRandom(t *testing.T) {
	t.Parallel()
	source := trial.Source{
		Seed: 7, Transitions: trial.Transitions([]string{"kube-apiserver", "kube-controller-manager"}, "v1.37.1", ""), Gates: []string{"GRPCContainerProbeTLS"}, Uses: append(uses(), jobs()...),
		Lacks: func(trial.Use) trial.Lack { return "" },
	}
	plans := func(source trial.Source) (texts []string) {
		tried := trial.NewTried()
		for n := range 5 {
			p := source.Random(n+1, tried)
			tried.Add(p)
			text, err := json.Marshal([]any{p, p.Items})
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		return texts
	}
	first := plans(source)
	if diff := cmp.Diff(first, plans(source)); diff != "" {
		t.Errorf("the same seed makes other plans (-first +second):\n%s", diff)
	}
	source.Seed = 8
	for n, other := range plans(source) {
		if other == first[n] {
			t.Errorf("plan %d is another one's", n+1)
		}
	}
}

func jobs() []trial.Use {
	job := trial.Use{APIVersion: "batch/v1", Kind: "Job", Resource: "jobs", Namespaced: true, Object: deployment("")}
	with := job
	with.Used = trial.Used{Field: "core/v1.GRPCAction.mode", Gates: []string{"GRPCContainerProbeTLS"}, Path: "spec.template.spec.containers[].livenessProbe.grpc.mode"}
	with.Object = deployment("TLS")
	return []trial.Use{job, with}
}

// TestShrink: what an object may lack is found one by one, and taken away together.
func TestShrink(t *testing.T) {
	t.Parallel()
	i := item(trial.Template, false)
	i.Mutations = trial.Mutations{trial.Label, trial.Template}
	s := trial.Shrink(trial.Plan{Transition: transition}, i)
	red := trial.Finding{What: law.Endless}
	for _, v := range s.Plan.Items {
		_, image := kube.Value(v.Object, "spec.template.spec.containers[].image")
		_, port := kube.Value(v.Object, "spec.template.spec.containers[].livenessProbe.grpc.port")
		if v.Mutations.Has(trial.Template) && (!image || !port || len(v.Mutations) == 1 || v.Name == s.Plan.Items[0].Name) {
			red.Items = append(red.Items, trial.Found{Item: v})
		}
	}
	next, less := s.Next(law.Endless, []trial.Finding{red})
	if !less || !s.Shows(law.Endless, []trial.Finding{red}) || s.Shows(law.Lost, []trial.Finding{red}) {
		t.Fatal("nothing is taken away")
	}
	text, err := json.Marshal(next.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"selector":{"matchLabels":{"app":"sweep"}},"template":{"metadata":{"labels":{"app":"sweep"}},"spec":{"containers":[{"livenessProbe":{"grpc":{"mode":"TLS"}},"name":"sweep"}]}}}`
	if diff := cmp.Diff(want, strings.ReplaceAll(string(text), i.Name, "sweep")); diff != "" || next.Mutations.Name() != "template" {
		t.Errorf("touched %s (-want +got):\n%s", next.Mutations, diff)
	}
}

// TestIssues: a finding is named after the issue that it shows.
func TestIssues(t *testing.T) {
	t.Parallel()
	i := item(trial.Template, false)
	f := trial.Finding{What: law.Endless, Mutations: i.Mutations, Items: []trial.Found{{Item: i}, {Item: i}}}
	if diff := cmp.Diff([]string{"kubernetes#141961"}, f.Issues()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.What = law.Lost
	if got := f.Issues(); got != nil {
		t.Errorf("another finding is %v", got)
	}
}
