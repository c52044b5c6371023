package reports_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	requirements := []reports.Requirement{
		{ID: "K/proved"}, {ID: "K/deviates"}, {ID: "K/refuted"}, {ID: "K/untested"}, {ID: "K/unknown"},
		{ID: "K/excluded", Excluded: "no run can show it"},
		{ID: "K/manual", Manual: "a person reads it"},
		{ID: "K/contradicted", Excluded: "no run can show it"},
	}
	check := func(requirement string, outcome reports.Outcome) reports.Check {
		return reports.Check{Requirement: requirement, Outcome: outcome}
	}
	runs := []reports.Report{
		{Cells: []reports.Cell{
			{ID: "b", Checks: []reports.Check{check("K/proved", reports.Pass), check("K/refuted", reports.Pass), check("", reports.Fail)}},
			{ID: "a", Checks: []reports.Check{check("K/proved", reports.Pass), check("K/proved", reports.Pass), check("K/nowhere", reports.Pass)}},
		}},
		{Cells: []reports.Cell{
			{ID: "b", Checks: []reports.Check{check("K/refuted", reports.Fail), check("K/unknown", reports.Unknown)}},
			{ID: "c", Checks: []reports.Check{check("K/deviates", reports.ExpectedFail), check("K/contradicted", reports.Pass)}},
		}},
	}
	type row struct {
		status reports.TraceStatus
		checks int
		cells  string
	}
	got := make(map[string]row)
	for _, q := range reports.Trace(requirements, runs) {
		cells := ""
		for _, c := range q.Cells {
			cells += c
		}
		got[q.ID] = row{q.Status, q.Checks, cells}
	}
	want := map[string]row{
		"K/proved":       {reports.Proved, 3, "ab"},
		"K/deviates":     {reports.Deviates, 1, "c"},
		"K/refuted":      {reports.Refuted, 2, "b"},
		"K/untested":     {reports.Untested, 0, ""},
		"K/unknown":      {reports.Unjudged, 1, "b"},
		"K/excluded":     {reports.IsExcluded, 0, ""},
		"K/manual":       {reports.IsManual, 0, ""},
		"K/contradicted": {reports.Contradicted, 1, "c"},
		"K/nowhere":      {reports.Unstated, 1, "a"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
