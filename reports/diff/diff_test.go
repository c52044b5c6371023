package diff_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

// report assembles a report of cells that serve one requirement.
func report(t *testing.T, cells ...reports.Cell) reports.Report {
	t.Helper()
	r, err := reports.Assemble(cells, []reports.Requirement{{ID: "R"}}, reports.Reproduce{Skewrig: "v1", Go: "go1"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// empty reports whether nothing changed but how long it took.
func empty(d diff.Diff) bool {
	sections, _ := diff.ParseSections([]string{diff.Any})
	return !slices.ContainsFunc(sections, func(s diff.Section) bool { return d.Count(s) > 0 })
}

// cell is a cell of checks, which are called a, b and so on.
func cell(id string, outcomes ...reports.Outcome) reports.Cell {
	c := reports.Cell{ID: id}
	for i, o := range outcomes {
		check := reports.Check{ID: string(rune('a' + i)), Requirement: "R", Outcome: o, Expected: "it", Observed: "it"}
		if o == reports.NotApplicable || o == reports.ExpectedFail {
			check.Reason = "why"
		}
		c.Checks = append(c.Checks, check)
	}
	return c
}

func TestTwoRunsThatSawTheSameHaveAnEmptyDiff(t *testing.T) {
	t.Parallel()
	first, second := cell("x/y/z", reports.Pass, reports.Fail, reports.ExpectedFail), cell("x/y/z", reports.Pass, reports.Fail, reports.ExpectedFail)
	// What the report calls volatile, and what checks observed, as it is from run to run.
	second.DurationSeconds = 1
	second.Checks[0].Observed, second.Checks[1].Observed = "127.0.0.1:4711", "127.0.0.1:4712"
	second.Observed = []reports.Observation{{Probe: "grpc"}}
	from, to := report(t, first), report(t, second)
	to.Reproduce.Command, to.Reproduce.Host.CPUs = "skewrig run --report-dir b", 64
	d := diff.Compare(from, to, diff.Options{})
	if !empty(d) || d.Count(diff.SlowerSection) != 0 {
		t.Errorf("not empty: %+v", d)
	}
	if from.Cells[0].Reason == to.Cells[0].Reason {
		t.Error("the reasons are the same: this test proves nothing")
	}
}

// TestWhereACellBelongs goes through every pair of outcomes.
func TestWhereACellBelongs(t *testing.T) {
	t.Parallel()
	for _, before := range reports.Outcomes() {
		for _, after := range reports.Outcomes() {
			want := diff.ChangedSection
			switch {
			case before.Expected() && !after.Expected():
				want = diff.RegressionsSection
			case !before.Expected() && after.Expected():
				want = diff.FixesSection
			case before == after:
				want = ""
			}
			d := diff.Compare(report(t, cell("x/y/z", before)), report(t, cell("x/y/z", after)), diff.Options{})
			for _, s := range []diff.Section{diff.RegressionsSection, diff.FixesSection, diff.ChangedSection} {
				if got := d.Count(s) == 1; got != (s == want) {
					t.Errorf("%s to %s: in %s %t", before, after, s, got)
				}
			}
		}
	}
}

func TestARedCellHidesNoRegression(t *testing.T) {
	t.Parallel()
	d := diff.Compare(report(t, cell("x/y/z", reports.Fail, reports.Pass)), report(t, cell("x/y/z", reports.Fail, reports.Fail)), diff.Options{})
	if len(d.Regressions) != 1 || len(d.Regressions[0].Checks) != 1 || d.Regressions[0].Checks[0].ID != "b" {
		t.Errorf("%+v", d)
	}
}

func TestChecksThatChange(t *testing.T) {
	t.Parallel()
	from := cell("x/y/z", reports.Pass, reports.Pass, reports.ExpectedFail, reports.Pass)
	to := cell("x/y/z", reports.Pass, reports.Pass, reports.ExpectedFail)
	to.Checks[1].Expected, to.Checks[2].Reason = "something else", "another reason"
	to.Checks = append(to.Checks, reports.Check{ID: "new", Outcome: reports.Pass})
	d := diff.Compare(report(t, from), report(t, to), diff.Options{})
	if len(d.Changed) != 1 {
		t.Fatalf("%+v", d)
	}
	var got []string
	for _, c := range d.Changed[0].Checks {
		switch {
		case c.Before == nil:
			got = append(got, "+"+c.ID)
		case c.After == nil:
			got = append(got, "-"+c.ID)
		default:
			got = append(got, c.ID)
		}
	}
	if want := []string{"b", "c", "-d", "+new"}; !cmp.Equal(got, want) {
		t.Errorf("checks %q, want %q", got, want)
	}
}

func TestWhatTheWholeCellSaysIsCompared(t *testing.T) {
	t.Parallel()
	broken := func(reason string) reports.Report {
		return report(t, reports.Cell{ID: "x/y/z", Outcome: reports.HarnessError, Reason: reason})
	}
	if d := diff.Compare(broken("no etcd"), broken("no kubelet"), diff.Options{}); len(d.Changed) != 1 || len(d.Changed[0].Checks) != 0 {
		t.Errorf("another reason: %+v", d)
	}
}

func TestNewAndGone(t *testing.T) {
	t.Parallel()
	from, to := report(t, cell("a/b/c", reports.Pass), cell("a/b/d", reports.Pass)), report(t, cell("a/b/d", reports.Pass), cell("a/b/e", reports.Fail))
	from.Problems, to.Problems = []string{"old", "both"}, []string{"both", "new"}
	d := diff.Compare(from, to, diff.Options{})
	want := []string{"a/b/c", "a/b/e", "old", "new"}
	if len(d.New) != 1 || len(d.Gone) != 1 || len(d.Problems.New) != 1 || len(d.Problems.Gone) != 1 {
		t.Fatalf("%+v", d)
	}
	if got := []string{d.Gone[0].ID, d.New[0].ID, d.Problems.Gone[0], d.Problems.New[0]}; !cmp.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if d.Count(diff.RegressionsSection) != 1 || d.Count(diff.FixesSection) != 1 || empty(d) {
		t.Error("a problem that is new is no regression, or one that is gone no fix")
	}
	if want := []diff.RequirementChange{{ID: "R", Before: reports.Pass, After: reports.Fail}}; !cmp.Equal(d.Requirements, want) {
		t.Errorf("requirements %+v", d.Requirements)
	}
}

func TestALedgerThatGrowsIsNoVerdict(t *testing.T) {
	t.Parallel()
	from, to := report(t, cell("x/y/z", reports.Pass)), report(t, cell("x/y/z", reports.Pass))
	to.Requirements = append(to.Requirements, reports.Requirement{ID: "S", Outcome: reports.Unknown}, reports.Requirement{ID: "T", Outcome: reports.Pass})
	d := diff.Compare(from, to, diff.Options{})
	if want := []diff.RequirementChange{{ID: "T", After: reports.Pass}}; !cmp.Equal(d.Requirements, want) {
		t.Errorf("%+v, want %+v", d.Requirements, want)
	}
}

func TestTheSubjectIsWhatRan(t *testing.T) {
	t.Parallel()
	kubelet := func(version, source, digest string) reports.Component {
		return reports.Component{Name: "kubelet", Version: version, Source: source, Digest: digest}
	}
	from, to := report(t), report(t)
	from.Reproduce.Components = []reports.Component{kubelet("v1", "m@v1", "d1"), kubelet("v2", "m@v2", "d2"), {Name: "etcd", Version: "v3"}}
	to.Reproduce.Components = []reports.Component{kubelet("v1", "m@v1", "d1"), kubelet("v2", "my checkout", "d3")}
	to.Reproduce.Seed = 7
	want := []diff.SubjectChange{
		{Name: "etcd", Before: []string{"v3 "}, After: []string{}},
		{Name: "kubelet", Before: []string{"v2 d2"}, After: []string{"v2 from my checkout d3"}},
		{Name: "seed", Before: []string{"0"}, After: []string{"7"}},
	}
	d := diff.Compare(from, to, diff.Options{})
	if diff := cmp.Diff(want, d.Subject); diff != "" || empty(d) {
		t.Errorf("empty %t, (-want +got):\n%s", empty(d), diff)
	}
}

func TestSlower(t *testing.T) {
	t.Parallel()
	timed := func(seconds ...float64) reports.Report {
		var cells []reports.Cell
		for i, s := range seconds {
			c := cell("a/b/"+string(rune('a'+i)), reports.Pass)
			c.DurationSeconds = s
			cells = append(cells, c)
		}
		return report(t, cells...)
	}
	for name, tc := range map[string]struct {
		from, to reports.Report
		options  diff.Options
		slower   int
		pace     float64
	}{
		"as it was":                 {timed(20, 20, 20), timed(20, 20, 20), diff.Options{}, 0, 1},
		"one is":                    {timed(20, 20, 20), timed(20, 20, 60), diff.Options{}, 1, 1},
		"many times, few seconds":   {timed(1, 20, 20), timed(9, 20, 20), diff.Options{}, 0, 1},
		"many seconds, few times":   {timed(100, 20, 20), timed(140, 20, 20), diff.Options{}, 0, 1},
		"the machine is busy":       {timed(20, 20, 20), timed(60, 60, 60), diff.Options{}, 0, 3},
		"busy, and one is":          {timed(20, 20, 20), timed(40, 40, 100), diff.Options{}, 1, 2},
		"the machine is faster":     {timed(20, 20, 20, 40), timed(10, 10, 10, 41), diff.Options{}, 0, 0.5},
		"one that never started":    {timed(0, 20), timed(60, 20), diff.Options{}, 0, 1},
		"by another measure":        {timed(1, 20, 20), timed(9, 20, 20), diff.Options{SlowerFactor: 2, SlowerSeconds: 1}, 1, 1},
		"nothing in both, no pace":  {timed(), timed(60, 20), diff.Options{}, 0, 0},
		"the median of two is half": {timed(10, 10), timed(10, 30), diff.Options{}, 0, 2},
	} {
		d := diff.Compare(tc.from, tc.to, tc.options)
		if len(d.Slower) != tc.slower || d.Pace != tc.pace {
			t.Errorf("%s: %+v at a pace of %v, want %d at %v", name, d.Slower, d.Pace, tc.slower, tc.pace)
		}
		if len(d.Slower) > 0 && !empty(d) {
			t.Errorf("%s: what is volatile makes a difference", name)
		}
	}
}

func TestParseSections(t *testing.T) {
	t.Parallel()
	got, err := diff.ParseSections([]string{"any", "slower"})
	if err != nil || !cmp.Equal(got, diff.Sections()) {
		t.Errorf("any and slower are %v, %v", got, err)
	}
	if _, err := diff.ParseSections([]string{"regressions", "red"}); err == nil {
		t.Error("red is no section")
	}
}
