package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// leave leaves the record of a cell in a report's directory: a pod with a spec.
func leave(t *testing.T, dir, id, spec string) {
	t.Helper()
	path := filepath.Join(dir, "cells", filepath.FromSlash(id))
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(path, reports.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h := record.NewHistory(file)
	h.Append("watch", "", record.ObjectObserved{
		Change: "added", Resource: "pods", Namespace: "default", Name: "web", Object: json.RawMessage(`{"metadata": {"uid": "1"}, "spec": ` + spec + `}`),
	})
	h.Append("engine", "", record.CellEnded{})
	h.End()
	if h.Err() != nil {
		t.Fatal(h.Err())
	}
}

// compares has a cell compared with another one, and a result of each.
func compares(explained ...spec.Explained) (cells []plan.Cell, here, there ranCell) {
	of := &spec.Compare{ID: "as-before", Requirement: "KEP-1/as/before", With: map[string]string{"v": "old"}, Explained: explained}
	cells = []plan.Cell{
		{ID: "a/b/c/v:new", Scenario: "a/b/c", File: "c.yaml", Cells: 2, With: "a/b/c/v:old", Compare: of},
		{ID: "a/b/c/v:old", Scenario: "a/b/c", File: "c.yaml", Cells: 2},
	}
	result := func(id string) ranCell {
		return ranCell{1, reports.Cell{ID: id, Outcome: reports.Pass, Checks: []reports.Check{{ID: "up", Outcome: reports.Pass}}}}
	}
	return cells, result(cells[0].ID), result(cells[1].ID)
}

// TestCellsAreComparedOnceBothHaveEnded: whichever is first.
func TestCellsAreComparedOnceBothHaveEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leave(t, dir, "a/b/c/v:new", `{"mode": "TLS"}`)
	leave(t, dir, "a/b/c/v:old", `{}`)
	cells, here, there := compares()
	for name, order := range map[string][]ranCell{"first": {here, there}, "last": {there, here}} {
		c := newComparer(dir, cells)
		var whole []ranCell
		for _, ran := range order {
			whole = append(whole, c.take(ran)...)
		}
		if len(whole) != 2 || len(c.rest()) != 0 {
			t.Fatalf("%s: %d results", name, len(whole))
		}
		got := whole[slices.IndexFunc(whole, func(r ranCell) bool { return r.result.ID == here.result.ID })].result
		want := reports.Check{
			ID: "as-before", Requirement: "KEP-1/as/before", Outcome: reports.Fail,
			Expected: "what a/b/c/v:old shows, but for what the scenario explains",
			Observed: `pods/default/web: spec.mode: "TLS" here, not seen there; pods/default/web: spec: not seen here, {} there`,
		}
		if diff := cmp.Diff(want, got.Checks[1]); diff != "" || got.Outcome != reports.Fail || !slices.Contains(got.Requirements, want.Requirement) {
			t.Errorf("%s: %s of %v (-want +got):\n%s", name, got.Outcome, got.Requirements, diff)
		}
		if got.Compared.With != "a/b/c/v:old" || len(got.Compared.Distinctions) != 2 {
			t.Errorf("%s: %+v", name, got.Compared)
		}
		if other := whole[slices.IndexFunc(whole, func(r ranCell) bool { return r.result.ID == there.result.ID })].result; len(other.Checks) != 1 {
			t.Errorf("%s: the other cell has the checks %v", name, other.Checks)
		}
	}
}

// TestExplainedDifferences are not held against a cell, and an explanation that none needs is a
// problem.
func TestExplainedDifferences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leave(t, dir, "a/b/c/v:new", `{"mode": "TLS"}`)
	leave(t, dir, "a/b/c/v:old", `{}`)
	cells, here, there := compares(spec.Explained{What: "pods/*: spec*", Because: "it is new"}, spec.Explained{What: "check up", Because: "of old"})
	c := newComparer(dir, cells)
	got := append(c.take(there), c.take(here)...)[1].result
	if got.Outcome != reports.Pass || got.Checks[1].Outcome != reports.Pass || got.Compared.Distinctions[0].Because != "it is new" {
		t.Errorf("%+v", got)
	}
	want := []string{`c.yaml: no difference is "check up", which the scenario explains`}
	report := reports.Report{Cells: []reports.Cell{got, there.result}}
	if diff := cmp.Diff(want, unneeded(cells, report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	report.Cells[0].Compared.Distinctions = nil // then it is the same of both
	if got := unneeded(cells, report); len(got) != 2 {
		t.Errorf("without a difference: %v", got)
	}
	report.Cells[0].Compared = reports.Compared{}
	if got := unneeded(cells, report); got != nil {
		t.Errorf("nothing was compared: %v", got)
	}
	if got := unneeded(cells[:1], report); got != nil {
		t.Errorf("a cell of the scenario did not run: %v", got)
	}
}

// TestAnExplanationMaySayMore than what differs: what the cells say of it, and a check that must fail.
func TestAnExplanationMaySayMore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		explained spec.Explained
		there     reports.Outcome // of a check; here, the outcome is pass
		want      string
	}{
		"what is said":              {spec.Explained{What: "pods/*", Says: []string{`"TLS"`}}, reports.Pass, "why"},
		"a pattern of it":           {spec.Explained{What: "pods/*", Says: []string{"none", `"T*"`}}, reports.Pass, "why"},
		"something else":            {spec.Explained{What: "pods/*", Says: []string{"none"}}, reports.Pass, ""},
		"a check that both pass":    {spec.Explained{What: "pods/*", Fails: "up"}, reports.Pass, ""},
		"a check that one deviates": {spec.Explained{What: "pods/*", Fails: "up"}, reports.ExpectedFail, "why"},
		"a check that none has":     {spec.Explained{What: "pods/*", Fails: "down"}, reports.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			leave(t, dir, "a/b/c/v:new", `{"mode": "TLS"}`)
			leave(t, dir, "a/b/c/v:old", `{}`)
			tc.explained.Because = "why"
			cells, here, there := compares(tc.explained)
			there.result.Checks[0].Outcome = tc.there
			c := newComparer(dir, cells)
			got := append(c.take(there), c.take(here)...)[1].result.Compared.Distinctions[0]
			if got.What != "pods/default/web: spec.mode" || got.Because != tc.want {
				t.Errorf("%s is explained by %q, want %q", got.What, got.Because, tc.want)
			}
		})
	}
}

// TestWhatCantBeCompared is unknown, and never a pass.
func TestWhatCantBeCompared(t *testing.T) {
	t.Parallel()
	const noRecord = "the record of a/b/c/v:new can't be read"
	for name, tc := range map[string]struct {
		change func(cells *[]plan.Cell, here, there *ranCell)
		why    string
	}{
		"the other one was not chosen":   {func(cells *[]plan.Cell, _, _ *ranCell) { *cells = (*cells)[:1] }, "did not run: run both"},
		"the other one is not over":      {func(_ *[]plan.Cell, _, there *ranCell) { there.result.Unfinished = true }, "a/b/c/v:old was not judged"},
		"the other one was not judged":   {func(_ *[]plan.Cell, _, there *ranCell) { there.result.Outcome = reports.HarnessError }, "a/b/c/v:old was not judged: harness error"},
		"the other one is another's run": {func(_ *[]plan.Cell, _, there *ranCell) { there.number = 2 }, "did not run: run both"},
		"there is no record":             {func(*[]plan.Cell, *ranCell, *ranCell) {}, noRecord},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cells, here, there := compares()
			tc.change(&cells, &here, &there)
			dir := t.TempDir()
			if tc.why != noRecord {
				leave(t, dir, "a/b/c/v:new", `{}`)
				leave(t, dir, "a/b/c/v:old", `{}`)
			}
			c := newComparer(dir, cells)
			whole := c.take(here)
			if len(cells) > 1 {
				whole = append(whole, c.take(there)...)
			}
			whole = append(whole, c.rest()...)
			got := whole[slices.IndexFunc(whole, func(r ranCell) bool { return r.result.ID == here.result.ID })].result
			if got.Outcome != reports.Unknown || !strings.Contains(got.Checks[1].Reason, tc.why) {
				t.Errorf("%s: %q", got.Outcome, got.Checks[1].Reason)
			}
		})
	}
}

// TestWhatCanNotRunIsNotCompared: the cell says why, and not that the other one was not judged.
func TestWhatCanNotRunIsNotCompared(t *testing.T) {
	t.Parallel()
	cells, here, there := compares()
	for _, r := range []*ranCell{&here, &there} {
		r.result.Outcome, r.result.Reason = reports.NotTestable, "why"
		r.result.Checks[0].Outcome, r.result.Checks[0].Reason = reports.NotTestable, "why"
	}
	c := newComparer(t.TempDir(), cells)
	got := append(c.take(here), c.take(there)...)
	for _, r := range got {
		if r.result.Outcome != reports.NotTestable || r.result.Reason != "why" {
			t.Errorf("%+v", r.result)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d results", len(got))
	}
}
