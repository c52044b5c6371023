package reports_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

func kinCell(id string, outcome reports.Outcome, finding string) reports.Cell {
	return reports.Cell{ID: id, Scenario: cellid.Trunk(id), Checks: []reports.Check{{ID: "shown", Requirement: "KEP-1/shown", Outcome: outcome, Finding: finding}}}
}

// TestWhatAFailureIsLike: the same check that is recorded for other cells comes before
// another one of the same requirement, and what passes is named beside.
func TestWhatAFailureIsLike(t *testing.T) {
	t.Parallel()
	red := kinCell("kep-1/a/b/kubelet:v1.90.1", reports.Fail, "")
	old := kinCell("kep-1/a/b/kubelet:v1.89.3", reports.ExpectedFail, "late")
	other := kinCell("kep-1/a/other/kubelet:v1.90.1", reports.ExpectedFail, "lost")
	good := kinCell("kep-1/a/b/kubelet:reference", reports.Pass, "")
	late, lost := reports.Finding{ID: "late", Headline: "It is late"}, reports.Finding{ID: "lost", Headline: "It is lost"}
	listed := red
	listed.Checks = []reports.Check{{ID: "shown", Requirement: "KEP-1/shown", Outcome: reports.Fail, Like: "late"}}
	for name, tc := range map[string]struct {
		of    reports.Cell
		cells []reports.Cell
		want  []string
	}{
		"nothing":              {red, []reports.Cell{red}, nil},
		"the same check":       {red, []reports.Cell{red, old, other, good}, []string{"If this is the recorded deviation “It is late”, add this cell to its entry late in the list of known deviations; otherwise report this (the same check deviates so with kubelet v1.89.3)", "The same check passes with kubelet reference"}},
		"the same requirement": {red, []reports.Cell{red, other}, []string{"If this is the recorded deviation “It is lost”, add this cell to its entry lost in the list of known deviations; otherwise report this (another check of the same requirement deviates so with kep-1/a/other)"}},
		"only on the list":     {listed, []reports.Cell{listed}, []string{"If this is the recorded deviation “It is late”, add this cell to its entry late in the list of known deviations; otherwise report this (the same check deviates so in other cells)"}},
		"recorded itself":      {old, []reports.Cell{red, old}, nil},
	} {
		r := reports.Report{Cells: tc.cells, Findings: []reports.Finding{late, lost}}
		var got []string
		for _, k := range r.RelatedDeviations(tc.of, tc.of.Checks[0]) {
			got = append(got, k.Advice(tc.of.ID))
		}
		if said := reports.PassesElsewhere(tc.of.ID, r.PassesIn(tc.of, tc.of.Checks[0])); said != "" {
			got = append(got, said)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
