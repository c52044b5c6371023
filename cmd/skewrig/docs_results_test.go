package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// asked is how many findings SIG Node is asked about first.
const asked = 5

var anchors = regexp.MustCompile(`<a id="finding-([^"]+)"></a>`)

// TestFindingsOfAFullRun: the page that make results makes of a run in which each known
// deviation shows has a block for each finding that the catalog lists, and no other. Its
// commands are right, and the first defects that are not reported have all that a maintainer
// needs.
func TestFindingsOfAFullRun(t *testing.T) {
	here, err := app.Here()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := render.WriteDir(dir, deviatingRun(t, here)); err != nil {
		t.Fatal(err)
	}
	code, page, stderr := skewrig(t, "report", "findings", "-f", dir, "-o", "markdown")
	if code != 0 {
		t.Fatal(stderr)
	}
	var listed, shown []string
	ids := reports.Each(here.BuiltIn, func(c plan.Cell) string { return c.ID })
	for _, d := range here.Known.Deviations {
		if d.Finding != nil && !d.Waits(ids) {
			listed = append(listed, d.Finding.ID)
		}
	}
	for _, anchor := range anchors.FindAllStringSubmatch(page, -1) {
		shown = append(shown, anchor[1])
	}
	slices.Sort(listed)
	slices.Sort(shown)
	if diff := cmp.Diff(slices.Compact(listed), shown); diff != "" {
		t.Errorf("the page of findings (-%s +page):\n%s", catalog.KnownDeviationsFile, diff)
	}
	unreported := unreportedDefects(here.Known.Findings())
	for _, f := range unreported[:min(asked, len(unreported))] {
		block := findingIn(page, f.ID)
		if !strings.Contains(block, "**Statement:**") && !strings.Contains(block, "in our words:**") {
			t.Errorf("%s states nothing:\n%s", f.ID, block)
		}
		for _, want := range []string{"**Instead:**", "**Ask:**", "**Where:**", "```sh\nskewrig run '"} {
			if !strings.Contains(block, want) {
				t.Errorf("%s has no %q:\n%s", f.ID, want, block)
			}
		}
	}
	if preparation := preparationIn(page); !strings.Contains(preparation, "cluster() {") {
		t.Errorf("the preparation of the scripts is\n%s", preparation)
	}
	_, track, _ := skewrig(t, "report", "show", dir, "-o", "track-record")
	t.Chdir(root)
	check := newChecker(t)
	for name, text := range map[string]string{"findings.md": page, "track-record.md": track} {
		if !strings.Contains(text, "skewrig run '") {
			t.Errorf("%s has no command", name)
		}
		path := filepath.Join(dir, name)
		golden.Write(t, path, text)
		for _, problem := range check.page(path, text) {
			t.Error(problem)
		}
	}
}

// deviatingRun returns the report of a run that never was: all checks of a catalog failed, and
// those that are not known to fail are left out.
func deviatingRun(t *testing.T, here app.Catalog) reports.Report {
	t.Helper()
	var cells []reports.Cell
	for _, planned := range here.BuiltIn {
		c := here.Known.Excuse(reports.Cell{
			ID: planned.ID, Scenario: planned.Scenario, Axes: cellid.Axes(planned.ID), Checks: failedChecks(here, planned),
		})
		c.Checks = slices.DeleteFunc(c.Checks, func(check reports.Check) bool { return check.Finding == "" })
		c.Outcome, c.Reason = "", ""
		if len(c.Checks) > 0 {
			cells = append(cells, c.Settled())
		}
	}
	r, err := reports.Assemble(cells, here.Requirements, reports.Reproduce{Command: "skewrig run '**'"})
	if err != nil {
		t.Fatal(err)
	}
	r.Findings = here.Known.Findings()
	return r
}

// failedChecks are the checks of a cell, and those that the list of known deviations names
// without a pattern, such as oracles. All have failed.
func failedChecks(here app.Catalog, cell plan.Cell) []reports.Check {
	requirements := make(map[string]string)
	for _, d := range here.Known.Deviations {
		for _, id := range d.Checks {
			if d.Cells.Match(cell.ID) && cellid.Check(id.String()) == nil {
				requirements[id.String()] = d.Requirement
			}
		}
	}
	for _, s := range cell.Steps {
		for _, check := range s.Checks() {
			requirements[check.ID] = check.Requirement
		}
	}
	var all []reports.Check
	for _, id := range slices.Sorted(maps.Keys(requirements)) {
		all = append(all, reports.Check{ID: id, Requirement: requirements[id], Outcome: reports.Fail, Expected: "as it says", Observed: "otherwise"})
	}
	return all
}

// unreportedDefects are the defects of Kubernetes that have no issue yet, by weight,
// each once: a finding may explain checks of several scenarios. Those of k8s.io/apiserver are
// for SIG API Machinery.
func unreportedDefects(all []reports.Finding) []reports.Finding {
	elsewhere := func(f reports.Finding) bool {
		inKubernetes := func(at string) bool {
			return strings.HasPrefix(at, "https://github.com/kubernetes/kubernetes/") && !strings.Contains(at, "/staging/src/k8s.io/apiserver/")
		}
		return f.Class != reports.Defect || f.Issue != "" || !slices.ContainsFunc(f.At, inKubernetes)
	}
	kept := slices.DeleteFunc(slices.Clone(all), elsewhere)
	slices.SortStableFunc(kept, reports.Finding.Compare)
	return slices.CompactFunc(kept, func(a, b reports.Finding) bool { return a.ID == b.ID })
}

// findingIn is what the page of findings says of one, without its heading.
func findingIn(page, id string) string {
	_, block, _ := strings.Cut(page, fmt.Sprintf("<a id=\"finding-%s\"></a>\n", id))
	block, _, _ = strings.Cut(block, "<a id=")
	return block
}

// preparationIn is the block of shell that the page of findings has for several scripts.
func preparationIn(page string) string {
	_, block, _ := strings.Cut(page, "**Preparation**")
	_, block, _ = strings.Cut(block, "```sh\n")
	block, _, _ = strings.Cut(block, "\n```")
	return block
}
