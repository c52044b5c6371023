package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/fuzzing"
)

// FuzzRead: no text makes it panic or take long, and what it returns has a place and a name.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", object, object + "---\n" + object, "{\"apiVersion\": \"v1\"}{", "kind: List\napiVersion: v1\nitems:\n- a\n- b: c\n", "a: &a {b: *a}",
		"{{ if }}\n" + object, "# Source: a/b.yaml\n---\n" + object, "%YAML 1.1\n---\na\n...\nb", "[[[[", "x: !!binary gIGC\n", "? {a: b}\n: c",
		"{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [{\"kind\": \"Pod\"}, 1]}", "apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: a, ownerReferences: [{controller: true}]}}]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzing.Limited(t, func() {
			objects, problems := Read("f", text)
			for _, o := range Ordered(objects) {
				if o.Line < 1 || o.Document < 1 || calledBy(o.Object) == "" {
					t.Errorf("object %+v", o)
				}
			}
			for _, p := range problems {
				if p.Line < 1 || p.Document < 1 || p.Why == "" {
					t.Errorf("problem %+v", p)
				}
			}
		})
	})
}

// FuzzDecode: what is decoded is what kubectl decodes.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{object, "a: [1.0, -0.0, 1e20, 1e-7, 0x10, yes, ~, 2026-01-01, 1:30, .5, 1_0]", "1.5: a", "x: !!binary gIGC", "a: !!timestamp 2026-01-01", "18446744073709551615: 18446744073709551615"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 10_000 {
			t.Skip()
		}
		got, faults := decodeYAML(text)
		if faults != nil {
			return
		}
		asJSON, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("decoded to %v, and kubectl refuses it: %v", got, err)
		}
		var want any
		if err := json.Unmarshal(asJSON, &want); err != nil {
			t.Skip() // only a text or a number, which is no object
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("decoded (-kubectl +got):\n%s", diff)
		}
	})
}
