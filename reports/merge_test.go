package reports

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
)

// input is the report of a directory, of cells that began in a given second.
func input(t *testing.T, name string, second int64, cells ...Cell) Input {
	t.Helper()
	for i := range cells {
		if !cells[i].Unfinished {
			cells[i].Started = time.Unix(second, 0)
		}
	}
	r, err := Assemble(cells, []Requirement{{ID: "R-1", Statement: "it is"}}, Reproduce{
		Command: "skewrig run --report-dir " + name, Skewrig: "v1", Go: "go1", Host: Host{CPUs: 2}, Newest: "v1.90.1", Previous: "v1.89.3",
		Components: []Component{{Name: "kubelet", Version: "v1.90.1", Digest: "sha256:a1", Source: "k8s.io/kubernetes@v1.90.1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return Input{Name: name, Report: r}
}

func simple(id string, outcome Outcome) Cell {
	return Cell{ID: "a/b/" + id, Scenario: "a/b", Checks: []Check{{ID: "x", Requirement: "R-1", Outcome: outcome, Expected: "0"}}}
}

func cut(id string) Cell {
	return Cell{ID: "a/b/" + id, Scenario: "a/b", Outcome: Unknown, Reason: "not run", Unfinished: true}
}

// sum is a report in a few lines.
func sum(r Report) string {
	var lines []string
	for _, c := range r.Cells {
		line := fmt.Sprintf("%s %s", c.ID, c.Outcome)
		for _, run := range c.Runs {
			line += fmt.Sprintf(" %d:%s", run.Number, run.Outcome)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestMergeJoinsShardsAndRepeats(t *testing.T) {
	t.Parallel()
	twice := Join(simple("thrice", Pass).Numbered(1), simple("thrice", Pass).Numbered(2))
	inputs := []Input{
		input(t, "one", 1, simple("both", Fail), simple("first", Pass), simple("thrice", Fail)),
		input(t, "two", 2, simple("both", Pass), simple("second", ExpectedFail), twice),
	}
	r, moved, err := Merge(inputs)
	if err != nil {
		t.Fatal(err)
	}
	want := `a/b/both flaky 1:fail 2:pass
a/b/first pass
a/b/second expected-fail
a/b/thrice flaky 1:fail 2:pass 3:pass`
	if diff := cmp.Diff(want, sum(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantMoved := []Moved{
		{0, "cells/a/b/both", "cells/a/b/both"}, {0, "cells/a/b/first", "cells/a/b/first"}, {0, "cells/a/b/thrice", "cells/a/b/thrice"},
		{1, "cells/a/b/both", "runs/2/cells/a/b/both"}, {1, "cells/a/b/second", "cells/a/b/second"},
		{1, "cells/a/b/thrice", "runs/2/cells/a/b/thrice"}, {1, "runs/2/cells/a/b/thrice", "runs/3/cells/a/b/thrice"},
	}
	if diff := cmp.Diff(wantMoved, moved); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if r.Partial != "" || len(r.Problems) > 0 || r.Reproduce.Command != "skewrig run --report-dir one\nskewrig run --report-dir two" || r.Reproduce.Host.CPUs != 2 || len(r.Reproduce.Components) != 1 {
		t.Errorf("%+v, %q, %v", r.Reproduce, r.Partial, r.Problems)
	}
	if err := Validate(r); err != nil {
		t.Error(err)
	}
}

func TestMergingOneReportChangesNothing(t *testing.T) {
	t.Parallel()
	in := input(t, "one", 1, simple("x", Fail), Join(simple("y", Pass).Numbered(1), simple("y", Fail).Numbered(2)))
	in.Report.Problems = []string{"known.yaml:1:1: matches nothing"}
	r, _, err := Merge([]Input{in})
	if diff := cmp.Diff(in.Report, r); err != nil || diff != "" {
		t.Errorf("%v (-before +after):\n%s", err, diff)
	}
}

// TestMergingKeepsWhatARunTook: no field of how a run is reproduced is lost, and of two reports each is there.
func TestMergingKeepsWhatARunTook(t *testing.T) {
	t.Parallel()
	full := Reproduce{
		Files: []string{""}, Components: []Component{{}}, Sources: []Source{{}}, Gates: map[release.Version]string{"v1.90.1": "AGate"},
		Newest: "v1.90.1", Previous: "v1.89.3",
	}
	eachLeaf(reflect.ValueOf(&full).Elem(), "", func(path string, v reflect.Value) {
		if path != "Newest" && path != "Previous" && v.CanSet() {
			change(t, v)
		}
	})
	if diff := cmp.Diff(full, mergedReproduce([]Input{{Report: Report{Reproduce: full}}})); diff != "" {
		t.Errorf("(-of the run +merged):\n%s", diff)
	}
	of := func(provider string, gates map[release.Version]string) Input {
		return Input{Report: Report{Reproduce: Reproduce{Provider: provider, Gates: gates}}}
	}
	got := mergedReproduce([]Input{of("", nil), of("kind", map[release.Version]string{"v1.90.1": "AGate"}), of("kind", map[release.Version]string{"v1.89.3": "Other"})})
	if want := map[release.Version]string{"v1.90.1": "AGate", "v1.89.3": "Other"}; got.Provider != "rig, kind" || !cmp.Equal(want, got.Gates) {
		t.Errorf("merged are %q and %v", got.Provider, got.Gates)
	}
	if got := mergedReproduce([]Input{of("", nil), of("", nil)}); got.Provider != "" || got.Gates != nil {
		t.Errorf("of rigs: %q and %v", got.Provider, got.Gates)
	}
}

// TestACellThatWasNotJudgedGivesWay: judging a run again can find that it is of another
// scenario than today's. Who then runs the cell again has its verdict.
func TestACellThatWasNotJudgedGivesWay(t *testing.T) {
	t.Parallel()
	before := input(t, "before", 1, simple("bad", Unknown), simple("good", Unknown), simple("never", Unknown), simple("once", Pass),
		Join(simple("twice", Pass).Numbered(1), simple("twice", Unknown).Numbered(2)))
	again := input(t, "again", 2, simple("bad", Fail), simple("good", Pass), simple("never", Unknown), simple("once", Unknown), simple("twice", Pass))
	again.Report.Cells[4].Started = time.Unix(3, 0)
	r, _, err := Merge([]Input{before, again})
	want := `a/b/bad fail
a/b/good pass
a/b/never unknown 1:unknown 2:unknown
a/b/once pass
a/b/twice unknown 1:pass 2:unknown 3:pass`
	if diff := cmp.Diff(want, sum(r)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestACellThatDidNotRunGivesWay(t *testing.T) {
	t.Parallel()
	killed := input(t, "killed", 1, simple("x", Pass), cut("y"), cut("z"))
	killed.Report.Partial = "broken off"
	rest := input(t, "rest", 2, simple("y", Fail), simple("z", Pass))
	r, _, err := Merge([]Input{killed, rest})
	if want := "a/b/x pass\na/b/y fail\na/b/z pass"; err != nil || sum(r) != want || r.Partial != "" {
		t.Errorf("%v, partial %q:\n%s", err, r.Partial, sum(r))
	}
	r, _, err = Merge([]Input{killed, input(t, "rest", 2, cut("z"), simple("y", Fail))})
	if want := "a/b/x pass\na/b/y fail\na/b/z unknown"; err != nil || sum(r) != want || r.Partial != "killed: broken off" {
		t.Errorf("%v, partial %q:\n%s", err, r.Partial, sum(r))
	}
}

// TestRoundsThatLack: a run of several rounds that was broken off is made up for once each cell has as many runs as it was to
// have, however they came about, and not when each has run to its end.
func TestRoundsThatLack(t *testing.T) {
	t.Parallel()
	lacks := func(n int, c Cell) Cell {
		c.MissingRuns = n
		return c
	}
	killed := input(t, "killed", 1, lacks(2, simple("x", Pass)), lacks(3, cut("y")))
	killed.Report.BrokenOff, killed.Report.Partial = "broken off", "broken off"
	sooner := input(t, "sooner", 1, lacks(2, simple("x", Pass)))
	sooner.Report.BrokenOff, sooner.Report.Partial = "broken off", "broken off"
	once, twice, more := input(t, "once", 2, simple("x", Pass), simple("y", Pass)), input(t, "twice", 3, simple("x", Pass), simple("y", Pass)), input(t, "more", 4, simple("y", Pass))
	merged := func(name, wanted string, inputs ...Input) Input {
		r, _, err := Merge(inputs)
		if err != nil || r.Partial != wanted || r.BrokenOff != wanted {
			t.Errorf("%v, partial %q, want %q", err, r.Partial, wanted)
		}
		return Input{Name: name, Report: r}
	}
	merged("", "sooner: broken off", sooner, once)
	m := merged("m", "killed: broken off", killed, once)
	if x, y := m.Report.Cells[0], m.Report.Cells[1]; x.MissingRuns != 1 || y.MissingRuns != 2 {
		t.Errorf("%d runs of x are missing, %d of y", x.MissingRuns, y.MissingRuns)
	}
	n := merged("n", "m: killed: broken off", m, twice)
	merged("", "", n, more)
	merged("", "", killed, once, twice, more)
	if got := killed.Report.JudgedAgain(killed.Report); got.Partial != "broken off" {
		t.Errorf("judged again, it is partial: %q", got.Partial)
	}
	ended := killed.Report
	ended.Cells = []Cell{simple("x", Pass), simple("y", Pass)}
	if got := ended.JudgedAgain(killed.Report); got.Partial != "broken off" {
		t.Errorf("once its cells have ended, it is partial: %q", got.Partial)
	}
}

// TestWhyAReportWasBrokenOff is data: what it says of shards is no part of that, whatever else it is like.
func TestWhyAReportWasBrokenOff(t *testing.T) {
	t.Parallel()
	const why = "who ran it said: shard 2/2 is missing"
	killed, rest := input(t, "killed", 1, cut("x")), input(t, "rest", 2, simple("x", Pass))
	killed.Report.BrokenOff, killed.Report.MissingShards = why, []Shard{{2, 2}}
	killed.Report.Partial = killed.Report.partial()
	r, _, err := Merge([]Input{killed})
	if want := "killed: " + why; err != nil || r.BrokenOff != want || r.Partial != want+"; shard 2/2 is missing" {
		t.Errorf("%v: broken off %q, partial %q", err, r.BrokenOff, r.Partial)
	}
	if r, _, err = Merge([]Input{killed, rest}); err != nil || r.BrokenOff != "" || r.Partial != "shard 2/2 is missing" {
		t.Errorf("%v: broken off %q, partial %q", err, r.BrokenOff, r.Partial)
	}
}

func TestAMissingShardIsReported(t *testing.T) {
	t.Parallel()
	var inputs []Input
	for i := range 4 {
		in := input(t, fmt.Sprintf("s%d", i+1), int64(i), simple(fmt.Sprint(i), Pass))
		in.Report.Shard = Shard{Index: i + 1, Of: 4}
		inputs = append(inputs, in)
	}
	if r, _, err := Merge(inputs); err != nil || r.Partial != "" || r.Shard != (Shard{}) || ExitCode(r) != ExitExpected {
		t.Errorf("all: %v, partial %q", err, r.Partial)
	}
	if r, _, err := Merge([]Input{inputs[0], inputs[2]}); err != nil || r.Partial != "shard 2/4 is missing; shard 4/4 is missing" || ExitCode(r) != ExitNotJudged {
		t.Errorf("two of four: %v, partial %q", err, r.Partial)
	}
}

// TestAShardStaysMissing when the cells of another shard are made up for, until it is merged.
func TestAShardStaysMissing(t *testing.T) {
	t.Parallel()
	shard := func(index int, cells ...Cell) Input {
		in := input(t, fmt.Sprint("s", index), int64(index), cells...)
		in.Report.Shard = Shard{Index: index, Of: 3}
		return in
	}
	merged := func(wanted string, inputs ...Input) Input {
		r, _, err := Merge(inputs)
		if err != nil || r.Partial != wanted || strings.Contains(wanted, "is missing") != (len(r.MissingShards) > 0) {
			t.Errorf("%v, partial %q, want %q; missing %v", err, r.Partial, wanted, r.MissingShards)
		}
		return Input{Name: "m", Report: r}
	}
	killed, rest := shard(1, cut("x")), input(t, "rest", 4, simple("x", Pass))
	killed.Report.Partial = "broken off"
	m := merged("s1: broken off; shard 2/3 is missing", killed, shard(3, simple("z", Pass)))
	merged("m: s1: broken off", m, shard(2, simple("y", Pass)))
	whole := merged("shard 2/3 is missing", m, rest)
	if got := whole.Report.JudgedAgain(m.Report); got.Partial != "shard 2/3 is missing" || got.BrokenOff != "" {
		t.Errorf("once its cells have ended, it is partial: %q", got.Partial)
	}
	if got := m.Report.JudgedAgain(m.Report); got.Partial != "s1: broken off; shard 2/3 is missing" || got.BrokenOff != "s1: broken off" {
		t.Errorf("while they have not, it is partial: %q", got.Partial)
	}
	merged("shard 2/3 is missing", whole)
	merged("", whole, shard(2, simple("y", Pass)))
}

func TestMergeTellsAllContradictions(t *testing.T) {
	t.Parallel()
	one, two := input(t, "one", 1, simple("x", Pass), simple("y", Pass)), input(t, "two", 2, simple("x", Pass))
	two.Report.Reproduce.Skewrig, two.Report.Reproduce.Seed = "v2", 7
	two.Report.Reproduce.Components[0].Digest = "sha256:b2"
	two.Report.Requirements = append(two.Report.Requirements, Requirement{ID: "R-2", Outcome: Unknown, Cells: []string{}})
	two.Report.Cells[0].Checks[0].Expected = "1"
	two.Report.Problems = []string{"a stale entry"}
	r, _, err := Merge([]Input{one, two})
	if err != nil {
		t.Fatal(err)
	}
	want := `a stale entry
v1 built with go1 in one; v2 built with go1 in two: the runs were made by different skewrigs, whose checks may differ
0 in one; 7 in two: the runs were made with different seeds
kubelet v1.90.1: sha256:a1 of k8s.io/kubernetes@v1.90.1 in one; sha256:b2 of k8s.io/kubernetes@v1.90.1 in two: different binaries: build once for all runs, or don't merge them
1 requirement without R-2 in one; 2 requirements in two: the ledgers are not the same
check x of cell a/b/x: 0 in one; 1 in two: different expectations: the scenario changed between the runs`
	if diff := cmp.Diff(want, strings.Join(r.Problems, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	otherwise := []Component{r.Reproduce.Components[0], r.Reproduce.Components[0]}
	otherwise[1].Digest, otherwise[1].Source = "sha256:c3", otherwise[0].Source+" (own clock)"
	if got := DifferentBinaries(otherwise); len(got) > 0 {
		t.Errorf("one that is made otherwise differs: %q", got)
	}
	if ExitCode(r) != ExitNonconforming {
		t.Error("contradictions are as expected")
	}
	if got := DifferentBinaries(r.Reproduce.Components); len(got) != 1 || !strings.Contains(got[0], "kubelet v1.90.1") {
		t.Errorf("the merged report says %q", got)
	}
}

func TestMergeRefusesWhatWouldBeFalse(t *testing.T) {
	t.Parallel()
	one, two := input(t, "one", 1, simple("x", Pass), simple("y", Pass)), input(t, "two", 2, simple("x", Pass))
	two.Report.Requirements[0].Statement = "it is not"
	two.Report.Cells[0].Scenario = "mine"
	_, _, err := Merge([]Input{one, two, one})
	if err == nil {
		t.Fatal("it was merged")
	}
	for _, want := range []string{
		"requirement R-1 is not the same in one and in two",
		"cell a/b/x is of scenario a/b of  with axes map[] in one, and of scenario mine",
		"one and one have 2 runs in common, such as that of a/b/x",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); !ok || len(joined.Unwrap()) != 3 {
		t.Errorf("not three errors: %v", err)
	}
}

// TestCounted: what is counted is in the plural unless it is one.
func TestCounted(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"0 cells", "1 cell", "2 cells"} {
		if got := Counted(n, "cell"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
