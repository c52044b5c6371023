package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// runOf is a run of the cell a/b/c with one check of each outcome.
func runOf(number int, outcomes ...Outcome) Cell {
	c := Cell{ID: "a/b/c", Started: time.Unix(int64(1000*number), 0), DurationSeconds: float64(number)}
	for i, o := range outcomes {
		c.Checks = append(c.Checks, Check{ID: string(rune('x' + i)), Outcome: o, Expected: "0", Observed: fmt.Sprint(number)})
	}
	return c.Numbered(number)
}

func broken(number int, outcome Outcome) Cell {
	return Cell{ID: "a/b/c", Outcome: outcome, Reason: "etcd died"}.Numbered(number)
}

func TestJoin(t *testing.T) {
	t.Parallel()
	unfinished := broken(1, Unknown)
	unfinished.Unfinished = true
	for name, tc := range map[string]struct {
		runs []Cell
		want string
	}{
		"all good":               {[]Cell{runOf(1, Pass), runOf(2, Pass)}, "pass: | x pass | 0 of 2"},
		"all bad":                {[]Cell{runOf(1, Fail), runOf(2, Fail)}, "fail: x: expected 0, observed 1 | x fail | 2 of 2"},
		"some bad":               {[]Cell{runOf(1, Pass), runOf(2, Fail)}, "flaky: not as expected in 1 of 2 runs: x: expected 0, observed 2 | x flaky failed in 1 of 2 runs | 1 of 2"},
		"each time another":      {[]Cell{runOf(1, Fail, Pass), runOf(2, Pass, Fail)}, "fail: x: expected 0, observed 1 | x flaky failed in 1 of 2 runs | y flaky failed in 1 of 2 runs | 2 of 2"},
		"a known bug, always":    {[]Cell{runOf(1, ExpectedFail), runOf(2, ExpectedFail)}, "expected-fail: x: expected 0, observed 1 | x expected-fail | 2 of 2"},
		"a known bug, sometimes": {[]Cell{runOf(1, ExpectedFail), runOf(2, UnexpectedPass)}, "flaky: not as expected in 1 of 2 runs: x: expected 0, observed 2 | x flaky failed in 1 of 2 runs | 1 of 2"},
		"beside a known bug":     {[]Cell{runOf(1, ExpectedFail, Pass), runOf(2, ExpectedFail, Fail)}, "flaky: not as expected in 1 of 2 runs: y: expected 0, observed 2 | x expected-fail | y flaky failed in 1 of 2 runs | 1 of 2"},
		"not judged once":        {[]Cell{runOf(1, Pass), broken(2, HarnessError)}, "harness-error: in 1 of 2 runs: etcd died | x pass | 0 of 1"},
		"bad, and not judged":    {[]Cell{runOf(1, Fail), broken(2, HarnessError)}, "fail: in 1 of 2 runs: x: expected 0, observed 1 | x fail | 1 of 1"},
		"never judged":           {[]Cell{broken(1, HarnessError), broken(2, Unknown)}, "harness-error: in 1 of 2 runs: etcd died | 0 of 0"},
		"an unfinished one":      {[]Cell{unfinished, runOf(2, Pass)}, "pass: | x pass | 0 of 1"},
		"one":                    {[]Cell{runOf(1, Fail)}, "fail: x: expected 0, observed 1 | x fail | 0 of 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Assemble([]Cell{Join(tc.runs...)}, nil, Reproduce{})
			if err != nil {
				t.Fatal(err)
			}
			c := r.Cells[0]
			got := string(c.Outcome) + ":" + strings.TrimRight(" "+c.Reason, " ")
			for _, check := range c.Checks {
				got += strings.TrimRight(fmt.Sprintf(" | %s %s %s", check.ID, check.Outcome, check.Reason), " ")
			}
			got += fmt.Sprintf(" | %d of %d", c.Rate.Failed, c.Rate.Runs)
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			again, err := Assemble(r.Cells, nil, Reproduce{})
			if diff := cmp.Diff(r, again); err != nil || diff != "" {
				t.Errorf("assembled again: %v\n%s", err, diff)
			}
			if _, err := Read(strings.NewReader(encode(t, r))); err != nil {
				t.Errorf("read back: %v", err)
			}
		})
	}
}

// TestStandInsOfAnyRunMarkTheCell: joined with a run of the released components, the mark stays.
func TestStandInsOfAnyRunMarkTheCell(t *testing.T) {
	t.Parallel()
	first, second, third := runOf(1, Pass), runOf(2, Pass), runOf(3, Pass)
	second.StandIns, third.StandIns = []string{"kubelet with m@v1"}, []string{"kubelet with m@v1"}
	if got := Join(first, second, third).StandIns; !slices.Equal(got, second.StandIns) {
		t.Errorf("the joined cell has %q", got)
	}
}

// TestARepetitionExcusesNothing: whatever else a cell came out as, a run that was
// not as expected shows.
func TestARepetitionExcusesNothing(t *testing.T) {
	t.Parallel()
	for _, a := range Outcomes() {
		for _, b := range Outcomes() {
			first, second := runOf(1, a), runOf(2, b)
			if a.Expected() && b.Expected() || a == NotApplicable || b == NotApplicable {
				continue // these two need a reason, and say nothing about others
			}
			if got := Join(first, second, runOf(3, Pass)); got.Outcome.Expected() || got.Outcome != Join(second, first, runOf(3, Pass)).Outcome {
				t.Errorf("%s, %s and a pass are %s", a, b, got.Outcome)
			}
		}
	}
}

func TestARepeatedCellHasTheFirstStartAndTheMeanDuration(t *testing.T) {
	t.Parallel()
	c := Join(runOf(3, Pass), runOf(1, Pass))
	if !c.Started.Equal(time.Unix(1000, 0)) || c.DurationSeconds != 2 || c.Runs[0].Number != 1 || c.Runs[1].Dir != "runs/3/cells/a/b/c" {
		t.Errorf("%+v", c)
	}
	if alone := Join(runOf(1, Pass)); alone.Runs != nil || alone.Rate != (Rate{}) || alone.DurationSeconds != 1 {
		t.Errorf("a cell that ran once is %+v", alone)
	}
}

func TestRunsTypedByHandAreRefused(t *testing.T) {
	t.Parallel()
	r, err := Assemble([]Cell{Join(runOf(1, Pass), runOf(2, Fail))}, nil, Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	good := encode(t, r)
	for name, tc := range map[string]struct{ old, replacement, want string }{
		"a run":            {`"number":2,"outcome":"fail"`, `"number":2,"outcome":"pass"`, `run 2 is "pass"`},
		"a rate":           {`"failed":1`, `"failed":0`, `rate 0 of 2 runs`},
		"an order":         {`"number":2`, `"number":1`, `not numbered from 1 upwards`},
		"a directory":      {`"dir":"cells/a/b/c"`, `"dir":"../../etc"`, `in "../../etc"`},
		"a verdict":        {`"outcome":"flaky","reason":"not`, `"outcome":"pass","reason":"not`, `outcome "pass", where the checks give "flaky"`},
		"no check":         {`"checks":[{"id":"x","outcome":"flaky"`, `"checks":[],"runs":null,"x":[{"id":"x","outcome":"flaky"`, `unknown field`},
		"a check left out": {`"checks":[{"id":"x","outcome":"flaky","expected":"0","observed":"2","reason":"failed in 1 of 2 runs"}]`, `"checks":[]`, `0 checks, where its runs have 1`},
		"a duration":       {`"durationSeconds":2`, `"durationSeconds":-2`, `-2 s is not a duration`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(good, tc.old, tc.replacement, 1)
			if bad == good {
				t.Fatalf("%s is not in the report:\n%s", tc.old, good)
			}
			if _, err := Read(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one containing %q", err, tc.want)
			}
		})
	}
}

// TestRate compares with the interval as others give it (R: binom.confint, method
// wilson).
func TestRate(t *testing.T) {
	t.Parallel()
	for _, want := range []Rate{
		{Failed: 0, Runs: 3, Low: 0, High: 0.5615},
		{Failed: 2, Runs: 5, Low: 0.1176, High: 0.7693},
		{Failed: 1, Runs: 10, Low: 0.0179, High: 0.4042},
		{Failed: 5, Runs: 5, Low: 0.5655, High: 1},
		{Failed: 50, Runs: 100, Low: 0.4038, High: 0.5962},
	} {
		if got := NewRate(want.Failed, want.Runs); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if got := NewRate(0, 0); got != (Rate{}) {
		t.Errorf("of no runs: %+v", got)
	}
	for runs := 1; runs < 60; runs++ {
		for failed := range runs + 1 {
			r, other := NewRate(failed, runs), NewRate(runs-failed, runs)
			p := float64(failed) / float64(runs)
			if r.Low > p || r.High < p || r.Low < 0 || r.High > 1 || r.Low >= r.High {
				t.Fatalf("%v does not hold %v", r, p)
			}
			if d := r.Low + other.High - 1; d > 1e-4 || d < -1e-4 {
				t.Fatalf("%v and %v are not each other's opposite", r, other)
			}
		}
	}
}

func TestAPartialReportIsNotAsExpected(t *testing.T) {
	t.Parallel()
	r, err := Assemble([]Cell{{ID: "a/b/c", Checks: []Check{{ID: "x", Outcome: Pass}}}}, nil, Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ExitCode(r); got != ExitExpected {
		t.Errorf("exit code %d", got)
	}
	r.Partial = "broken off"
	if got := ExitCode(r); got != ExitNotJudged {
		t.Errorf("partial: exit code %d", got)
	}
	empty := Report{Shard: Shard{Index: 3, Of: 3}}
	if got := ExitCode(empty); got != ExitExpected {
		t.Errorf("a shard without cells: exit code %d", got)
	}
	empty.Shard = Shard{}
	if got := ExitCode(empty); got != ExitNotJudged {
		t.Errorf("no cells: exit code %d", got)
	}
}

func TestEachRunOfACell(t *testing.T) {
	t.Parallel()
	run := func(number int, outcome Outcome) Cell {
		return Cell{ID: "a/b/c", Started: time.Unix(int64(number), 0), Checks: []Check{{ID: "x", Outcome: outcome}}}.Numbered(number)
	}
	runs := Join(run(1, Pass), run(2, Fail)).EachRun()
	for i, want := range []Outcome{Pass, Fail} {
		if got := runs[i]; got.Outcome != want || !got.Started.Equal(time.Unix(int64(i+1), 0)) {
			t.Errorf("run %d: %+v", i+1, got)
		}
	}
	if once := (Cell{ID: "a/b/c", Started: time.Unix(1, 0), Outcome: Unknown, Reason: "late"}).EachRun(); len(once) != 1 || once[0].Outcome != Unknown {
		t.Errorf("a cell that ran once has %v", once)
	}
}
