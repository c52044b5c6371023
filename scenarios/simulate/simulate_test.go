package simulate_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/simulate"
)

func cells(t *testing.T, scenario string) []plan.Cell {
	t.Helper()
	text := `
apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/simulate/test
title: A test
` + scenario
	files, err := action.Load(fstest.MapFS{"test.yaml": {Data: []byte(text)}}, []string{"test.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(files)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func played(t *testing.T, cell plan.Cell) ([]record.Event, reports.Cell) {
	t.Helper()
	program, err := check.Compile(cell)
	if err != nil {
		t.Fatal(err)
	}
	return simulate.Cell(t.Context(), cell, program)
}

const garden = `
topology:
  timeScale: 5
  controlPlane: {scheduler: false, nodeMonitor: {period: 5s, grace: 50s}}
  leaseNodes: {zones: {a: 7, b: 3}}
  garden: {watchdog: v1.8.0}
steps:
`

// TestThePlayIsTheSameEachTime, to the last event.
func TestThePlayIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	cell := cells(t, garden+`
- cut: {from: lease-nodes/a}
- wait: {until: 'dependents.all(d, dependents[d].replicas == 0)'}
- heal: lease-nodes/a
- checks:
  - {id: up, observe: 'dependents.all(d, dependents[d].replicas == 1)', is: true, eventually: 60s}
`)[0]
	first, result := played(t, cell)
	again, _ := played(t, cell)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("played again (-first +again):\n%s", diff)
	}
	if result.Outcome != reports.Pass {
		t.Errorf("%s: %s", result.Outcome, result.Reason)
	}
}

// TestAPlayCanFail: the checks are those of a run.
func TestAPlayCanFail(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]string{
		"too few of the nodes": `
- cut: {from: lease-nodes/b}
- checks: [{id: c, observe: 'dependents.all(d, dependents[d].replicas == 0)', is: true, eventually: 60s}]
`,
		"a healthy cluster": `
- checks: [{id: c, observe: 'nodes.exists(n, nodes[n].ready == "Unknown")', is: true, eventually: 60s}]
`,
	} {
		if _, result := played(t, cells(t, garden+steps)[0]); result.Outcome != reports.Fail {
			t.Errorf("%s: %s: %s", name, result.Outcome, result.Reason)
		}
	}
	_, result := played(t, cells(t, garden+`
- wait: {until: 'nodes.exists(n, nodes[n].ready == "Unknown")', within: 20s}
`)[0])
	if result.Outcome != reports.Unknown || !strings.Contains(result.Reason, "not within 20s") {
		t.Errorf("a wait in vain: %s: %s", result.Outcome, result.Reason)
	}
}

func TestWhatTheModelsDoNotKnowIsNotPlayed(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		`slow: {from: lease-nodes, delay: 1s}`,
		`answer: {from: dependency-watchdog, status: 429, retryAfter: 5s}`,
		`cut: {from: dependency-watchdog->seed/kube-apiserver}`,
		`stop: kube-controller-manager`,
		`restart: {component: dependency-watchdog, version: v1.2.3}`,
		`delete: seed/machines/shoot/machine-node-0`,
		`patch: {object: leases/kube-node-lease/node-0, merge: {metadata: {labels: {a: b}}}}`,
		`apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`,
	} {
		_, result := played(t, cells(t, garden+"- "+step)[0])
		if result.Outcome != reports.NotApplicable || !strings.Contains(result.Reason, "don't cover it") {
			t.Errorf("%s: %s: %s", step, result.Outcome, result.Reason)
		}
	}
	_, result := played(t, cells(t, `
topology: {controlPlane: {}, nodes: [{name: node-a}]}
steps: [{wait: {until: "true"}}]
`)[0])
	if result.Outcome != reports.NotApplicable {
		t.Errorf("a kubelet: %s", result.Outcome)
	}
}

// TestTheCatalogIsJudged: the models have what the checks of the cells that they play observe.
func TestTheCatalogIsJudged(t *testing.T) {
	t.Parallel()
	all, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, cell := range all {
		if cell.Topology.LeaseNodes == nil {
			continue // compiling its checks takes longer
		}
		switch _, result := played(t, cell); result.Outcome {
		case reports.Pass, reports.Fail:
			judged++
		case reports.NotApplicable:
		default:
			t.Errorf("%s: %s: %s", cell.ID, result.Outcome, result.Reason)
		}
	}
	if judged == 0 {
		t.Error("no cell of the catalog was played")
	}
}

// deviations are the scenarios in which releases are known to do something else
// than their text says.
var deviations = []string{"one-node", "left-out", "exceptions", "in-creation"}

// TestTheTextSaysWhatTheLedgerSays: played by what is written about the watchdog,
// the scenarios pass in which releases are known to fail because they do something
// else.
func TestTheTextSaysWhatTheLedgerSays(t *testing.T) {
	t.Parallel()
	all, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, cell := range all {
		_, name, _ := strings.Cut(strings.TrimPrefix(cell.Scenario, "dwd/"), "/")
		for _, d := range deviations {
			if cell.Area != "dwd" || name != d {
				continue
			}
			looked++
			if _, result := played(t, simulate.As(cell, watchdog.Text)); result.Outcome != reports.Pass {
				t.Errorf("%s: %s: %s", cell.ID, result.Outcome, result.Reason)
			}
		}
	}
	if looked == 0 {
		t.Error("the catalog has none of them")
	}
}
