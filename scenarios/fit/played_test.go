package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/fit"
)

// TestPlayedContainers: what their record has, and what pods can't have whose output it is in.
func TestPlayedContainers(t *testing.T) {
	t.Parallel()
	observe := func(pod, expression string) string {
		return topology + "images: [{image: registry.example/web, listen: [{port: 80, protocol: http1}]}]\nsteps:\n" +
			"- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: node-a, " + pod + "}}\n" +
			"- checks: [{id: c, observe: '" + expression + "', is: 0}]\n"
	}
	const containers = "containers: [{name: app, image: registry.example/web}]"
	for text, want := range map[string][]string{
		observe(containers, `connections["web/app"].size()`):                                       nil,
		observe(containers, `containers["web/app"].exits.filter(e, e.signal == "SIGTERM").size()`): nil,
		observe(containers, `containers["web/app"].execs.size()`):                                  nil,
		observe(containers, `objects["nodes/node-a"].status.capacity.size()`):                      {"what is recorded of nodes is not the whole object: nodes[...] has what is: check c"},
		observe("hostNetwork: true, "+containers, `connections["web/app"].size()`):                 {"it has servers of Pod web listen on a node's own addresses, where others reach them (step 1)"},
		observe("initContainers: [{name: first, image: busybox, terminationMessagePolicy: FallbackToLogsOnError}], "+containers, `connections["web/app"].size()`): {
			"a container of Pod web leaves the end of its output as a message, and its output has what it records (step 1)"},
	} {
		got := (fit.Use{Containers: true}).Of(cellOf(t, begin+text), cluster(nil), nil)
		if diff := cmp.Diff(want, got.Reasons); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", text, diff)
		}
	}
}

// TestOutputIsReadByPermission: where it has what is recorded.
func TestOutputIsReadByPermission(t *testing.T) {
	t.Parallel()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	for _, played := range []bool{false, true} {
		all := fit.Use{Containers: played}.Accesses(cells)
		reads := false
		for _, a := range all {
			reads = reads || a == fit.Access{Verb: "get", Resource: "pods/log"}
		}
		if reads != played {
			t.Errorf("played: %t, and its output is read: %t", played, reads)
		}
	}
}
