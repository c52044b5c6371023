package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// TestNamesIn: what a name is depends on the variable that has it. A key of two parts is a
// container of a pod, a pod with its namespace, or an object without one.
func TestNamesIn(t *testing.T) {
	t.Parallel()
	of := func(variable, text, object, container string) reports.Named {
		return reports.Named{Variable: variable, Text: text, Object: object, Container: container}
	}
	for expected, want := range map[string]reports.Names{
		`at once: containers["web/app"].running == true`: {of("containers", "web/app", "pods/default/web", "app")},
		`at once: connections["shop/web/app"].size() satisfies it > 1`: {
			of("connections", "shop/web/app", "pods/shop/web", "app"),
		},
		`at once: pods["web"].status.phase == "Running"`:                       {of("pods", "web", "pods/default/web", ""), {Text: "Running"}},
		`always for 5s: events["shop/web"].size() grows by 0 at most`:          {of("events", "shop/web", "pods/shop/web", "")},
		`at once: objects["nodes/a"].spec == objects["jobs/b/c"].spec == true`: {of("objects", "nodes/a", "nodes/a", ""), of("objects", "jobs/b/c", "jobs/b/c", "")},
		`at once: nodes["a"].ready && "b" in nodes == true`:                    {of("nodes", "a", "nodes/a", ""), of("nodes", "b", "nodes/b", "")},
		`at once: components["kubelet/a"].at < components["etcd"].at == true`:  {of("components", "kubelet/a", "nodes/a", ""), of("components", "etcd", "", "")},
		`at once: requests.create.code == 201`:                                 {{Variable: "requests", Text: "create"}},
		`at once: dependents["kcm"].replicas == 0`:                             {{Variable: "dependents", Text: "kcm"}},
		`at once: watches["w"].pods["web"].metadata.labels["x"] == "yes"`:      {of("watches", "w", "", ""), of("pods of an answer", "web", "pods/default/web", ""), {Text: "x"}, {Text: "yes"}},
		`at once: polls["p"].views.exists(v, "s/web" in v.pods) == true`:       {of("polls", "p", "", ""), of("pods of an answer", "s/web", "pods/s/web", "")},
		`at once: connections.exists(k, k.startsWith("web/")) == true`:         {of("connections", "web/", "pods/default/web", "")},
		`at once: pods["web"].spec.containers satisfies it[0].name == "a"`:     {of("pods", "web", "pods/default/web", ""), {Variable: "containers", Text: "a", Container: "a"}},
		`at once: ["a"].all(p, pods[p].spec == 1) == true`:                     {{Text: "a"}},
		`each probe of "web" is answered: in time`:                             nil,
	} {
		result := reports.Cell{Checks: []reports.Check{{ID: "c", Outcome: reports.Fail, Expected: expected}}}
		if diff := cmp.Diff(map[string]reports.Names{"c": want}, namesIn(result)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expected, diff)
		}
	}
}

// TestOnlyNamed: what an expression looks at is known if it names all of it.
func TestOnlyNamed(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		`stored["first"].bytes + polls["p"].views.size()`: {"first", "p"},
		`containers["web/app"].exits.map(e, e.code)`:      {"app"},
		`requests.create.code`:                            {"create"},
		`pods["web"].spec == polls`:                       nil,
		`containers.exists(c, containers["a/b"].running)`: nil,
		`["web"].all(p, sockets[p].size() == 0)`:          nil,
	} {
		e, _ := expr.Parse(expression)
		if diff := cmp.Diff(want, onlyNamed(e)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}
