package app

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
)

// TestATextThatContradictsItself: by the ledger and the list of the catalog, a kubelet
// that checks its gate is not at fault, in the report as on the way.
func TestATextThatContradictsItself(t *testing.T) {
	t.Parallel()
	list, err := Known("")
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAssembler(nil, list, reports.Reproduce{})
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
