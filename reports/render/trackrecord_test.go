package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

func TestTrackRecord(t *testing.T) {
	t.Parallel()
	cell := func(release string, outcome reports.Outcome, checks ...reports.Check) reports.Cell {
		return reports.Cell{ID: "regressions/bug-1/a/kubelet:" + release, Scenario: "regressions/bug-1/a", Axes: map[string]string{"kubelet": release}, Outcome: outcome, Checks: checks}
	}
	is := func(outcome reports.Outcome) reports.Check {
		return reports.Check{ID: "stays", Outcome: outcome, Finding: "bug"}
	}
	report := reports.Report{
		Cells: []reports.Cell{
			cell("v1", reports.ExpectedFail, is(reports.ExpectedFail)), cell("v2", reports.Pass, is(reports.Pass)),
			cell("v3", reports.Fail, is(reports.Fail)), cell("v4", reports.UnexpectedPass, is(reports.UnexpectedPass)),
			cell("v5", reports.Unknown, is(reports.Unknown)),
		},
		Findings: []reports.Finding{{ID: "bug", Since: "v1, by mistake"}},
		Requirements: []reports.Requirement{
			{ID: "regressions/bug-1", KEP: "regressions", Statement: "It stays.", Source: "Bugs, 1", Cells: []string{
				"regressions/bug-1/a/kubelet:v1", "regressions/bug-1/a/kubelet:v2", "regressions/bug-1/a/kubelet:v3",
				"regressions/bug-1/a/kubelet:v4", "regressions/bug-1/a/kubelet:v5",
			}},
			{ID: "KEP-1/a", KEP: "KEP-1", Statement: "Not on the shelf."},
		},
	}
	const want = "# Track record\n\nKnown regressions of Kubernetes, and the releases on which scenarios detect them.\n\n" +
		"| regression | red since | red until | fixed by |\n| --- | --- | --- | --- |\n| `bug-1/a` | v1, by mistake | kubelet v3 (but green on v2), green on v4 | nothing yet that we know of |\n\n" +
		"## `regressions/bug-1`\n\nIt stays.\nBugs, 1\n\n" +
		"| releases | expected | observed | detected by | command |\n| --- | --- | --- | --- | --- |\n" +
		"| kubelet v1 | red | red | `stays` | `skewrig run 'regressions/bug-1/a/kubelet:v1' --report-dir report-a-77b058` |\n" +
		"| kubelet v2 | green | green |  | `skewrig run 'regressions/bug-1/a/kubelet:v2' --report-dir report-a-751cbf` |\n" +
		"| kubelet v3 | green | red | `stays` | `skewrig run 'regressions/bug-1/a/kubelet:v3' --report-dir report-a-72a8a2` |\n" +
		"| kubelet v4 | red | green |  | `skewrig run 'regressions/bug-1/a/kubelet:v4' --report-dir report-a-702e39` |\n" +
		"| kubelet v5 | green | unknown |  | `skewrig run 'regressions/bug-1/a/kubelet:v5' --report-dir report-a-6dc6b4` |\n\n" +
		"All known regressions: `skewrig run 'regressions/**' --report-dir report-regressions-a22c74`\n"
	var got bytes.Buffer
	if err := render.TrackRecord(&got, report); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestTrackRecordOfCellsThatWereNotJudged: none of them is called green.
func TestTrackRecordOfCellsThatWereNotJudged(t *testing.T) {
	t.Parallel()
	for want, outcomes := range map[string][]reports.Outcome{
		"| kubelet v3, green on v1; not judged on v2 | kubelet v3, green on v5; not judged on v4 |":                                                       {reports.Pass, reports.Unknown, reports.Fail, reports.HarnessError, reports.Pass},
		"| kubelet v2 or earlier: the oldest that was judged; not judged on v1 | still red on kubelet v2, the newest that was judged; not judged on v3 |": {reports.Unknown, reports.Fail, reports.NotTestable},
		"| kubelet v1 or earlier: the oldest that ran | still red on kubelet v2, the newest that ran |":                                                   {reports.Fail, reports.Fail},
	} {
		q := reports.Requirement{ID: "regressions/bug", KEP: "regressions"}
		var r reports.Report
		for i, outcome := range outcomes {
			release := "v" + string(rune('1'+i))
			c := reports.Cell{ID: "regressions/bug/a/kubelet:" + release, Scenario: "regressions/bug/a", Axes: map[string]string{"kubelet": release}, Outcome: outcome, Checks: []reports.Check{{ID: "stays", Outcome: outcome}}}
			r.Cells, q.Cells = append(r.Cells, c), append(q.Cells, c.ID)
		}
		r.Requirements = []reports.Requirement{q}
		var got bytes.Buffer
		if err := render.TrackRecord(&got, r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), want) {
			t.Errorf("%s is not in\n%s", want, &got)
		}
	}
}
