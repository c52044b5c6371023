package changes

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/changed"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

func cell(id string, checks ...reports.Check) reports.Cell {
	return reports.Cell{ID: id, Checks: checks, Outcome: reports.Pass}
}

func stage(name string, exit int) changed.Stage {
	return changed.Stage{Name: name, Command: "skewrig " + name, Exit: &exit, Seconds: 60}
}

// invented is what stages left of an invented release.
func invented() Input {
	said := stage(UpstreamStage, 3)
	said.Said = "skewrig: k8s.io/ktesting is not served"
	judged := stage(GraduateStage("KEP-1"), reports.ExitNonconforming)
	judged.Informs = true
	unfit := cell("a/gone/apiserver:v1.91.0")
	unfit.Outcome, unfit.Reason = reports.NotApplicable, "v1.91.0 has no feature gate Gone"
	lost := cell("a/lost/apiserver:v1.91.0")
	lost.Outcome, lost.Reason = reports.HarnessError, "etcd ended"
	return Input{
		Release: "v1.91.0", Since: "v1.90.1",
		Stages: []changed.Stage{stage(CatalogStage, reports.ExitNonconforming), stage(GatesStage, reports.ExitExpected), judged, said, {Name: SweepStage, Command: "skewrig sweep"}},
		Gates: &gated.Difference{From: "v1.90.1", To: "v1.91.0",
			Gates: []gated.Change{
				{Name: "Acts", What: "default", From: "off", To: "on"}, {Name: "Acts", What: "stage", From: "alpha", To: "beta"},
				{Name: "Fixed", What: "lock", To: "locked"}, {Name: "Gone", What: gated.Removed, From: "ga, on, locked"},
				{Name: "Quiet", What: gated.Added, To: "alpha, off"}, {Name: "Loud", What: gated.Added, To: "beta, on"},
			},
			Fields: []gated.Change{{Name: "core/v1.Pod.spec.more", What: gated.Added, To: "string, Quiet"}, {Name: "core/v1.Pod.spec.less", What: gated.Removed}},
		},
		Catalog: &reports.Report{Cells: []reports.Cell{
			cell("a/b/apiserver:v1.91.0/kubelet:v1.90.1", reports.Check{ID: "broken", Outcome: reports.Fail, Observed: "2 restarts"},
				reports.Check{ID: "known", Outcome: reports.ExpectedFail, Observed: "1"}),
			cell("a/c/apiserver:v1.91.0", reports.Check{ID: "mended", Outcome: reports.UnexpectedPass, Observed: "none"}), unfit, lost,
		}},
		Baseline: &reports.Report{Reproduce: reports.Reproduce{Newest: "v1.90.1", Previous: "v1.89.3"}, Cells: []reports.Cell{
			cell("a/b/apiserver:v1.90.1/kubelet:v1.89.3", reports.Check{ID: "broken", Outcome: reports.Pass}, reports.Check{ID: "known", Outcome: reports.ExpectedFail}),
		}},
		Sweeps:      map[string]trial.Result{RollbackStage: {Version: "v1.91.0", To: "v1.90.1", Findings: []trial.Finding{{What: "is written without end", Items: make([]trial.Found, 2)}}}},
		Graduations: []graduation.Result{{KEP: "KEP-1", Stage: "beta", GateName: "Acts", Gate: &graduation.Released{Release: "v1.91.0", Stage: "beta", Default: true}}},
	}
}

// TestOf: the worst first, each with where to look, and nothing that is of no interest.
func TestOf(t *testing.T) {
	t.Parallel()
	d := Of(invented())
	var page, junit strings.Builder
	if err := render.Changed(&page, d); err != nil {
		t.Fatal(err)
	}
	if err := render.ChangedJUnit(&junit, d); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/changes.md", page.String())
	golden.Check(t, "testdata/junit.xml", junit.String())
	if d.Exit() != reports.ExitNonconforming {
		t.Errorf("exit code %d", d.Exit())
	}
}

// TestExit: a stage that has not run, or was not judged, is never green, and one that only informs decides nothing.
func TestExit(t *testing.T) {
	t.Parallel()
	informs := stage("says", reports.ExitNonconforming)
	informs.Informs = true
	for name, tc := range map[string]struct {
		stages []changed.Stage
		want   int
	}{
		"all is well":  {[]changed.Stage{stage("a", 0), stage("b", 0), informs}, reports.ExitExpected},
		"one is red":   {[]changed.Stage{stage("a", 0), stage("b", 1), stage("c", 2)}, reports.ExitNonconforming},
		"one is not":   {[]changed.Stage{stage("a", 0), stage("b", 2)}, reports.ExitNotJudged},
		"one is wrong": {[]changed.Stage{stage("a", 0), stage("b", 3)}, reports.ExitNotJudged},
		"one is to do": {[]changed.Stage{stage("a", 0), {Name: "b"}}, reports.ExitNotJudged},
	} {
		if got := (changed.Document{Stages: tc.stages}).Exit(); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
