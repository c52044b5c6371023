package engine

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestDiffering(t *testing.T) {
	t.Parallel()
	const service = "{kind: Service, metadata: {name: web, labels: {app: web}}, spec: {ports: [{port: 80}], selector: {app: web}}}"
	for name, test := range map[string]struct {
		one, other string
		want       []string
	}{
		"the same":               {service, service, nil},
		"in another order":       {"{a: 1, b: {c: 2, d: 3}}", "{b: {d: 3, c: 2}, a: 1}", nil},
		"a value":                {"{a: {b: 1, c: 2}}", "{a: {b: 1, c: 3}}", []string{"a.c"}},
		"a field more":           {"{a: {}}", "{a: {b: 1}}", []string{"a.b"}},
		"a field less":           {"{a: {b: 1}, c: 1}", "{c: 1}", []string{"a"}},
		"two of them":            {"{b: 1, a: {c: 1}}", "{b: 2, a: {c: 2}}", []string{"a.c", "b"}},
		"an element of a list":   {"{a: [{b: 1}, {b: 2}]}", "{a: [{b: 1}, {b: 3}]}", []string{"a"}},
		"the order of a list":    {"{a: [1, 2]}", "{a: [2, 1]}", []string{"a"}},
		"an object and a text":   {"{a: {b: 1}}", "{a: text}", []string{"a"}},
		"null and nothing":       {"{a: null}", "{}", nil},
		"empty and nothing":      {"{a: {}}", "{}", []string{"a"}},
		"a number and its text":  {"{a: 1}", "{a: '1'}", []string{"a"}},
		"below what is not here": {"{}", "{a: {b: {c: 1}}}", []string{"a"}},
	} {
		var one, other any
		if err := errors.Join(yaml.Unmarshal([]byte(test.one), &one), yaml.Unmarshal([]byte(test.other), &other)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, differing("", one, other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.want, differing("", other, one)); diff != "" {
			t.Errorf("%s, the other way round (-want +got):\n%s", name, diff)
		}
	}
}
