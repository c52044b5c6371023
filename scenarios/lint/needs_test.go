package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestNeeds: what expressions name is observed, and what they ask of components may be.
func TestNeeds(t *testing.T) {
	t.Parallel()
	definition := map[string]any{"kind": "CustomResourceDefinition", "spec": map[string]any{"names": map[string]any{"plural": "widgets", "kind": "Widget"}}}
	for observe, want := range map[string]record.Topology{
		`objects["pods/default/a"].spec`:                                           {},
		`objects["configmaps/default/a"].data`:                                     {Observed: []string{"configmaps"}},
		`["a", "b"].map(n, objects["jobs/default/" + n])`:                          {Observed: []string{"jobs"}},
		`objects.exists(k, k.startsWith("widgets/"))`:                              {Observed: []string{"widgets"}},
		`objects.exists(k, k.startsWith("clusterrole"))`:                           {Observed: []string{"clusterrolebindings", "clusterroles"}},
		`objects.exists(k, k.startsWith("seed/mach"))`:                             {Observed: []string{"seed/machines"}},
		`objects.exists(k, k.startsWith("seed/"))`:                                 {},
		`objects.exists(k, objects[k].kind == "CronJob")`:                          {Observed: []string{"cronjobs", "seed/cronjobs"}},
		`objects.map(k, objects[k]).exists(o, o.kind in ["Machine", "Widget"])`:    {Observed: []string{"seed/machines", "widgets"}},
		`objects["pods/a/b"].metadata.ownerReferences[0].kind == "User"`:           {},
		`requests["a"].code == 200 && ["jbos/"].all(k, k.startsWith("jbo"))`:       {},
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

// TestTheEndOfAComponentIsSeenThroughIt: through what was observed, too.
func TestTheEndOfAComponentIsSeenThroughIt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		observe, must string
		mayEnd        []string
		read          string
	}{
		{`components["kubelet/node-a"]`, `it.running && it.exits.size() == 0`, []string{"kubelet/node-a"}, ""},
		{`[components["etcd"], components["kubelet/node-a"]]`, `it.all(c, c.running)`, []string{"etcd", "kubelet/node-a"}, ""},
		{`components`, `it["etcd"].exits.size() == 0`, []string{"etcd"}, ""},
		{`[components["etcd"], components["kubelet/node-a"]]`, `it[1].version == "v1.90.1"`, nil, "version"},
		{`components["etcd"]`, `it.?gates.orValue({}).size() == 0`, nil, "gates"},
	} {
		cell := plan.Cell{Topology: record.Topology{Nodes: []record.Node{{Name: "node-a"}}}, Steps: []plan.Step{
			{Action: action.Checks{Checks: []action.Check{{ID: "c", Observe: tc.observe, Must: tc.must}}}},
		}}
		got, err := Needs(cell)
		if diff := cmp.Diff(tc.mayEnd, got.MayEnd); diff != "" || err != nil {
			t.Errorf("%s, %s: %v (-want +got):\n%s", tc.observe, tc.must, err, diff)
		}
		if why := fmt.Sprint(Refuse([]plan.Cell{cell})); strings.Contains(why, "it reads") != (tc.read != "") || !strings.Contains(why, tc.read) {
			t.Errorf("%s, %s: %s", tc.observe, tc.must, why)
		}
	}
}

// TestAValueOfAnotherTypeIsRefused: it is never so.
func TestAValueOfAnotherTypeIsRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		observe string
		is      any
		want    string
	}{
		{`containers["payments/app"].running`, 1, "c.yaml:2:3: check c: it observes true or false, which is never 1"},
		{`connections["payments/app"].size()`, true, "c.yaml:2:3: check c: it observes a number, which is never true"},
		{`containers["payments/app"].starts`, []any{1.0}, "c.yaml:2:3: check c: it observes a number, which is never [1]"},
		{`containers["payments/app"].starts`, "0", `c.yaml:2:3: check c: it observes a number, which is never "0"`},
		{`connections["payments/app"].size()`, 1.5, "<nil>"},
		{`pods["payments"].spec`, "any", "<nil>"},
		{`connections["payments/app"]`, []any{}, "<nil>"},
		{`containers["payments/app"].running`, true, "<nil>"},
	} {
		cell := playground(tc.observe, "")
		cell.Steps[3].Action.(action.Checks).Checks[0].Is = tc.is
		if _, err := check.Compile(cell); fmt.Sprint(err) != tc.want {
			t.Errorf("%s, %v: %v, want %s", tc.observe, tc.is, err, tc.want)
		}
	}
}

// TestAnUnknownResourceIsRefused: nothing of it would ever be in the record, and a check
// that none is there would hold.
func TestAnUnknownResourceIsRefused(t *testing.T) {
	t.Parallel()
	text := "steps:\n- wait:\n    until: A\n- checks:\n  - id: c\n    observe: >-\n      B\n    must: C\n"
	for expression, want := range map[string]string{
		`objects["configmap/default/a"].spec == 1`:                    `"configmap/default/a" is of no resource whose objects are recorded: did you mean configmaps?`,
		`"widgets/default/a" in history`:                              `"widgets/default/a" is of no resource whose objects are recorded; a CustomResourceDefinition of the scenario makes one known`,
		`objects[?"events/default/a"].hasValue()`:                     `"events/default/a" is of no resource whose objects are recorded: events["pod"] has those about a pod`,
		`"seed/machines/shoot/a" in objects`:                          `"seed/machines/shoot/a" is of no resource whose objects are recorded; a CustomResourceDefinition of the scenario makes one known`,
		`!objects.exists(k, k.startsWith("configmap/"))`:              `"configmap/" is of no resource whose objects are recorded: did you mean configmaps?`,
		`history.filter(k, k.startsWith("jbos/")).size() == 0`:        `"jbos/" is of no resource whose objects are recorded: did you mean jobs?`,
		`objects.filter(k, true).all(k, !k.startsWith("configmap/"))`: `"configmap/" is of no resource whose objects are recorded: did you mean configmaps?`,
		`objects.all(k, k != "configmap/default/a")`:                  `"configmap/default/a" is of no resource whose objects are recorded: did you mean configmaps?`,
		`objects.all(k, objects[k].kind != "Jbo")`:                    `"Jbo" is no kind whose objects are recorded: did you mean Job?`,
		`history.all(k, history[k].all(o, o.kind != "configmap"))`:    `"configmap" is no kind whose objects are recorded: did you mean ConfigMap?`,
		`objects.all(k, "Event" != objects[k].?kind.orValue(""))`:     `"Event" is no kind whose objects are recorded: events["pod"] has those about a pod`,
		`objects.all(k, !(objects[k].kind in ["Job", "Wdget"]))`:      `"Wdget" is no kind whose objects are recorded: did you mean Widget?`,
	} {
		definition := map[string]any{"kind": "CustomResourceDefinition", "spec": map[string]any{"names": map[string]any{"plural": "wdgs", "kind": "Widget"}}}
		for place, step := range map[string]plan.Step{
			`c.yaml:3:5: wait until: `: {Line: 2, Action: action.Wait{Until: expression}},
			`c.yaml:6:5: check c: `:    {Line: 4, Action: action.Checks{Checks: []action.Check{{ID: "c", Line: 5, Observe: expression}}}},
		} {
			_, err := Needs(plan.Cell{File: "c.yaml", Text: text, Steps: []plan.Step{{Action: action.Apply{Objects: []map[string]any{definition}}}, step}})
			if err == nil || err.Error() != place+want {
				t.Errorf("%s: %v, want %s%s", expression, err, place, want)
			}
		}
	}
}

// TestWhatAnExpressionSeesAsItIsKnown: keys and objects that were observed are still such
// to the condition.
func TestWhatAnExpressionSeesAsItIsKnown(t *testing.T) {
	t.Parallel()
	needs := func(observe, must string) (record.Topology, error) {
		return Needs(plan.Cell{File: "c.yaml", Text: "- id: c\n  observe: A\n  must: B\n", Steps: []plan.Step{
			{Action: action.Checks{Checks: []action.Check{{ID: "c", Line: 1, Observe: observe, Must: must}}}},
		}})
	}
	if got, err := needs(`objects.map(k, k)`, `it.all(k, !k.startsWith("jobs/"))`); err != nil || !cmp.Equal(got.Observed, []string{"jobs"}) {
		t.Errorf("%v, %v", got.Observed, err)
	}
	for observe, must := range map[string]string{
		`objects.map(k, k)`:                       `it.all(k, !k.startsWith("jbos/"))`,
		`objects`:                                 `!("jbos/default/a" in it)`,
		`history["pods/default/a"]`:               `it.all(o, o.kind != "Jbo")`,
		`history.map(k, history[k][0]).reverse()`: `it[0].kind != "Jbo"`,
	} {
		if _, err := needs(observe, must); err == nil || !strings.HasPrefix(err.Error(), `c.yaml:3:3: check c: "`) {
			t.Errorf("%s, %s: %v", observe, must, err)
		}
	}
}
