package rehearse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperators(t *testing.T) {
	t.Parallel()
	objects := []map[string]any{
		decoded(t, `{kind: Service, metadata: {name: shop}}`),
		decoded(t, `{kind: Deployment, metadata: {name: shop, namespace: a}, spec: {template: {spec: {serviceAccountName: runner}}}}`),
		decoded(t, `{kind: Deployment, metadata: {name: plain}, spec: {template: {spec: {}}}}`),
	}
	for text, want := range map[string]Operator{
		"shop=./bin/shop --metrics=0 -v=2": {Name: "shop", Path: "./bin/shop", Args: []string{"--metrics=0", "-v=2"}, Namespace: "a", Account: "runner"},
		"plain=/bin/plain":                 {Name: "plain", Path: "/bin/plain", Args: []string{}, Namespace: "default", Account: "default"},
	} {
		o, err := ParseOperator(text)
		if err == nil {
			o, err = o.For(objects)
		}
		if diff := cmp.Diff(want, o); diff != "" || err != nil {
			t.Errorf("%s: %v, -want +got:\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{"shop": "is not NAME=PROGRAM", "=x": "is not NAME=PROGRAM", "a= ": "is not NAME=PROGRAM", "plan=x": `no workload called "plan", for which a program could stand: did you mean plain?`} {
		o, err := ParseOperator(text)
		if err == nil {
			_, err = o.For(objects)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnOperatorThatEndsOftener(t *testing.T) {
	t.Parallel()
	s := rehearsed(t)
	s.Subject.stage(HalfWay).Exits = map[string][]string{"shop": {"leader election lost"}}
	s.Twin.stage(Upgraded).Exits = map[string][]string{"shop": {"leader election lost"}}
	if found, _ := Judge(s); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	s.Subject.stage(Changed).Exits = map[string][]string{"shop": {"panic: no such field"}}
	found, _ := Judge(s)
	if len(found) != 1 || found[0].What != Panics || found[0].Stage != Changed || !strings.Contains(found[0].Summary, "operator shop ends by itself: panic: no such field") {
		t.Errorf("%+v", found)
	}
}
