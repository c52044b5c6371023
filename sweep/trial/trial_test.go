package trial_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/sweep/object"
	"github.com/skewrig/skewrig/sweep/trial"
)

// deployment is one with a probe that has a mode, if there is one.
func deployment(mode string) map[string]any {
	container := map[string]any{"name": "sweep", "image": "registry.example/sweep"}
	if mode != "" {
		container["livenessProbe"] = map[string]any{"grpc": map[string]any{"port": 8080, "mode": mode}}
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
	with.Field, with.Gates, with.Path, with.Object = "core/v1.GRPCAction.mode", []string{"GRPCContainerProbeTLS"}, "spec.template.spec.containers[].livenessProbe.grpc.mode", deployment("TLS")
	return []trial.Use{of, with}
}

// TestItems: each touch that a kind can take has an object of its own, with a name and labels of its own.
func TestItems(t *testing.T) {
	t.Parallel()
	job := trial.Use{APIVersion: "batch/v1", Kind: "Job", Resource: "jobs", Object: deployment("TLS")}
	node := trial.Use{APIVersion: "v1", Kind: "Node", Resource: "nodes", Object: map[string]any{"metadata": map[string]any{"name": "sweep"}}}
	var got []string
	for _, i := range trial.Items(append(uses(), job, node)) {
		labels, _ := object.Value(i.Object, "spec.template.metadata.labels.app")
		name, _ := object.Value(i.Object, "metadata.name")
		got = append(got, fmt.Sprint(i.Kind, " ", i.Field, " ", string(i.Touch), " ", name, " ", labels, " ", i.Patch()))
	}
	want := []string{
		"Deployment  nothing s0000 s0000 map[]",
		"Deployment  label s0001 s0001 map[metadata:map[labels:map[sweep.skewrig.dev/touched:yes]]]",
		"Deployment  apply s0002 s0002 map[]",
		"Deployment  delete s0003 s0003 map[]",
		"Deployment  template s0004 s0004 map[spec:map[template:map[metadata:map[annotations:map[sweep.skewrig.dev/touched:yes]]]]]",
		"Deployment  scale s0005 s0005 map[spec:map[replicas:2]]",
		"Deployment  create s0006 s0006 map[]",
		"Deployment core/v1.GRPCAction.mode nothing s0007 s0007 map[]",
		"Deployment core/v1.GRPCAction.mode label s0008 s0008 map[metadata:map[labels:map[sweep.skewrig.dev/touched:yes]]]",
		"Deployment core/v1.GRPCAction.mode apply s0009 s0009 map[]",
		"Deployment core/v1.GRPCAction.mode delete s0010 s0010 map[]",
		"Deployment core/v1.GRPCAction.mode template s0011 s0011 map[spec:map[template:map[metadata:map[annotations:map[sweep.skewrig.dev/touched:yes]]]]]",
		"Deployment core/v1.GRPCAction.mode scale s0012 s0012 map[spec:map[replicas:2]]",
		"Deployment core/v1.GRPCAction.mode create s0013 s0013 map[]",
		"Job  nothing s0014 s0014 map[]",
		"Job  label s0015 s0015 map[metadata:map[labels:map[sweep.skewrig.dev/touched:yes]]]",
		"Job  apply s0016 s0016 map[]",
		"Job  delete s0017 s0017 map[]",
		"Job  create s0018 s0018 map[]",
		"Node  nothing s0019 <nil> map[]",
		"Node  label s0020 <nil> map[metadata:map[labels:map[sweep.skewrig.dev/touched:yes]]]",
		"Node  apply s0021 <nil> map[]",
		"Node  delete s0022 <nil> map[]",
		"Node  create s0023 <nil> map[]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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
	shown := map[string]any{"metadata": metadata, "spec": object["spec"]}
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

// newHistory is one in which all goes well, but for the items of some touches, of those with the field.
func newHistory(broken ...string) *history {
	h := &history{items: trial.Items(uses()), broken: make(map[string]bool)}
	for _, b := range broken {
		h.broken[b] = true
	}
	for _, i := range h.items {
		if i.Touch == trial.Create {
			continue
		}
		h.show(1, "added", "deployments", i.Name, "", i.Object)
		h.show(2, "added", "replicasets", i.Name+"-0", i.Name, i.Object)
	}
	for _, i := range h.items {
		bad := h.broken[string(i.Touch)] && !i.IsControl() || h.broken["all "+string(i.Touch)]
		object := i.Object
		switch {
		case i.Touch == trial.Create && !bad:
			object = deployment("")
		case i.Touch == trial.Delete && !bad:
			h.show(21, "deleted", "deployments", i.Name, "", object)
			continue
		case i.Touch == trial.Template && bad:
			for n := range 70 {
				h.show(21+float64(n)/10, "added", "replicasets", fmt.Sprintf("%s-%d", i.Name, n+1), i.Name, object)
			}
		case i.Touch == trial.Label && bad:
			object = deployment("")
		}
		h.show(28.5, "modified", "deployments", i.Name, "", object)
	}
	return h
}

func (h *history) seen(answers map[string]trial.Answers) trial.Seen {
	at := func(seconds int) time.Time { return midnight.Add(time.Duration(seconds) * time.Second) }
	return trial.Seen{
		Items: h.items, Namespace: "sweep", Timeline: timeline.Of(h.events), Answers: answers,
		Began: map[trial.Phase]time.Time{trial.On: at(0), trial.Off: at(10), trial.Touched: at(20), trial.Again: at(30)}, Ended: at(40),
	}
}

func (h *history) judge(answers map[string]trial.Answers) (all []string) {
	for _, f := range trial.Judge(h.seen(answers)) {
		for _, i := range f.Items {
			all = append(all, fmt.Sprintf("%s | %s %s: %s", f.Signature(), i.Field, i.Name, i.Detail))
		}
	}
	return all
}

// TestJudge: each thing that should not be is a finding, unless an object without the field shows it too.
func TestJudge(t *testing.T) {
	t.Parallel()
	refused := map[string]trial.Answers{"s0012": {Off: "no"}, "s0011": {On: "no", Off: "no"}}
	for name, tc := range map[string]struct {
		broken  []string
		answers map[string]trial.Answers
		want    []string
	}{
		"all is well": {},
		"writes without end": {broken: []string{"template"}, want: []string{
			"pod template changed: it is written without end | core/v1.GRPCAction.mode s0011: 71 writes of it and of what it owns in 10 s of phase touched",
		}},
		"writes without end of all":  {broken: []string{"all template"}},
		"a touch that is refused":    {answers: refused, want: []string{"scaled: it is refused | core/v1.GRPCAction.mode s0012: no"}},
		"a touch of all is refused":  {answers: map[string]trial.Answers{"s0012": {Off: "no"}, "s0005": {Off: "no"}}},
		"a field that is lost":       {broken: []string{"label"}, want: []string{"labeled: the field is lost | core/v1.GRPCAction.mode s0008: TLS before, <nil> at the end of phase touched"}},
		"an object that is not gone": {broken: []string{"delete"}, want: []string{"deleted: it is not gone | core/v1.GRPCAction.mode s0010: it is there at the end of the sweep"}},
		"objects that are not gone":  {broken: []string{"all delete"}},
		"a field in a new object":    {broken: []string{"create"}, want: []string{"created: the field is stored although the gate is off | core/v1.GRPCAction.mode s0013: TLS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, newHistory(tc.broken...).judge(tc.answers)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnseen: an object of which nothing was seen is said, and so is one without a namespace that is not.
func TestUnseen(t *testing.T) {
	t.Parallel()
	h := newHistory()
	node := trial.Use{APIVersion: "v1", Kind: "Node", Resource: "nodes", Object: map[string]any{}}
	h.items = append(h.items, trial.Item{Use: node, Name: "s0012", Touch: trial.Label})
	if got := trial.Unseen(h.seen(nil)); len(got) != 1 || got[0].Key("sweep") != "nodes/s0012" {
		t.Errorf("got %v", got)
	}
}

// TestScenario: a finding of each kind comes with a scenario that shows it.
func TestScenario(t *testing.T) {
	t.Parallel()
	items := trial.Items(uses())
	for what, i := range map[string]trial.Item{trial.Endless: items[11], trial.Refused: items[9], trial.Lost: items[8], trial.Stays: items[10], trial.Stored: items[13]} {
		f := trial.Finding{What: what, Touch: i.Touch, Items: []trial.Found{{Item: i}}}
		_, text, err := trial.Scenario("v1.37.1", f, f.Items[0], release.Gates{"GRPCContainerProbeTLS": true}, release.Gates{"GRPCContainerProbeTLS": false})
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, fmt.Sprintf("testdata/%s.yaml", string(i.Touch)), string(text))
	}
}
