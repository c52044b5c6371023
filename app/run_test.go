package app

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// played is a runner whose rounds are played: no rig is started. Cell mine/pods/a
// fails in each third run, and mine/pods/b never does.
type played struct {
	*runner
	reported []string
	// before is called before each cell is run. If unset, nothing is.
	before func(number int, id string)
}

func newPlayed(t *testing.T, cells []plan.Cell, o Options) *played {
	t.Helper()
	p := &played{}
	o.Dir = t.TempDir()
	o.Progress = func(news engine.Progress) {
		if news.Result != nil {
			p.reported = append(p.reported, news.Result.ID+" "+string(news.Result.Outcome))
		}
	}
	runner, err := newRunner(cells, o)
	if err != nil {
		t.Fatal(err)
	}
	p.runner, runner.round = runner, p.round
	return p
}

// scenario has a cell, mine/pods/web. Package cmd/skewrig uses it, too.
//
//go:embed testdata/web.yaml
var scenario string

// twoCells are the cells mine/pods/a and mine/pods/b.
func twoCells(t *testing.T) []plan.Cell {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b"} {
		golden.Write(t, name+".yaml", strings.Replace(scenario, "mine/pods/web", "mine/pods/"+name, 1))
	}
	cells, err := Select([]string{"a.yaml", "b.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// round plays what an engine does: a history for each cell, and news.
func (p *played) round(ctx context.Context, number, _ int, cells []plan.Cell, tell func(engine.Progress)) error {
	for _, c := range cells {
		if p.before != nil {
			p.before(number, c.ID)
		}
		outcome := reports.Pass
		if c.ID == "mine/pods/a" && number%3 == 0 {
			outcome = reports.Fail
		}
		result := reports.Cell{
			ID: c.ID, Scenario: c.Scenario, Checks: []reports.Check{{ID: "there", Outcome: outcome, Expected: "0", Observed: "1"}},
			Started: time.Unix(int64(number), 0), DurationSeconds: 2,
		}
		if ctx.Err() != nil {
			result = reports.Cell{ID: c.ID, Scenario: c.Scenario, Outcome: reports.Unknown, Reason: "not run: interrupted", Unfinished: true}
		} else if err := leaveHistory(roundDir(p.Dir, number), c.ID); err != nil {
			return err
		}
		tell(engine.Progress{Cell: c})
		tell(engine.Progress{Cell: c, Result: &result})
	}
	return nil
}

// leaveHistory leaves a history as an engine does.
func leaveHistory(dir, id string) error {
	to := engine.CellDir(dir, id)
	var history bytes.Buffer
	h := record.NewHistory(&history)
	h.Append("engine", "1", record.StepStarted{Number: 1, Name: "1", Action: "check there"})
	h.Append("engine", "there", record.CheckOpened{Step: 1})
	h.Append("engine", "there", record.CheckClosed{Step: 1})
	h.Append("engine", "1", record.StepDone{Number: 1})
	h.Append("engine", "", record.CellEnded{})
	return errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, "history.jsonl"), history.Bytes(), 0o600))
}

func (p *played) cell(t *testing.T, report reports.Report, id string) reports.Cell {
	t.Helper()
	i := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("%s is not in the report", id)
	}
	return report.Cells[i]
}

func TestRepeatedRunsAreJoined(t *testing.T) {
	for _, parallel := range []int{1, 2, 7} {
		p := newPlayed(t, twoCells(t), Options{Repeat: 6, Parallel: parallel})
		report, err := p.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, b := p.cell(t, report, "mine/pods/a"), p.cell(t, report, "mine/pods/b")
		if a.Outcome != reports.Flaky || a.Rate.Failed != 2 || a.Rate.Runs != 6 || a.Differs.Step != 1 || a.Differs.Bad != "check there: fail" {
			t.Errorf("%d at a time: a is %s, %v, %v", parallel, a.Outcome, a.Rate, a.Differs)
		}
		if b.Outcome != reports.Pass || len(b.Runs) != 6 || b.Differs != (reports.Difference{}) || report.Partial != "" {
			t.Errorf("%d at a time: b is %s in %d runs, %v; partial %q", parallel, b.Outcome, len(b.Runs), b.Differs, report.Partial)
		}
		if len(p.reported) != 12 || !slices.Contains(p.reported, "mine/pods/a (run 3) fail") || !slices.Contains(p.reported, "mine/pods/a pass") {
			t.Errorf("reported %q", p.reported)
		}
	}
}

func TestACellThatRunsOnceIsAsBefore(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{})
	report, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := p.cell(t, report, "mine/pods/a"); a.Runs != nil || a.Rate != (reports.Rate{}) || a.DurationSeconds != 2 {
		t.Errorf("%+v", a)
	}
}

// TestUntilFailThatIsInterruptedIsPartial: a cell that was broken off has not
// failed.
func TestUntilFailThatIsInterruptedIsPartial(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{Repeat: 2, UntilFail: true})
	ctx, interrupt := context.WithCancel(t.Context())
	p.before = func(int, string) { interrupt() }
	if report, err := p.run(ctx); err != nil || report.Unfinished() != 2 || report.Partial == "" {
		t.Errorf("%v: %d unfinished, partial %q", err, report.Unfinished(), report.Partial)
	}
}

func TestUntilFailStopsThere(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{Repeat: 5, UntilFail: true})
	report, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.cell(t, report, "mine/pods/a"), p.cell(t, report, "mine/pods/b")
	if len(a.Runs) != 3 || a.Outcome != reports.Flaky || len(b.Runs) != 5 || report.Partial != "" {
		t.Errorf("a ran %d times, b %d; partial %q", len(a.Runs), len(b.Runs), report.Partial)
	}
}

func TestAnInterruptLeavesAPartialReport(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{Repeat: 3})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	p.before = func(number int, id string) {
		if number == 2 && id == "mine/pods/b" {
			interrupt()
		}
	}
	report, err := p.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := "the run was broken off: 2 of 2 cells did not run to their end 3 times"
	if report.Partial != want || report.BrokenOff != want || reports.ExitCode(report) != reports.ExitNotJudged {
		t.Errorf("partial %q, broken off %q, exit code %d", report.Partial, report.BrokenOff, reports.ExitCode(report))
	}
	if a, b := p.cell(t, report, "mine/pods/a"), p.cell(t, report, "mine/pods/b"); a.MissingRuns != 1 || b.MissingRuns != 2 {
		t.Errorf("%d runs of a are missing, %d of b", a.MissingRuns, b.MissingRuns)
	}
	if a, b := p.cell(t, report, "mine/pods/a"), p.cell(t, report, "mine/pods/b"); len(a.Runs) != 2 || b.Runs != nil || b.Outcome != reports.Pass {
		t.Errorf("a ran %d times, b is %s in %d", len(a.Runs), b.Outcome, len(b.Runs))
	}
}

// TestAKilledRunLeavesAReport reads what is there in the middle of a run, and
// judges it.
func TestAKilledRunLeavesAReport(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{})
	at := make(map[string]reports.Report)
	p.before = func(_ int, id string) {
		if err := p.draft(); err != nil {
			t.Error(err)
		}
		report, err := ReadReport(p.Dir)
		if err != nil {
			t.Error(err)
		}
		at[id] = report
	}
	if _, err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "the run was not over when this was written: 2 of 2 cells did not run to their end"
	if first := at["mine/pods/a"]; first.Partial != want || first.Unfinished() != 2 || reports.ExitCode(first) != reports.ExitNotJudged {
		t.Errorf("before the first cell: %q, %d unfinished", first.Partial, first.Unfinished())
	}
	second := at["mine/pods/b"]
	a, b := p.cell(t, second, "mine/pods/a"), p.cell(t, second, "mine/pods/b")
	if a.Outcome != reports.Pass || a.Unfinished || b.Outcome != reports.Unknown || !b.Unfinished || !strings.HasPrefix(b.Reason, "not run: ") || len(b.Checks) == 0 {
		t.Errorf("before the second cell: %s and %s, %q", a.Outcome, b.Outcome, b.Reason)
	}
}

func TestAKilledRunIsJudgedAndReplaced(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{})
	if err := os.MkdirAll(engine.CellDir(p.Dir, "mine/pods/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join(engine.CellDir(p.Dir, "mine/pods/b"), "history.jsonl"), `{"seq":1,"kind":"component.started","data":{}}`+"\n"+`{"seq":2,"kin`)
	killed := errors.New("killed")
	p.runner.round = func(ctx context.Context, number, parallel int, cells []plan.Cell, tell func(engine.Progress)) error {
		return errors.Join(p.round(ctx, number, parallel, cells[:1], tell), p.draft(), killed)
	}
	if _, err := p.run(t.Context()); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	judged, err := Catalog{}.Judge(t.Context(), p.Dir, []string{"a.yaml", "b.yaml"}, Place{Dir: p.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if b := p.cell(t, judged, "mine/pods/b"); b.Outcome != reports.Unknown || !b.Unfinished || judged.Partial == "" {
		t.Errorf("the cell that was killed is %s", b.Outcome)
	}
	// Should its history have its end, it is a run as any other.
	if err := leaveHistory(p.Dir, "mine/pods/b"); err != nil {
		t.Fatal(err)
	}
	lacks := judged
	lacks.Partial, lacks.MissingShards = "broken off; shard 2/2 is missing", []reports.Shard{{Index: 2, Of: 2}}
	if _, err := finish(t.Context(), p.Dir, lacks); err != nil {
		t.Fatal(err)
	}
	if _, err = (Catalog{}).Judge(t.Context(), p.Dir, []string{"a.yaml", "b.yaml"}, Place{Dir: "lacks"}); err != nil {
		t.Fatal(err)
	}
	if lacks, err = ReadReport("lacks"); err != nil || lacks.Partial != "shard 2/2 is missing" || !slices.Equal(lacks.MissingShards, []reports.Shard{{Index: 2, Of: 2}}) {
		t.Errorf("partial %q, missing %v, error %v", lacks.Partial, lacks.MissingShards, err)
	}
	if _, err := finish(t.Context(), p.Dir, judged); err != nil {
		t.Fatal(err)
	}
	if judged, err = (Catalog{}).Judge(t.Context(), p.Dir, []string{"a.yaml", "b.yaml"}, Place{Dir: p.Dir}); err != nil || judged.Partial != "" {
		t.Errorf("partial %q, error %v", judged.Partial, err)
	}
	next, err := Place{Dir: p.Dir}.Claim([]string{"mine/pods/a", "mine/pods/b"})
	if err != nil {
		t.Fatalf("the next run is refused: %v", err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

// TestAClusterThatCannotBeEnded: that is in the report, and not in the history, which had ended before.
func TestAClusterThatCannotBeEnded(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{})
	p.runner.round = func(ctx context.Context, number, parallel int, cells []plan.Cell, tell func(engine.Progress)) error {
		return p.round(ctx, number, parallel, cells, func(news engine.Progress) {
			if news.Result != nil && news.Cell.ID == "mine/pods/a" {
				spoilt := news.Result.Overruled(reports.HarnessError, "the network is in use")
				news.Result = &spoilt
			}
			tell(news)
		})
	}
	if _, err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	judged, err := Catalog{}.Judge(t.Context(), p.Dir, []string{"a.yaml", "b.yaml"}, Place{Dir: p.Dir})
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.cell(t, judged, "mine/pods/a"), p.cell(t, judged, "mine/pods/b")
	if a.Outcome != reports.HarnessError || a.Reason != "the network is in use" || b.Outcome == reports.HarnessError {
		t.Errorf("a is %s (%s), b is %s", a.Outcome, a.Reason, b.Outcome)
	}
}

// TestKnownDeviationsOfAnotherShard: an entry for a cell of the user's files is not stale where that did not run.
func TestKnownDeviationsOfAnotherShard(t *testing.T) {
	cells := twoCells(t)
	list, err := known.Parse("known.yaml", []byte(`apiVersion: skewrig.dev/v1alpha1
kind: KnownDeviations
deviations:
- cells: mine/pods/b
  checks: [there]
  reason: it does not know the field
  link: https://kep.k8s.io/4939
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]string{{"a.yaml"}, {"a.yaml", "b.yaml"}} {
		p := newPlayed(t, cells[:1], Options{Catalog: Catalog{Known: list}, Reproduce: reports.Reproduce{Files: files}})
		report, err := p.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if stale := len(report.Problems) > 0; stale != (len(files) == 1) {
			t.Errorf("of %s: %q", files, report.Problems)
		}
	}
}

// TestARunWhoseRecordIsGoneCounts as one that is unknown, however often it is judged. What could
// not start has no record.
func TestARunWhoseRecordIsGoneCounts(t *testing.T) {
	const was = "its record is gone or has no end; it was new"
	for name, tc := range map[string]struct {
		outcome, want reports.Outcome
		said, reason  string
	}{
		"it failed":                {reports.Fail, reports.Unknown, "", was},
		"the harness was at fault": {reports.HarnessError, reports.HarnessError, "the disk is full", "the disk is full"},
		"it could not start":       {reports.NotTestable, reports.NotTestable, "no cgroup", "no cgroup"},
		"it was not judged":        {reports.Unknown, reports.Unknown, "no event", "no event"},
	} {
		for _, repeat := range []int{1, 3} {
			p := newPlayed(t, twoCells(t), Options{Repeat: repeat})
			p.runner.round = func(ctx context.Context, number, parallel int, cells []plan.Cell, tell func(engine.Progress)) error {
				err := p.round(ctx, number, parallel, cells, func(news engine.Progress) {
					if news.Result != nil && news.Cell.ID == "mine/pods/a" && number == repeat {
						news.Result.Outcome, news.Result.Reason, news.Result.Checks[0].Outcome = tc.outcome, tc.said, tc.outcome
					}
					tell(news)
				})
				if number == repeat {
					err = errors.Join(err, os.Remove(filepath.Join(engine.CellDir(roundDir(p.Dir, number), "mine/pods/a"), reports.HistoryFile)))
				}
				return err
			}
			if _, err := p.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				judged, err := Catalog{}.Judge(t.Context(), p.Dir, []string{"a.yaml", "b.yaml"}, Place{Dir: p.Dir})
				if err != nil {
					t.Fatal(err)
				}
				a := p.cell(t, judged, "mine/pods/a")
				runs := a.EachRun()
				last := runs[len(runs)-1]
				if a.Unfinished || len(runs) != repeat || last.Outcome != tc.want || !strings.HasPrefix(last.Reason, tc.reason) || a.Outcome != tc.want {
					t.Errorf("%s, %d runs: the cell is %s, its %d runs end with %s (%s)", name, repeat, a.Outcome, len(runs), last.Outcome, last.Reason)
				}
			}
		}
	}
}

// TestAJudgedReportKeepsItsStandIns: what a component was compiled with is not in the record.
func TestAJudgedReportKeepsItsStandIns(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{})
	saved, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	saved.Cells[1].StandIns = []string{"kubelet with m@v1"}
	if _, err := finish(t.Context(), p.Dir, saved); err != nil {
		t.Fatal(err)
	}
	judged, err := Catalog{}.Judge(t.Context(), p.Dir, []string{"a.yaml", "b.yaml"}, Place{Dir: p.Dir})
	if err != nil || len(judged.Cells[0].StandIns) > 0 || !slices.Equal(judged.Cells[1].StandIns, saved.Cells[1].StandIns) {
		t.Errorf("the cells have %q and %q, error %v", judged.Cells[0].StandIns, judged.Cells[1].StandIns, err)
	}
}

// TestACopyThatIsJudgedHasItsRunsWhereItSays: a run that was broken off has left a gap.
func TestACopyThatIsJudgedHasItsRunsWhereItSays(t *testing.T) {
	p := newPlayed(t, twoCells(t), Options{Repeat: 3})
	p.runner.round = func(ctx context.Context, number, parallel int, cells []plan.Cell, tell func(engine.Progress)) error {
		return p.round(ctx, number, parallel, cells, func(news engine.Progress) {
			if news.Result != nil && (news.Cell.ID == "mine/pods/a") == (number == 2) {
				news.Result.Unfinished = true
			}
			tell(news)
		})
	}
	if _, err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := (Catalog{}).Judge(t.Context(), p.Dir, []string{"a.yaml", "b.yaml"}, Place{Dir: "copy"}); err != nil {
		t.Fatal(err)
	}
	judged, err := ReadReport("copy")
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][]int{"mine/pods/a": {1, 3}, "mine/pods/b": {2}} {
		var numbers []int
		for _, run := range p.cell(t, judged, id).EachRun() {
			numbers = append(numbers, run.Number)
			if _, err := os.Stat(filepath.Join("copy", filepath.FromSlash(run.Dir), reports.HistoryFile)); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(numbers, want) {
			t.Errorf("%s has the runs %v, want %v", id, numbers, want)
		}
	}
}

func TestDraftsAreNotWrittenAllTheTime(t *testing.T) {
	t.Parallel()
	news, drafts := make(chan struct{}, 1), make(chan int, 10)
	n := 0
	stop := keep(news, func() error {
		n++
		drafts <- n
		return nil
	})
	news <- struct{}{}
	<-drafts
	news <- struct{}{} // while it pauses
	stop()
	if n != 1 {
		t.Errorf("%d drafts, of which one was too soon", n)
	}
}

// BenchmarkDraft writes a report of 2000 cells, as is done while they run.
func BenchmarkDraft(b *testing.B) {
	s, err := newRunner(nil, Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 2000 {
		result := reports.Cell{ID: fmt.Sprintf("area/group/cell:%d", i), DurationSeconds: 1}
		for c := range 8 {
			result.Checks = append(result.Checks, reports.Check{ID: fmt.Sprint("check-", c), Outcome: reports.Pass, Expected: strings.Repeat("e", 80), Observed: strings.Repeat("o", 80)})
		}
		s.cells = append(s.cells, plan.Cell{ID: result.ID})
		s.progress(1, engine.Progress{Result: &result})
	}
	for b.Loop() {
		if err := s.draft(); err != nil {
			b.Fatal(err)
		}
	}
}
