package app

import (
	"maps"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
)

// TestATextThatContradictsItself: by the ledger and the list of the catalog, a kubelet
// that checks its gate is not at fault, in the report as on the way.
func TestATextThatContradictsItself(t *testing.T) {
	t.Parallel()
	here, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAssembler(nil, nil, here, reports.Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ plaintext, want reports.Outcome }{
		{reports.Pass, reports.Ambiguous},
		{reports.Fail, reports.Fail}, // it does as neither statement says
	} {
		cell := reports.Cell{
			ID: "kep-4939/gate/kubelet-toggled/apiserver:v1.90.1/kubelet:v1.90.1",
			Checks: []reports.Check{
				{ID: "api-server-only-is-plaintext", Requirement: "KEP-4939/gate/api-server-only", Outcome: tc.plaintext},
				{ID: "api-server-only-is-tls", Requirement: "KEP-4939/gate/kubelet-obeys-spec", Outcome: reports.Fail},
			},
		}
		if got := a.excuse(cell); got.Outcome != tc.want {
			t.Errorf("on the way it is %s, want %s", got.Outcome, tc.want)
		}
		report, err := a.assemble([]ranCell{{1, cell}})
		if err != nil || report.Cells[0].Outcome != tc.want {
			t.Errorf("the report has %s, want %s: %v", report.Cells[0].Outcome, tc.want, err)
		}
	}
}

// TestARegressionSaysWhatIsSeen in words, where it is reproduced.
func TestARegressionSaysWhatIsSeen(t *testing.T) {
	t.Parallel()
	here, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	reproduced := 0
	for _, planned := range here.BuiltIn {
		cell := reports.Cell{ID: planned.ID, Scenario: planned.Scenario, Axes: planned.Axes}
		for _, step := range planned.Steps {
			for _, c := range step.Checks() {
				cell.Checks = append(cell.Checks, reports.Check{ID: c.ID, Requirement: c.Requirement, Outcome: reports.Fail})
			}
		}
		for _, c := range here.Known.Excuse(cell).Checks {
			if c.Outcome != reports.ExpectedFail || !strings.HasPrefix(c.Requirement, reports.Regressions+"/") {
				continue
			}
			reproduced++
			if reports.FindingOf(here.Known.Findings(), c.Finding).Seen == "" {
				t.Errorf("%s: check %s is of finding %q, which has no sentence of what is seen", cell.ID, c.ID, c.Finding)
			}
		}
	}
	if reproduced == 0 {
		t.Error("no cell reproduces a regression")
	}
}

// notAmbiguous are the checks of findings of contradictions that hold a statement against
// a release, and why.
var notAmbiguous = map[string]string{
	"published-default": "the server fills in HTTP1, and OpenAPI could say so: no statement speaks against it",
	"error-while-off":   "the kubelets do as neither statement says: the socket stays, and no server answers",
}

// TestContradictionsAreAmbiguous: where the text contradicts itself, what a release
// does is held against it only for a reason that is written here.
func TestContradictionsAreAmbiguous(t *testing.T) {
	t.Parallel()
	here, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAssembler(nil, nil, here, reports.Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	contradictions := make(map[string]bool)
	for _, f := range here.Known.Findings() {
		contradictions[f.ID] = f.Class == reports.Contradiction
	}
	stale := maps.Clone(notAmbiguous)
	for _, planned := range here.BuiltIn {
		cell := reports.Cell{ID: planned.ID, Scenario: planned.Scenario, Axes: planned.Axes}
		for _, step := range planned.Steps {
			for _, c := range step.Checks() {
				cell.Checks = append(cell.Checks, reports.Check{ID: c.ID, Requirement: c.Requirement, Outcome: reports.Fail})
			}
		}
		if len(cell.Checks) == 0 {
			continue
		}
		for i, c := range here.Known.Excuse(cell).Checks { // all do as they should but these
			if !contradictions[c.Finding] {
				cell.Checks[i].Outcome = reports.Pass
			}
		}
		for _, c := range a.excuse(cell).Checks {
			if c.Outcome != reports.ExpectedFail || !contradictions[c.Finding] {
				continue
			}
			if delete(stale, c.ID); notAmbiguous[c.ID] == "" {
				t.Errorf("%s: %s, of %s, is %s", cell.ID, c.ID, c.Finding, c.Outcome)
			}
		}
	}
	if len(stale) > 0 {
		t.Errorf("there is no such check: %v", stale)
	}
}
