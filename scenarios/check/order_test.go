package check

import (
	"slices"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
)

func TestMapsAreGoneThroughInTheOrderOfTheirKeys(t *testing.T) {
	t.Parallel()
	labels := []any{"a", "b", "c", "d", "e", "f", "g", "h"}
	for expression, want := range map[string][]any{
		`containers.filter(c, containers[c].running)`:                      {"p/a", "p/b", "p/c", "p/d", "p/e", "p/f", "p/g", "p/h"},
		`connections.map(c, c)`:                                            {"p/a", "p/b", "p/c", "p/d", "p/e", "p/f", "p/g", "p/h"},
		`pods["p"].metadata.labels.map(l, l)`:                              labels,
		`pods["p"].spec.list.map(i, i.map(l, l))[0]`:                       labels,
		`history["pods/default/p"].map(v, v.metadata.labels.map(l, l))[0]`: labels,
	} {
		p := cellWith(t, action.Check{ID: "order", Requirement: "X/1", Observe: expression, Is: want, Mode: record.Now})
		// By chance, eight keys are in order once in 40 320 times.
		got := Judge(t.Context(), p, story(func(h *record.History) {
			for _, name := range slices.Backward(labels) {
				h.Append("runtime/node-a", "default/p/"+name.(string), record.ContainerStarted{})
				h.Append("server", "default/p/"+name.(string), record.Connection{First: "nothing"})
			}
			const eight = `{"h":1,"g":1,"f":1,"e":1,"d":1,"c":1,"b":1,"a":1}`
			object(h, "pods", "default", "p", `{"metadata":{"labels":`+eight+`},"spec":{"list":[`+eight+`]}}`)
			opened(h, "order")
			closed(h, "order", 0)
		})).Checks[0]
		if got.Outcome != reports.Pass {
			t.Errorf("%s: %s (%s)", expression, got.Observed, got.Outcome)
		}
	}
}
