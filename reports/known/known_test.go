package known

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
)

func parse(t *testing.T, deviations string) List {
	t.Helper()
	list, err := Parse("known.yaml", []byte("apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\ndeviations:\n"+deviations))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const oneDeviation = `
- {cells: a/*/c, checks: [up, "down-*"], reason: old, link: https://example.com/1}
`

// TestApplyToEachOutcome goes through every outcome of a check that is listed,
// beside one that is not.
func TestApplyToEachOutcome(t *testing.T) {
	t.Parallel()
	becomes := map[reports.Outcome]reports.Outcome{
		reports.Fail: reports.ExpectedFail,
		reports.Pass: reports.UnexpectedPass,
		// Neither excused nor accused.
		reports.NotApplicable: reports.NotApplicable,
		reports.NotTestable:   reports.NotTestable,
		reports.Unknown:       reports.Unknown,
		reports.HarnessError:  reports.HarnessError,
		reports.Flaky:         reports.Flaky,
		// A list was applied before.
		reports.Ambiguous:      reports.Ambiguous,
		reports.ExpectedFail:   reports.ExpectedFail,
		reports.UnexpectedPass: reports.UnexpectedPass,
	}
	for _, o := range reports.Outcomes() {
		t.Run(string(o), func(t *testing.T) {
			t.Parallel()
			for id, listed := range map[string]bool{"up": true, "down-1": true, "down/1": false, "other": false} {
				cells := []reports.Cell{{ID: "a/b/c", Checks: []reports.Check{{ID: id, Outcome: o, Reason: "why"}}}}
				got, _ := Apply(parse(t, oneDeviation), cells, nil)
				want := o
				if listed {
					want = becomes[o]
				}
				if got[0].Outcome != want || got[0].Checks[0].Outcome != want {
					t.Errorf("%s: cell %s, check %s, want %s", id, got[0].Outcome, got[0].Checks[0].Outcome, want)
				}
				if cells[0].Checks[0].Outcome != o || cells[0].Outcome != "" {
					t.Errorf("%s: the argument was changed to %+v", id, cells[0])
				}
			}
		})
	}
}

func TestApplyExcusesNothingOfACellThatIsNotJudged(t *testing.T) {
	t.Parallel()
	for _, o := range []reports.Outcome{reports.HarnessError, reports.Unknown, reports.NotTestable} {
		cells := []reports.Cell{{ID: "a/b/c", Outcome: o, Reason: "said", Checks: []reports.Check{{ID: "up", Outcome: reports.Fail}}}}
		got, problems := Apply(parse(t, oneDeviation), cells, nil)
		if got[0].Outcome != o || got[0].Reason != "said" || got[0].Checks[0].Outcome != o {
			t.Errorf("%s became %+v", o, got[0])
		}
		if len(problems) > 0 {
			t.Errorf("%s: problems %v, want none", o, problems)
		}
	}
}

func TestApplyKeepsWhatIsNotExcused(t *testing.T) {
	t.Parallel()
	cells := []reports.Cell{{ID: "a/b/c", Checks: []reports.Check{{ID: "up", Outcome: reports.Fail}, {ID: "other", Outcome: reports.Fail}}}}
	got, _ := Apply(parse(t, oneDeviation), cells, nil)
	if got[0].Outcome != reports.Fail || got[0].Checks[0].Outcome != reports.ExpectedFail {
		t.Errorf("cell %s, listed check %s, want fail and expected-fail", got[0].Outcome, got[0].Checks[0].Outcome)
	}
}

func TestReasonsNameTheEntry(t *testing.T) {
	t.Parallel()
	list := parse(t, oneDeviation+`
- {cells: a/**, checks: up, releases: "kubelet >= 1.88, < 1.90", reason: new, link: https://example.com/2}
`)
	cells := []reports.Cell{
		{ID: "a/kubelet:v1.89.3/c", Checks: []reports.Check{{ID: "up", Outcome: reports.Fail, Reason: "restarted"}, {ID: "down-1", Outcome: reports.Pass}}},
	}
	got, _ := Apply(list, cells, nil)
	want := []string{
		"old (https://example.com/1); new (kubelet 1.88 and newer, older than 1.90: https://example.com/2); the check said: restarted",
		"known.yaml:5:3 lists it as failing: old (https://example.com/1)",
	}
	if diff := cmp.Diff(want, []string{got[0].Checks[0].Reason, got[0].Checks[1].Reason}); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestARequirementSelectsChecks(t *testing.T) {
	t.Parallel()
	checks := []reports.Check{
		{ID: "up", Requirement: "R-1", Outcome: reports.Fail},
		{ID: "down", Requirement: "R-1", Outcome: reports.Fail},
		{ID: "up-again", Requirement: "R-2", Outcome: reports.Fail},
	}
	for entry, want := range map[string][3]bool{
		`- {cells: "**", requirement: R-1, reason: r, link: https://example.com}`:               {true, true, false},
		`- {cells: "**", checks: up*, requirement: R-1, reason: r, link: https://example.com}`:  {true, false, false},
		`- {cells: "**", checks: "**", reason: r, link: https://example.com}`:                   {true, true, true},
		`- {cells: "**", checks: up*, requirement: R-10, reason: r, link: https://example.com}`: {},
	} {
		got, _ := Apply(parse(t, entry), []reports.Cell{{ID: "a/b/c", Checks: checks}}, nil)
		for i, excused := range want {
			if (got[0].Checks[i].Outcome == reports.ExpectedFail) != excused {
				t.Errorf("%s: check %s is %s", entry, checks[i].ID, got[0].Checks[i].Outcome)
			}
		}
	}
}

// TestAnEntryForReleasesToCome is not stale until a cell has one of them, or a newer one.
func TestAnEntryForReleasesToCome(t *testing.T) {
	t.Parallel()
	entry := func(releases string) List {
		return parse(t, `- {cells: "a/b/**", checks: up, releases: "`+releases+`", reason: r, link: https://example.com}`)
	}
	cell := func(kubelet string) string { return "a/b/c/apiserver:v1.89.3/kubelet:" + kubelet }
	for name, tc := range map[string]struct {
		releases string
		cells    []string
		stale    bool
	}{
		"all cells are older":             {">= 1.90", []string{cell("v1.88.2"), cell("v1.89.3")}, false},
		"some cells are older":            {">= 1.89", []string{cell("v1.88.2")}, true},
		"all kubelets are older":          {"kubelet > 1.89", []string{cell("v1.88.2"), cell("v1.89.3")}, false},
		"a kubelet is newer":              {"kubelet >= 1.89, < v1.89.3", []string{cell("v1.88.2"), cell("v1.89.3")}, true},
		"all cells are newer":             {"< 1.88", []string{cell("v1.88.2")}, true},
		"no cell":                         {">= 1.90", nil, true},
		"a cell whose releases are apart": {">= 1.89, < 1.90", []string{cell("v1.90.1")}, true},
	} {
		_, problems := Apply(entry(tc.releases), nil, tc.cells)
		if (len(problems) > 0) != tc.stale {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	const stale = "known.yaml:5:3: matches no check of cells a/*/c that could have failed: remove the entry, or correct it"
	check := func(id string, o reports.Outcome) []reports.Check {
		return []reports.Check{{ID: id, Outcome: o, Reason: "why"}}
	}
	for name, tc := range map[string]struct {
		cells  []reports.Cell
		notRun []string
		want   []string
	}{
		"matches a failure":            {[]reports.Cell{{ID: "a/b/c", Checks: check("up", reports.Fail)}}, nil, nil},
		"matches one of several cells": {[]reports.Cell{{ID: "a/b/c", Checks: check("up", reports.Fail)}, {ID: "a/d/c", Checks: check("x", reports.Fail)}}, nil, nil},
		"no cells":                     {nil, nil, []string{stale}},
		"no such cell":                 {[]reports.Cell{{ID: "a/b/d", Checks: check("up", reports.Fail)}}, nil, []string{stale}},
		"no such check":                {[]reports.Cell{{ID: "a/b/c", Checks: check("x", reports.Fail)}}, nil, []string{stale}},
		"does not apply":               {[]reports.Cell{{ID: "a/b/c", Checks: check("up", reports.NotApplicable)}}, nil, []string{stale}},
		"the cell does not apply":      {[]reports.Cell{{ID: "a/b/c", Outcome: reports.NotApplicable, Reason: "old"}}, nil, []string{stale}},
		"never got as far":             {[]reports.Cell{{ID: "a/b/c", Outcome: reports.HarnessError}}, nil, nil},
		"left out of this run":         {nil, []string{"a/b/c"}, nil},
		"another cell left out":        {nil, []string{"a/b/d"}, []string{stale}},
		"applied twice": {[]reports.Cell{{ID: "a/b/c", Checks: check("up", reports.ExpectedFail)}}, nil,
			[]string{"known.yaml:5:3: cell a/b/c: check up is expected-fail already: apply a list once, to the outcomes of the checks"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := Apply(parse(t, oneDeviation), tc.cells, tc.notRun)
			var got []string
			for _, p := range problems {
				got = append(got, p.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEmptyListExcusesNothing(t *testing.T) {
	t.Parallel()
	cells := []reports.Cell{{ID: "a/b/c", Checks: []reports.Check{{ID: "up", Outcome: reports.Fail}}}}
	everywhere := parse(t, oneDeviation)
	everywhere.Deviations[0].Checks = nil
	for name, list := range map[string]List{
		"zero value":      {},
		"empty file":      parse(t, "  []"),
		"zero deviation":  {Deviations: make([]Deviation, 1)},
		"names no checks": everywhere,
	} {
		if got, _ := Apply(list, cells, nil); got[0].Outcome != reports.Fail {
			t.Errorf("%s: the cell is %s, want fail", name, got[0].Outcome)
		}
	}
}

func TestApplyReplacesTheReasonOfTheCell(t *testing.T) {
	t.Parallel()
	failed, err := reports.Assemble([]reports.Cell{
		{ID: "a/b/c", Checks: []reports.Check{{ID: "up", Outcome: reports.Fail}, {ID: "x", Outcome: reports.Fail, Reason: "broke"}}},
	}, nil, reports.Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	cells, _ := Apply(parse(t, oneDeviation), failed.Cells, nil)
	r, err := reports.Assemble(cells, nil, reports.Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	if before, after := failed.Cells[0].Reason, r.Cells[0].Reason; !strings.HasPrefix(before, "up: ") || after != "x: broke" {
		t.Errorf("reason %q became %q, want that of the check that is not excused", before, after)
	}
}

func TestTheAppliedListIsPartOfAValidReport(t *testing.T) {
	t.Parallel()
	cells, _ := Apply(parse(t, oneDeviation), []reports.Cell{
		{ID: "a/b/c", Checks: []reports.Check{{ID: "up", Outcome: reports.Fail}}},
		{ID: "a/d/c", Checks: []reports.Check{{ID: "up", Outcome: reports.Pass}}},
	}, nil)
	r, err := reports.Assemble(cells, nil, reports.Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	if err := reports.Validate(r); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(r.Cells[0].Reason, "up: old (https") || r.Cells[1].Outcome != reports.UnexpectedPass {
		t.Errorf("cells %+v", r.Cells)
	}
	if got := reports.ExitCode(r); got != reports.ExitNonconforming {
		t.Errorf("exit code %d, want %d for an unexpected pass", got, reports.ExitNonconforming)
	}
}

// TestReleasesSelectCells goes through what the releases of an entry match, and
// holds both ends of an entry that selects by them: it excuses what fails, and a
// listed release without the failure is an unexpected pass.
func TestReleasesSelectCells(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		releases string
		affected []string
		others   []string
	}{
		{">= 1.89", []string{"a/b/c/kubelet:v1.90.1", "a/b/c/x:y/apiserver:v1.91.0/kubelet:v1.89.0", "a/b/c/kubelet:v1.92.0-alpha.0"},
			[]string{"a/b/c", "a/b/c/kubelet:reference", "a/b/c/apiserver:v1.90.1/kubelet:v1.88.9"}},
		{"kubelet < 1.90", []string{"a/b/c/apiserver:v1.90.1/kubelet:v1.89.3"},
			[]string{"a/b/c/apiserver:v1.89.3/kubelet:v1.90.1", "a/b/c/apiserver:v1.89.3", "a/b/c/kubelet:reference"}},
		{">= 1.89, < v1.90.3", []string{"a/b/c/kubelet:v1.90.2"}, []string{"a/b/c/kubelet:v1.90.3"}},
	} {
		list := parse(t, `- {cells: "a/**", checks: up, releases: "`+tc.releases+`", reason: old, link: https://example.com/1}`)
		becomes := func(id string, o reports.Outcome) (reports.Outcome, []strict.Problem) {
			cells, problems := Apply(list, []reports.Cell{{ID: id, Checks: []reports.Check{{ID: "up", Outcome: o}}}}, nil)
			return cells[0].Outcome, problems
		}
		for _, id := range tc.affected {
			failing, _ := becomes(id, reports.Fail)
			passing, problems := becomes(id, reports.Pass)
			if failing != reports.ExpectedFail || passing != reports.UnexpectedPass || len(problems) > 0 {
				t.Errorf("%s, %s: a failure is %s, a pass %s, problems %v", tc.releases, id, failing, passing, problems)
			}
		}
		for _, id := range tc.others {
			o, problems := becomes(id, reports.Fail)
			if o != reports.Fail || len(problems) != 1 || !strings.Contains(problems[0].Error(), "a/** with releases "+tc.releases) {
				t.Errorf("%s, %s: a failure is %s, problems %v", tc.releases, id, o, problems)
			}
			if _, problems := Apply(list, nil, []string{id}); len(problems) != 1 {
				t.Errorf("%s: leaving %s out says nothing of it, problems %v", tc.releases, id, problems)
			}
		}
		if _, problems := Apply(list, nil, tc.affected[:1]); len(problems) > 0 {
			t.Errorf("%s: %s was left out, problems %v", tc.releases, tc.affected[0], problems)
		}
	}
}

// TestACellOnAnotherRuntime deviates as one of the same scenario on the runtime that is not named.
func TestACellOnAnotherRuntime(t *testing.T) {
	t.Parallel()
	list := parse(t, `- {cells: a/b/c/*, checks: up, reason: old, link: https://example.com/1}`)
	for id, want := range map[string]reports.Outcome{
		"a/b/c/kubelet:v1.90.1":                    reports.ExpectedFail,
		"a/b/c/kubelet:v1.90.1/runtime:containerd": reports.ExpectedFail,
		"a/b/c/kubelet:v1.90.1/gate:on":            reports.Fail,
		"a/b/c/kubelet:v1.90.1/gate:on/runtime:x":  reports.Fail,
	} {
		if got := list.Excuse(reports.Cell{ID: id, Checks: []reports.Check{{ID: "up", Outcome: reports.Fail}}}).Outcome; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// TestAFailureLikeARecordedOne names the finding of the same check of other cells, whether
// these ran or not.
func TestAFailureLikeARecordedOne(t *testing.T) {
	t.Parallel()
	list, err := Parse("known.yaml", []byte(`{apiVersion: skewrig.dev/v1alpha1, kind: KnownDeviations, findings: [
  {id: late, class: defect, headline: late, instead: later, effect: none, issue: https://example.com/1,
   explains: [{cells: a/b/c/**, checks: up, releases: kubelet < 1.90}, {cells: a/b/d/n:1, checks: down}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	cell := func(scenario, axis, check string, outcome reports.Outcome) reports.Cell {
		return reports.Cell{ID: scenario + "/" + axis, Scenario: scenario, Checks: []reports.Check{{ID: check, Outcome: outcome}}}
	}
	for _, tc := range []struct {
		cell   reports.Cell
		notRun []string
		want   string
	}{
		{cell("a/b/c", "kubelet:v1.90.1", "up", reports.Fail), nil, "late"},
		{cell("a/b/c", "kubelet:v1.90.1", "up", reports.Pass), nil, ""},
		{cell("a/b/c", "kubelet:v1.90.1", "other", reports.Fail), nil, ""},
		{cell("a/b/c", "kubelet:v1.89.3", "up", reports.Fail), nil, ""},
		{cell("a/b/d", "n:2", "down", reports.Fail), []string{"a/b/d/n:1"}, "late"},
		{cell("a/b/e", "n:2", "down", reports.Fail), []string{"a/b/d/n:1"}, ""},
	} {
		got, _ := Apply(list, []reports.Cell{tc.cell}, tc.notRun)
		if like := got[0].Checks[0].Like; like != tc.want {
			t.Errorf("%s of %s is like %q, want %q", tc.cell.Checks[0].ID, tc.cell.ID, like, tc.want)
		}
	}
}
