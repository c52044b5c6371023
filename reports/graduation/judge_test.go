package graduation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/evidence"
)

var monday = time.Date(2026, 11, 16, 23, 30, 0, 0, time.UTC)

// kubelets is the facts of a cell with kubelets of some versions.
func kubelets(versions ...string) evidence.Facts {
	c := evidence.Component{Name: "kubelet/node-a"}
	for _, v := range versions {
		c.Started(evidence.Start{Version: v})
	}
	return evidence.Facts{Components: []evidence.Component{c}}
}

// run is a run of one cell, feature/e2e/one, whose one check came out somehow.
func run(dir string, at time.Time, o reports.Outcome, versions ...string) evidence.Run {
	c := reports.Cell{ID: "feature/e2e/one", Scenario: "feature/e2e/one", Started: at, Outcome: o, Requirements: []string{"K/works"},
		Checks: []reports.Check{{ID: "works", Requirement: "K/works", Outcome: o, Expected: "yes", Observed: string(o)}}}
	reproduce := reports.Reproduce{Newest: "v1.90.1", Previous: "v1.89.3"}
	return evidence.Run{Dir: dir, Report: reports.Report{Reproduce: reproduce, Cells: []reports.Cell{c}}, Facts: map[string]evidence.Facts{c.ID: kubelets(versions...)}}
}

var planned = []evidence.Planned{
	{ID: "feature/e2e/one", Scenario: "feature/e2e/one", Requirements: []string{"K/works"}, Facts: kubelets("v1.90.1", "v1.89.3")},
	{ID: "feature/skew/two", Scenario: "feature/skew/two", Requirements: []string{"K/skew"}, Facts: kubelets("v1.90.1", "v1.88.4")},
	{ID: "feature/skew/stand-in", Scenario: "feature/skew/two", Requirements: []string{"K/skew"}, Facts: kubelets("reference")},
}

func match(t *testing.T, text string) []cellid.Pattern {
	t.Helper()
	p, err := cellid.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return []cellid.Pattern{p}
}

func feature(c Criterion) Enhancement {
	c.ID, c.Stage = "K/beta/it", "beta"
	return Enhancement{KEP: "K", Components: []string{"kubelet"}, Milestones: map[string]string{"alpha": "v1.90", "beta": "v1.91"}, Criteria: []Criterion{c}}
}

// TestEachDecider: what a criterion is decided by, with evidence for it, against
// it, and none.
func TestEachDecider(t *testing.T) {
	t.Parallel()
	requirement := Criterion{Requirements: []string{"K/works"}}
	cells := Criterion{Cells: &Cells{Match: match(t, "feature/e2e/**"), Releases: []string{"previous", "v1.90"}}}
	repeated := Criterion{Repeated: &Repeated{Match: match(t, "feature/e2e/**"), Runs: 3, Days: 2}}
	pass := func(dir string, at time.Time) evidence.Run { return run(dir, at, reports.Pass, "v1.89.3", "v1.90.1") }
	again := []evidence.Run{pass("a", monday), pass("b", monday.Add(time.Minute)), pass("c", monday.Add(time.Hour))}
	withPerson := requirement
	withPerson.Person = &Person{Who: "an author", What: "look"}
	withGap := requirement
	withGap.Gap = "nothing does it twice"
	for name, tc := range map[string]struct {
		criterion Criterion
		runs      []evidence.Run
		status    Status
		exit      int
		missing   string // in what, or in the command
	}{
		"requirement, proved":    {requirement, again[:1], Met, 0, ""},
		"requirement, deviates":  {requirement, []evidence.Run{run("a", monday, reports.ExpectedFail, "v1.90.1")}, Contradicted, 1, ""},
		"requirement, ambiguous": {requirement, []evidence.Run{run("a", monday, reports.Ambiguous, "v1.90.1")}, Ambiguous, 0, ""},
		"cells, ambiguous":       {cells, []evidence.Run{run("a", monday, reports.Ambiguous, "v1.89.3", "v1.90.1")}, Ambiguous, 0, ""},
		"ambiguous, and a failure": {requirement, []evidence.Run{run("a", monday, reports.Ambiguous, "v1.90.1"),
			run("z", monday.Add(time.Hour), reports.Fail, "v1.90.1")}, Contradicted, 1, ""},
		"ambiguous, and never run": {Criterion{Requirements: []string{"K/works", "K/nowhere"}},
			[]evidence.Run{run("a", monday, reports.Ambiguous, "v1.90.1")}, NoEvidence, 2, "K/nowhere"},
		"ambiguous, again and again": {repeated, []evidence.Run{run("a", monday, reports.Ambiguous, "v1.90.1"),
			run("b", monday.Add(time.Minute), reports.Ambiguous, "v1.90.1"), run("c", monday.Add(time.Hour), reports.Ambiguous, "v1.90.1")}, Ambiguous, 0, ""},
		"requirement, fails once":     {requirement, append(again[:1:1], run("z", monday.Add(time.Hour), reports.Fail, "v1.90.1")), Contradicted, 1, ""},
		"requirement, not judged":     {requirement, []evidence.Run{run("a", monday, reports.HarnessError, "v1.90.1")}, NoEvidence, 2, "skewrig run 'feature/e2e/one'"},
		"requirement, never run":      {requirement, nil, NoEvidence, 2, "skewrig run 'feature/e2e/one'"},
		"requirement, of a stand-in":  {requirement, []evidence.Run{run("a", monday, reports.Pass, "reference")}, NoEvidence, 2, "K/works"},
		"requirement, before":         {requirement, []evidence.Run{run("a", monday, reports.Pass, "v1.89.3")}, NoEvidence, 2, "K/works"},
		"requirement, nowhere":        {Criterion{Requirements: []string{"K/nowhere"}}, again[:1], NoEvidence, 2, "the catalog has no cell"},
		"cells, passed":               {cells, again[:1], Met, 0, ""},
		"cells, without a release":    {cells, []evidence.Run{run("a", monday, reports.Pass, "v1.90.1")}, NoEvidence, 2, "v1.89"},
		"cells, never run":            {cells, nil, NoEvidence, 2, "skewrig run 'feature/e2e/**'"},
		"cells, deviate":              {cells, []evidence.Run{run("a", monday, reports.ExpectedFail, "v1.89.3", "v1.90.1")}, Contradicted, 1, ""},
		"cells, that are not there":   {Criterion{Cells: &Cells{Match: match(t, "x/**")}}, again, NoEvidence, 2, "there is no cell x/**"},
		"cells, some never run":       {Criterion{Cells: &Cells{Match: match(t, "feature/**")}}, again[:1], NoEvidence, 2, "skewrig run 'feature/skew/two'"},
		"repeated, often enough":      {repeated, again, Met, 0, ""},
		"repeated, not often enough":  {repeated, []evidence.Run{again[0], again[2]}, NoEvidence, 2, "--report-dir"},
		"repeated, on one day":        {repeated, []evidence.Run{again[0], again[1], pass("d", monday.Add(2*time.Minute))}, NoEvidence, 2, "2 different days"},
		"repeated, the same run":      {repeated, []evidence.Run{again[0], again[2], again[2]}, NoEvidence, 2, "3 runs"},
		"repeated, with a flake":      {repeated, append(slices.Clone(again), run("z", monday.Add(48*time.Hour), reports.Flaky, "v1.90.1")), Contradicted, 1, ""},
		"a person":                    {Criterion{Person: withPerson.Person}, nil, NeedsPerson, 0, ""},
		"a person, and proof":         {withPerson, again[:1], NeedsPerson, 0, ""},
		"a person, and none":          {withPerson, nil, NoEvidence, 2, "K/works"},
		"a gap":                       {withGap, again[:1], NoEvidence, 2, "nothing does it twice"},
		"nothing decides, no verdict": {Criterion{}, again, NoEvidence, 2, "no evidence"},
	} {
		r := Judge(feature(tc.criterion), "beta", tc.runs, planned)
		v := r.Verdicts[0]
		if v.Status != tc.status || r.ExitCode(false) != tc.exit {
			t.Errorf("%s: %s with exit code %d, want %s with %d: %+v", name, v.Status, r.ExitCode(false), tc.status, tc.exit, v)
		}
		if (tc.exit == 1) != (len(v.Against) > 0) || (tc.exit == 2) != (len(v.Missing) > 0) {
			t.Errorf("%s: against it %+v, missing %+v", name, v.Against, v.Missing)
		}
		if tc.missing != "" && !slices.ContainsFunc(v.Missing, func(m Missing) bool { return strings.Contains(m.What+"\n"+m.Command, tc.missing) }) {
			t.Errorf("%s: %q is not in %+v", name, tc.missing, v.Missing)
		}
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	r := Judge(feature(Criterion{Person: &Person{Who: "an author"}}), "beta", nil, planned)
	if r.ExitCode(false) != ExitMet || r.ExitCode(true) != ExitUnmet {
		t.Errorf("exit codes %d, and %d if strict", r.ExitCode(false), r.ExitCode(true))
	}
	r = Judge(feature(Criterion{Requirements: []string{"K/works"}}), "beta", []evidence.Run{run("a", monday, reports.Ambiguous, "v1.90.1")}, planned)
	if r.ExitCode(false) != ExitMet || r.ExitCode(true) != ExitUnmet {
		t.Errorf("ambiguous: exit codes %d, and %d if strict", r.ExitCode(false), r.ExitCode(true))
	}
	if code := (Result{}).ExitCode(false); code != ExitNotJudged {
		t.Errorf("without a criterion the exit code is %d", code)
	}
}

// TestWhichReleaseCounts: the milestone if it ran, otherwise the stage before. A
// pre-release is not the milestone.
func TestWhichReleaseCounts(t *testing.T) {
	t.Parallel()
	e := feature(Criterion{Requirements: []string{"K/works"}})
	for _, tc := range []struct{ ran, since string }{
		{"v1.90.1", "v1.90"}, {"v1.91.0-alpha.0", "v1.90"}, {"v1.91.0", "v1.91"}, {"v1.89.3", "v1.90"},
	} {
		if r := Judge(e, "beta", []evidence.Run{run("a", monday, reports.Pass, tc.ran)}, planned); r.Since != tc.since {
			t.Errorf("where %s ran, %s and newer count, want %s", tc.ran, r.Since, tc.since)
		}
	}
	// An old failure of a cell that passes on a newer release says nothing of that.
	runs := []evidence.Run{run("a", monday, reports.Fail, "v1.90.0"), run("b", monday.Add(time.Hour), reports.Pass, "v1.90.1")}
	if r := Judge(e, "beta", runs, planned); r.Verdicts[0].Status != Met {
		t.Errorf("%+v", r.Verdicts[0])
	}
	e.Criteria[0].Older = true
	if r := Judge(e, "beta", runs, planned); len(r.Verdicts[0].Against) != 1 {
		t.Errorf("%+v", r.Verdicts[0])
	}
}

// TestAStageThatWasSkipped: what an alpha shows is nothing that makes stable.
func TestAStageThatWasSkipped(t *testing.T) {
	t.Parallel()
	e := feature(Criterion{Requirements: []string{"K/works"}})
	e.Criteria[0].Stage = "stable"
	r := Judge(e, "stable", []evidence.Run{run("a", monday, reports.Pass, "v1.90.1")}, planned)
	if r.Verdicts[0].ID != StageBefore || r.Verdicts[0].Status != NoEvidence || r.ExitCode(false) != ExitNotJudged {
		t.Errorf("%+v", r.Verdicts)
	}
	r = Judge(e, "stable", []evidence.Run{run("a", monday, reports.Pass, "v1.91.1")}, planned)
	if len(r.Verdicts) != 1 || r.ExitCode(false) != ExitMet {
		t.Errorf("%+v", r.Verdicts)
	}
}

// TestAGateThatIsLate: what the release of the milestone says of the gate comes first.
func TestAGateThatIsLate(t *testing.T) {
	t.Parallel()
	works := Criterion{Requirements: []string{"K/works"}}
	for name, tc := range map[string]struct {
		is     *Released
		status Status // of the first verdict, if it is about that
		what   string
	}{
		"not known":        {nil, "", ""},
		"before":           {&Released{Release: "v1.90.1", Stage: "alpha"}, "", ""},
		"in time":          {&Released{Release: "v1.91.0", Stage: "beta", Default: true}, "", ""},
		"later":            {&Released{Release: "v1.92.0", Stage: "stable", Locked: true}, "", ""},
		"a pre-release":    {&Released{Release: "v1.91.0-beta.0", Stage: "alpha"}, NoEvidence, "in v1.91.0-beta.0, Gate is alpha and off"},
		"a release":        {&Released{Release: "v1.91.0", Stage: "alpha"}, Contradicted, "in v1.91.0, Gate is alpha and off"},
		"no gate any more": {&Released{Release: "v1.91.0"}, Contradicted, "v1.91.0 has no feature gate Gate"},
	} {
		e := feature(works)
		e.Gate, e.Released = "Gate", tc.is
		r := Judge(e, "beta", []evidence.Run{run("a", monday, reports.Pass, "v1.91.0")}, planned)
		first := r.Verdicts[0]
		if is := first.ID == StageReleased; is != (tc.status != "") || is && (first.Status != tc.status || first.Missing[0].What != tc.what) {
			t.Errorf("%s: %+v", name, first)
		}
	}
}
