package rest

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// lawsOf are the laws that objects break, by object.
func lawsOf(s *State) map[string][]string {
	all := make(map[string][]string)
	for _, b := range s.Breaches() {
		all[b.Key] = append(all[b.Key], b.Law)
	}
	return all
}

// TestBreaches: in a namespace that goes, and while there is a fault, only some laws hold.
func TestBreaches(t *testing.T) {
	t.Parallel()
	set := workload("ReplicaSet", "web", "", "replicas: 1", "readyReplicas: 1")
	old := manifest("ConfigMap", "old", isGoing, "")
	const keySet, keyOld = "replicasets/default/web", "configmaps/default/old"
	if diff := cmp.Diff(map[string][]string{keySet: {hasPods.Breach, reportsPods.Breach}, keyOld: {isGone.Breach}}, lawsOf(stateOf(t, set, old))); diff != "" {
		t.Error(diff)
	}
	namespace := manifest("Namespace", "default", isGoing, "")
	if diff := cmp.Diff(map[string][]string{keyOld: {isGone.Breach}}, lawsOf(stateOf(t, set, old, namespace))); diff != "" {
		t.Errorf("in a namespace that goes: %s", diff)
	}
	fault := happening{"a->b", record.FaultBegan{Fault: record.LinkFault{Path: record.AnyPath, Verb: "create", Resource: "pods", Status: 500}}}
	if diff := cmp.Diff(map[string][]string{keySet: {reportsPods.Breach}}, lawsOf(stateAfter(historyOf(t, set, old, fault)))); diff != "" {
		t.Errorf("with a fault: %s", diff)
	}
}

// TestAt: a state has what a record shows of the cluster itself before a moment.
func TestAt(t *testing.T) {
	t.Parallel()
	const one = "kind: ConfigMap\nmetadata: {name: one}"
	seed := shown(versionsOf(t, one)[0], "added")
	seed.Cluster = "seed"
	events := historyOf(t,
		one, "kind: ConfigMap\nmetadata: {name: two}", "gone "+one,
		happening{"default/static-a", record.StaticPodWritten{Node: "a", Pod: []byte("{}")}}, happening{"seed/configmaps/default/one", seed},
		happening{"made", record.APIAnswer{Object: "configmaps/default/two", Code: 201}}, happening{"patched", record.APIAnswer{Object: "configmaps/default/three", Code: 200}},
		happening{"refused", record.APIAnswer{Object: "configmaps/default/four", Code: 422}},
		"kind: ConfigMap\nmetadata: {name: later}",
	)
	moment := &timeline.Rest{Moment: timeline.Moment{Place: len(events) - 1, Time: restAt}}
	moment.Refused = []record.Refusal{{Object: "configmaps/default/two", Code: 422, Message: "it is invalid"}}
	s := At(timeline.Of(events), moment)
	var keys []string
	for key := range s.byKey {
		keys = append(keys, key)
	}
	if diff := cmp.Diff([]string{"configmaps/default/two"}, keys); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"configmaps/default/three": true}, s.Written); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]record.Refusal{{Object: "configmaps/default/two", Code: 422, Message: "it is invalid"}}, s.Refused); diff != "" {
		t.Error(diff)
	}
}

// TestRestless: nothing is reported of an object that is not at rest, nor of others in its namespace.
func TestRestless(t *testing.T) {
	t.Parallel()
	events := historyOf(t, workload("ReplicaSet", "web", "", "replicas: 1", ""))
	for key, want := range map[string]bool{
		"pods/default/one": false, "replicasets/default/web": false, "namespaces/default": false,
		"pods/other/one": true, "namespaces/other": true, "resourceslices/default": true,
	} {
		moment := &timeline.Rest{Moment: timeline.Moment{Place: len(events), Time: restAt}, Settled: record.Settled{Restless: []string{key}}}
		if got := len(At(timeline.Of(events), moment).Breaches()) > 0; got != want {
			t.Errorf("%s is restless: breaches: %t, want %t", key, got, want)
		}
	}
}

// TestFrozen: an object that can't be changed breaks one law.
func TestFrozen(t *testing.T) {
	t.Parallel()
	set := workload("ReplicaSet", "web", "", "replicas: 1", "")
	refused := record.Settled{Refused: []record.Refusal{{Object: "replicasets/default/web", Code: 422, Message: "it is invalid"}}}
	events := historyOf(t, set, happening{"one", refused}, set)
	moment := func(s record.Settled) *timeline.Rest {
		return &timeline.Rest{Moment: timeline.Moment{Place: len(events), Time: restAt}, Settled: s}
	}
	folded := timeline.Of(events)
	if got := lawsOf(At(folded, moment(refused))); !cmp.Equal(got, map[string][]string{"replicasets/default/web": {acceptsStored.Breach}}) {
		t.Errorf("got %v", got)
	}
	if got := lawsOf(At(folded, moment(record.Settled{}))); len(got) > 0 {
		t.Errorf("it could not be changed before, and breaks %v", got)
	}
}

// TestDocumented: the guide of sweeps has each law.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range All() {
		if !strings.Contains(string(text), l.Breach) {
			t.Errorf("docs/sweep.md does not have %q", l.Breach)
		}
	}
}
