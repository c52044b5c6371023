package evidence

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
)

var monday = time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)

// ran is a run of cells that each had a kubelet of a version, by the cell's id.
func ran(dir string, started time.Time, kubelets map[string]string) Run {
	run := Run{Dir: dir, Facts: map[string]Facts{}}
	for _, id := range slices.Sorted(maps.Keys(kubelets)) {
		run.Report.Cells = append(run.Report.Cells, reports.Cell{ID: id, Scenario: id[:1], Started: started, Outcome: reports.Pass})
		if v := kubelets[id]; v != "" {
			run.Facts[id] = Facts{Components: []Component{
				{Name: "kube-apiserver", Starts: []Start{{Version: "v1.91.0"}}},
				{Name: "kubelet/node-a", Starts: []Start{{Version: v}}},
			}}
		}
	}
	return run
}

func all(reports.Cell) bool { return true }

func TestWhatCounts(t *testing.T) {
	t.Parallel()
	run := ran("one", monday, map[string]string{
		"a/new": "v1.90.1", "a/old": "v1.89.3", "b/alone": "v1.89.3", "c/before": "v1.88.4",
		"d/stands-in": "reference", "e/unrecorded": "", "f/pre-release": "v1.91.0-alpha.0",
	})
	subject := Subject{Components: []string{"kubelet"}, Since: "v1.89"}
	cells, left := Select([]Run{run, run}, subject, all)
	var counted []string
	for _, c := range cells {
		counted = append(counted, c.ID+" "+c.Release)
	}
	if want := []string{"a/new v1.90.1", "b/alone v1.89.3", "f/pre-release v1.91.0-alpha.0"}; !slices.Equal(counted, want) {
		t.Errorf("counted %q, want %q", counted, want)
	}
	want := []LeftOut{
		{OfReference, []string{"d/stands-in"}},
		{Unrecorded, []string{"e/unrecorded"}},
		{Before, []string{"c/before"}},
		{Superseded, []string{"a/old"}},
		{Again, []string{"a/new", "a/old", "b/alone", "f/pre-release"}},
	}
	if d := cmp.Diff(want, left); d != "" {
		t.Error(d)
	}
	subject.Older = true
	if cells, _ = Select([]Run{run}, subject, all); len(cells) != 4 {
		t.Errorf("%d cells count where older releases are the point, want 4", len(cells))
	}
}

// TestWithoutARecord: what the cell's id says is the least that ran.
func TestWithoutARecord(t *testing.T) {
	t.Parallel()
	s := Subject{Components: []string{"kube-apiserver", "kubelet"}, Since: "v1.89"}
	if got, _ := s.counts(Facts{}, map[string]string{"apiserver": "v1.89.3", "kubelet": "v1.90.1"}); got != "v1.90.1" {
		t.Errorf("the release is %q", got)
	}
	if _, why := s.counts(Facts{}, map[string]string{"kubelet": "reference"}); why != OfReference {
		t.Errorf("it does not count because %q", why)
	}
}

func TestAStatement(t *testing.T) {
	t.Parallel()
	cell := func(id string, outcomes ...reports.Outcome) Cell {
		c := Cell{Cell: reports.Cell{ID: id, Requirements: []string{"K/r"}}, Report: "dir"}
		for i, o := range outcomes {
			c.Checks = append(c.Checks, reports.Check{ID: string(rune('a' + i)), Requirement: "K/r", Outcome: o})
		}
		c.Checks = append(c.Checks, reports.Check{ID: "other", Requirement: "K/other", Outcome: reports.Fail})
		return c
	}
	for name, tc := range map[string]struct {
		cells                     []Cell
		checks, against, unjudged int
		proved                    bool
	}{
		"nothing ran":            {nil, 0, 0, 0, false},
		"it holds":               {[]Cell{cell("x", reports.Pass, reports.Pass)}, 2, 0, 0, true},
		"in two runs":            {[]Cell{cell("x", reports.Pass), cell("x", reports.Pass)}, 1, 0, 0, true},
		"one fails":              {[]Cell{cell("x", reports.Pass), cell("x", reports.Fail)}, 1, 1, 0, false},
		"a known deviation":      {[]Cell{cell("x", reports.Pass, reports.ExpectedFail)}, 1, 1, 0, false},
		"an unexpected pass":     {[]Cell{cell("x", reports.UnexpectedPass)}, 1, 0, 0, true},
		"flaky":                  {[]Cell{cell("x", reports.Flaky)}, 0, 1, 0, false},
		"our fault":              {[]Cell{cell("x", reports.Pass, reports.HarnessError)}, 1, 0, 1, false},
		"does not apply":         {[]Cell{cell("x", reports.NotApplicable)}, 0, 0, 0, false},
		"promised and not there": {[]Cell{cell("x")}, 0, 0, 1, false},
	} {
		f := Statement("K/r", tc.cells)
		if f.Checks != tc.checks || len(f.Against) != tc.against || len(f.Unjudged) != tc.unjudged || f.Proved() != tc.proved {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := Whole("x", []Cell{cell("x", reports.Pass)}); len(f.Against) != 1 {
		t.Errorf("a cell as a whole has the check that fails: %+v", f)
	}
}

func TestCover(t *testing.T) {
	t.Parallel()
	planned := []Planned{{ID: "one", Requirements: []string{"a"}}, {ID: "both", Requirements: []string{"a", "b"}}, {ID: "c", Requirements: []string{"c"}}}
	cells, nowhere := Cover(planned, []string{"a", "b", "c", "d"})
	if !slices.Equal(cells, []string{"both", "c"}) || !slices.Equal(nowhere, []string{"d"}) {
		t.Errorf("cells %q, nowhere %q", cells, nowhere)
	}
}

// TestCommand: what is printed from reports overwrites none of them.
func TestCommand(t *testing.T) {
	t.Parallel()
	run := Run{Dir: "report", Report: reports.Report{Reproduce: reports.Reproduce{Command: "skewrig run"}}}
	first := SourcesOf(run).Command("a/b/one", "a/c/two")
	before, dir, _ := strings.Cut(first, " --report-dir ")
	if before != "skewrig run 'a/b/one' 'a/c/two'" || !strings.HasPrefix(dir, "report-a-") {
		t.Error(first)
	}
	for _, run := range []Run{
		{Dir: "elsewhere/" + dir},
		{Dir: "moved", Report: reports.Report{Reproduce: reports.Reproduce{Command: first}}},
	} {
		if got := SourcesOf(run).Command("a/b/one", "a/c/two"); got != first+"-again" {
			t.Errorf("printed from %s: %s", run.Dir, got)
		}
	}
	if got := SourcesOf(run).CommandInto("finding-late", "a/b/one"); got != "skewrig run 'a/b/one' --report-dir finding-late" {
		t.Error(got)
	}
}

// TestAStartThatIsWhatItWasBefore is none: a restart changes nothing.
func TestAStartThatIsWhatItWasBefore(t *testing.T) {
	t.Parallel()
	var c Component
	for _, s := range []Start{
		{Version: "v1.89.3"}, {Version: "v1.90.1"}, {Version: "v1.90.1"},
		{Version: "v1.90.1", Gates: map[string]bool{"G": true}}, {Version: "v1.89.3"},
	} {
		c.Started(s)
	}
	if len(c.Starts) != 4 {
		t.Errorf("%d starts: %+v", len(c.Starts), c.Starts)
	}
}
