package evidence

import (
	"slices"
	"testing"
	"time"

	"github.com/skewrig/skewrig/reports"
)

// TestTheSameRunsTwice: what has all runs of another cell and says no less against it stays
// alone, in whatever order the reports are.
func TestTheSameRunsTwice(t *testing.T) {
	t.Parallel()
	of := func(said string, starts ...int) Run {
		run := ran(said, monday, map[string]string{"a/new": "v1.90.1"})
		c := &run.Report.Cells[0]
		c.Runs, c.Started = nil, time.Time{}
		for i, n := range starts {
			r := reports.Run{Number: i + 1, Outcome: reports.Pass, Checks: []reports.Check{{ID: "up", Outcome: reports.Pass}}}
			if n > 0 {
				r.Started = monday.Add(time.Duration(n) * time.Hour)
			}
			if i == len(starts)-1 {
				r.Outcome, r.Checks[0].Outcome = reports.Outcome(said), reports.Outcome(said)
			}
			c.Runs = append(c.Runs, r)
		}
		*c = c.Settled()
		return run
	}
	for name, tc := range map[string]struct {
		a, b Run
		want []string // the directories of those that count
	}{
		"a report, and a merge with its rerun": {of("pass", 1), of("fail", 1, 2), []string{"fail"}},
		"a report, and the same judged worse":  {of("pass", 1), of("fail", 1), []string{"fail"}},
		"judged as milder":                     {of("unknown", 1), of("expected-fail", 1), []string{"expected-fail"}},
		"what is red is not lost in a merge":   {of("fail", 1), of("pass", 1, 2), []string{"fail", "pass"}},
		"several runs in common":               {of("pass", 1, 2), of("fail", 2, 3), []string{"fail", "pass"}},
		"other runs":                           {of("pass", 1), of("fail", 2), []string{"fail", "pass"}},
		"the same":                             {of("pass", 1), of("pass", 1), []string{"pass"}},
		"it is not known when they ran":        {of("pass", 0), of("fail", 0), []string{"fail", "pass"}},
	} {
		for _, runs := range [][]Run{{tc.a, tc.b}, {tc.b, tc.a}} {
			cells, left := Select(runs, Subject{Components: []string{"kubelet"}, Since: "v1.89"}, all)
			var got []string
			for _, c := range cells {
				got = append(got, c.Report)
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.want) || (len(left) > 0) != (len(got) == 1) {
				t.Errorf("%s, first %s: %q count, want %q; left out: %v", name, runs[0].Dir, got, tc.want, left)
			}
		}
	}
}
