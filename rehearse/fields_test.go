package rehearse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(encoded, &object); err != nil { // with int64, as clients have it
		t.Fatal(err)
	}
	return object
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	object := decoded(t, `{apiVersion: v1, kind: Pod, metadata: {name: a, uid: b, labels: {app.io/x: z}}, status: {phase: Running},
		spec: {containers: [{name: web, image: w, args: [a, b]}], none: null, empty: {}}}`)
	want := map[string]any{
		"metadata.labels.[app.io/x]":        "z",
		"spec.containers[name=web].name":    "web",
		"spec.containers[name=web].image":   "w",
		"spec.containers[name=web].args[0]": "a",
		"spec.containers[name=web].args[1]": "b",
	}
	if diff := cmp.Diff(want, leaves(object)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := field("spec.containers[name=web].args[1]"); got != "spec.containers[].args[]" {
		t.Error(got)
	}
}

func TestWhatAStageDoesToFields(t *testing.T) {
	t.Parallel()
	at := func(values ...any) map[string]any {
		all := make(map[string]any)
		for i := 0; i < len(values); i += 2 {
			all[values[i].(string)] = values[i+1]
		}
		return all
	}
	for _, c := range []struct {
		name                               string
		v                                  values
		lost, rewritten, filled, isDropped []string
	}{
		{name: "nothing", v: values{manifest: at("a", 1), stored: at("a", 1), before: at("a", 1), after: at("a", 1), twinStored: at("a", 1), twinBefore: at("a", 1), twinAfter: at("a", 1)}},
		{name: "a field goes on the way back that only To stored", v: values{manifest: at("a", 1, "b", 2), stored: at("a", 1), before: at("a", 1, "b", 2), after: at("a", 1), twinStored: at("a", 1), twinBefore: at("a", 1), twinAfter: at("a", 1)}, lost: []string{"b"}, isDropped: []string{"b"}},
		{name: "a field goes on both sides", v: values{manifest: at("a", 1), stored: at("a", 1), before: at("a", 1), after: at(), twinStored: at("a", 1), twinBefore: at("a", 1), twinAfter: at()}},
		{name: "a default is rewritten", v: values{manifest: at(), stored: at("d", 1), before: at("d", 1), after: at("d", 2), twinStored: at("d", 1), twinBefore: at("d", 1), twinAfter: at("d", 1)}, rewritten: []string{"d"}},
		{name: "a default goes", v: values{manifest: at(), stored: at("d", 1), before: at("d", 1), after: at(), twinStored: at("d", 1), twinBefore: at("d", 1), twinAfter: at("d", 1)}, rewritten: []string{"d"}},
		{name: "a value changes on both sides", v: values{manifest: at("a", 1), stored: at("a", 1), before: at("a", 1), after: at("a", 2), twinStored: at("a", 1), twinBefore: at("a", 1), twinAfter: at("a", 2)}},
		{name: "a value that was chance from the beginning", v: values{manifest: at(), stored: at("ip", 1), before: at("ip", 1), after: at("ip", 3), twinStored: at("ip", 2), twinBefore: at("ip", 2), twinAfter: at("ip", 2)}},
		{name: "a value that goes back to what the twin has", v: values{manifest: at(), stored: at("d", 1), before: at("d", 2), after: at("d", 1), twinStored: at("d", 1), twinBefore: at("d", 1), twinAfter: at("d", 1)}},
		{name: "a new default", v: values{manifest: at(), stored: at(), before: at(), after: at("n", 1), twinStored: at(), twinBefore: at(), twinAfter: at()}, filled: []string{"n"}},
		{name: "a label of a round", v: values{manifest: at(), stored: at(), before: at(), after: at("l", 1), twinStored: at(), twinBefore: at(), twinAfter: at("l", 1)}},
	} {
		got := [][]string{c.v.lost(), c.v.rewritten(), c.v.filled(), c.v.dropped()}
		if diff := cmp.Diff([][]string{c.lost, c.rewritten, c.filled, c.isDropped}, got); diff != "" {
			t.Errorf("%s: lost, rewritten, filled in, dropped: -want +got:\n%s", c.name, diff)
		}
	}
}
