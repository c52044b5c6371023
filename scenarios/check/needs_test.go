package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestNeeds: what expressions name is observed, and what they ask of components may be.
func TestNeeds(t *testing.T) {
	t.Parallel()
	definition := map[string]any{"kind": "CustomResourceDefinition", "spec": map[string]any{"names": map[string]any{"plural": "widgets"}}}
	for observe, want := range map[string]record.Topology{
		`objects["pods/default/a"].spec`:                                           {},
		`objects["configmaps/default/a"].data`:                                     {Observed: []string{"configmaps"}},
		`["a", "b"].map(n, objects["jobs/default/" + n])`:                          {Observed: []string{"jobs"}},
		`objects.exists(k, k.startsWith("widgets/"))`:                              {Observed: []string{"widgets"}},
		`objects.exists(k, objects[k].kind == "CronJob")`:                          {Observed: []string{"cronjobs"}},
		`"leases/kube-node-lease/node-a" in history`:                               {Observed: []string{"leases"}},
		`requests["jobs"].code`:                                                    {},
		`objects["seed/machines/shoot/a"].spec`:                                    {Observed: []string{"seed/machines"}},
		`components["kubelet/node-a"].at`:                                          {},
		`components["kubelet/node-a"].exits.size()`:                                {MayEnd: []string{"kubelet/node-a"}},
		`["etcd", "kube-apiserver"].all(n, components[n].running)`:                 {MayEnd: []string{"etcd", "kube-apiserver"}},
		`components.exists(n, components[n].exits.size() > 0)`:                     {MayEnd: []string{"etcd", "kube-apiserver", "kubelet/node-a", "seed/etcd", "seed/kube-apiserver"}},
		`containers["web/app"].running && containers["web/app"].exits.size() == 0`: {},
	} {
		cell := plan.Cell{Topology: record.Topology{Nodes: []record.Node{{Name: "node-a"}}, Garden: new(record.Garden)}, Steps: []plan.Step{
			{Action: action.Apply{Objects: []map[string]any{definition}}},
			{Action: action.Checks{Checks: []action.Check{{ID: "c", Observe: observe}}}},
		}}
		got, err := Needs(cell)
		if diff := cmp.Diff([][]string{want.Observed, want.MayEnd}, [][]string{got.Observed, got.MayEnd}); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", observe, err, diff)
		}
	}
}

// TestAnUnknownResourceIsRefused: nothing of it would ever be in the record.
func TestAnUnknownResourceIsRefused(t *testing.T) {
	t.Parallel()
	text := "steps:\n- wait:\n    until: A\n- checks:\n  - id: c\n    observe: >-\n      B\n"
	for key, want := range map[string]string{
		"configmap/default/a":   `did you mean configmaps?`,
		"widgets/default/a":     `a CustomResourceDefinition of the scenario makes one known`,
		"events/default/a":      `events["pod"] has those about a pod`,
		"seed/machines/shoot/a": `a CustomResourceDefinition of the scenario makes one known`,
	} {
		for place, step := range map[string]plan.Step{
			`c.yaml:3:5: wait until: "`: {Line: 2, Action: action.Wait{Until: `objects["` + key + `"].spec == 1`}},
			`c.yaml:6:5: check c: "`:    {Line: 4, Action: action.Checks{Checks: []action.Check{{ID: "c", Line: 5, Observe: `"` + key + `" in history`}}}},
		} {
			_, err := Needs(plan.Cell{File: "c.yaml", Text: text, Steps: []plan.Step{step}})
			if err == nil || !strings.HasPrefix(err.Error(), place+key) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %s%s", key, err, place, want)
			}
		}
	}
}
