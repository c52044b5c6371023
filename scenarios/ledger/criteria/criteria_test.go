package criteria

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

func requirements(t *testing.T) []reports.Requirement {
	t.Helper()
	all, err := ledger.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func enhancements(t *testing.T) []graduation.Enhancement {
	t.Helper()
	all, err := Enhancements(requirements(t))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plannedOnce plans the catalog, which takes a second.
var plannedOnce = sync.OnceValues(func() ([]evidence.Planned, error) {
	cells, err := catalog.Cells()
	return Planned(cells), err
})

func planned(t *testing.T) []evidence.Planned {
	t.Helper()
	cells, err := plannedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// everything is what runs of the whole catalog would be if all checks held, on
// each of so many days.
func everything(t *testing.T, days int) []evidence.Run {
	t.Helper()
	var runs []evidence.Run
	for day := range days {
		run := evidence.Run{Dir: fmt.Sprintf("day-%d", day), Facts: make(map[string]evidence.Facts)}
		for _, p := range planned(t) {
			c := reports.Cell{ID: p.ID, Scenario: p.Scenario, Axes: p.Axes, Outcome: reports.Pass, Requirements: p.Requirements,
				Started: time.Date(2026, 11, 1+day, 0, 0, 0, 0, time.UTC)}
			for i, id := range p.Requirements {
				c.Checks = append(c.Checks, reports.Check{ID: fmt.Sprintf("check-%d", i), Requirement: id, Outcome: reports.Pass})
			}
			run.Report.Cells = append(run.Report.Cells, c)
			run.Facts[p.ID] = p.Facts
		}
		runs = append(runs, run)
	}
	return runs
}

// changed are runs with their cells changed: those for which it returns false are
// left out.
func changed(runs []evidence.Run, change func(*reports.Cell) bool) []evidence.Run {
	runs = slices.Clone(runs)
	for i, run := range runs {
		runs[i].Report.Cells = nil
		for _, c := range run.Report.Cells {
			c.Checks = slices.Clone(c.Checks)
			if change(&c) {
				runs[i].Report.Cells = append(runs[i].Report.Cells, c)
			}
		}
	}
	return runs
}

func verdict(t *testing.T, e graduation.Enhancement, c graduation.Criterion, runs []evidence.Run) graduation.Verdict {
	t.Helper()
	e.Criteria = []graduation.Criterion{c}
	verdicts := graduation.Judge(e, c.Stage, runs, planned(t)).Verdicts
	return verdicts[len(verdicts)-1] // behind what is said of the stage before
}

// parts are the criteria that have one of the things that decide it each, and
// nothing else.
func parts(c graduation.Criterion) (all []graduation.Criterion) {
	bare := graduation.Criterion{ID: c.ID, Stage: c.Stage, Older: c.Older}
	for _, id := range c.Requirements {
		one := bare
		one.Requirements = []string{id}
		all = append(all, one)
	}
	if c.Cells != nil {
		for _, p := range c.Cells.Match {
			one := bare
			one.Cells = &graduation.Cells{Match: []cellid.Pattern{p}}
			all = append(all, one)
		}
		for _, v := range c.Cells.Releases {
			one := bare
			one.Cells = &graduation.Cells{Match: c.Cells.Match, Releases: []string{v}}
			all = append(all, one)
		}
	}
	if c.Repeated != nil {
		for _, p := range c.Repeated.Match {
			one := bare
			one.Repeated = &graduation.Repeated{Match: []cellid.Pattern{p}, Runs: c.Repeated.Runs, Days: c.Repeated.Days}
			all = append(all, one)
		}
	}
	return all
}

// concerns reports whether a cell is evidence of a part.
func concerns(c graduation.Criterion, cell reports.Cell) bool {
	for _, id := range c.Requirements {
		if slices.Contains(cell.Requirements, id) {
			return true
		}
	}
	matches := func(p cellid.Pattern) bool { return p.Match(cell.ID) }
	return c.Cells != nil && slices.ContainsFunc(c.Cells.Match, matches) || c.Repeated != nil && slices.ContainsFunc(c.Repeated.Match, matches)
}

// TestEachCriterionCanBeMetAndUnmet: if the whole catalog ran and passed, each
// part of each criterion is met. Without its evidence there is none, with a command that
// would run it, and it is contradicted when a check of it is a known deviation.
func TestEachCriterionCanBeMetAndUnmet(t *testing.T) {
	t.Parallel()
	whole := everything(t, 14)
	for _, e := range enhancements(t) {
		all := changed(whole, func(c *reports.Cell) bool { return e.Concerns(*c) })
		for _, c := range e.Criteria {
			for i, part := range parts(c) {
				name := fmt.Sprintf("%s, %s, part %d", e.KEP, c.ID, i)
				runs := all[:1]
				if part.Repeated != nil {
					runs = all
				}
				if v := verdict(t, e, part, runs); v.Status != graduation.Met {
					t.Errorf("%s: %s though everything passed: %+v %+v", name, v.Status, v.Missing, v.Against)
				}
				without := changed(runs, func(c *reports.Cell) bool { return !concerns(part, *c) })
				v := verdict(t, e, part, without)
				if v.Status != graduation.NoEvidence || len(v.Missing) == 0 || v.Missing[0].Command == "" {
					t.Errorf("%s: %s without its evidence: %+v", name, v.Status, v.Missing)
				}
				deviates := changed(runs, func(c *reports.Cell) bool {
					for i, check := range c.Checks {
						if len(part.Requirements) == 0 && concerns(part, *c) || slices.Contains(part.Requirements, check.Requirement) {
							c.Checks[i].Outcome, c.Outcome = reports.ExpectedFail, reports.ExpectedFail
						}
					}
					return true
				})
				if v := verdict(t, e, part, deviates); v.Status != graduation.Contradicted || len(v.Against) == 0 {
					t.Errorf("%s: %s though it deviates", name, v.Status)
				}
			}
			if c.Gap != "" {
				if v := verdict(t, e, c, all); v.Status != graduation.NoEvidence {
					t.Errorf("%s, %s: %s in spite of its gap", e.KEP, c.ID, v.Status)
				}
			}
			if c.Person != nil && c.Gap == "" {
				if v := verdict(t, e, c, all); v.Status != graduation.NeedsPerson {
					t.Errorf("%s, %s: %s, and not for a person", e.KEP, c.ID, v.Status)
				}
			}
			if len(parts(c)) == 0 && c.Person == nil && c.Gap == "" {
				t.Errorf("%s, %s: nothing decides it", e.KEP, c.ID)
			}
		}
	}
}

// TestNoCriterionAsksForTheImpossible: a release does all that a text says, but for one
// of two statements where it can't do both. Nothing contradicts a criterion then.
func TestNoCriterionAsksForTheImpossible(t *testing.T) {
	t.Parallel()
	requirements, err := ledger.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	contradicts := make(map[string]bool)
	for _, q := range requirements {
		contradicts[q.ID] = len(q.Contradicts) > 0
	}
	readings, ambiguous := reports.ReadingsOf(requirements), 0
	possible := changed(everything(t, 14), func(c *reports.Cell) bool {
		for i, check := range c.Checks {
			if contradicts[check.Requirement] {
				c.Checks[i].Outcome, c.Outcome = reports.ExpectedFail, reports.ExpectedFail
			}
		}
		*c = readings.Judge(*c)
		return true
	})
	for _, e := range enhancements(t) {
		for _, c := range e.Criteria {
			for _, part := range parts(c) {
				switch v := verdict(t, e, part, possible); v.Status {
				case graduation.Ambiguous:
					ambiguous++
				case graduation.Met:
				default:
					t.Errorf("%s, %s: %s, against it %+v", e.KEP, c.ID, v.Status, v.Against)
				}
			}
		}
	}
	if ambiguous == 0 {
		t.Error("nothing is ambiguous: this test proves nothing")
	}
}

// TestEveryStageHasCriteria of the KEP's own, and of the template.
func TestEveryStageHasCriteria(t *testing.T) {
	t.Parallel()
	for _, e := range enhancements(t) {
		for _, stage := range graduation.Stages() {
			for _, prefix := range []string{e.KEP + "/", "template/"} {
				if !slices.ContainsFunc(e.Criteria, func(c graduation.Criterion) bool { return c.Stage == stage && strings.HasPrefix(c.ID, prefix) }) {
					t.Errorf("%s has no criterion %s for %s", e.KEP, prefix, stage)
				}
			}
		}
	}
}

// TestReleased: what the tables say of a gate. That the releases follow the milestones is for graduate to say.
func TestReleased(t *testing.T) {
	t.Parallel()
	for v, want := range map[release.Version]graduation.Released{
		"v1.36.0": {Release: "v1.36.0"},
		"v1.37.0": {Release: "v1.37.0", Stage: "alpha"},
	} {
		if got, err := Released("GRPCContainerProbeTLS", v); err != nil || got == nil || *got != want {
			t.Errorf("%s: %+v, %v", v, got, err)
		}
	}
	if got, err := Released("GRPCContainerProbeTLS", "v1.99.0"); err != nil || got != nil {
		t.Errorf("a release without a table: %+v, %v", got, err)
	}
}

var (
	yesOrNo   = regexp.MustCompile(`^(Does|Can|Are|Were|Is|Will) |\. Can |\? Can `)
	begins    = regexp.MustCompile(`^(Yes|No|Open)\. `)
	elsewhere = regexp.MustCompile(`KEP-\d+/|\bdocs/|\(see `)
)

// TestNoAnswerRestsOnWhatDoesNotHold: each is open if one of its statements deviates.
func TestNoAnswerRestsOnWhatDoesNotHold(t *testing.T) {
	t.Parallel()
	for _, e := range enhancements(t) {
		runs := changed(everything(t, 1), func(c *reports.Cell) bool { return e.Concerns(*c) })
		for _, q := range e.Questions {
			for _, id := range q.By {
				deviates := changed(runs, func(c *reports.Cell) bool {
					for i, check := range c.Checks {
						if check.Requirement == id {
							c.Checks[i].Outcome = reports.ExpectedFail
						}
					}
					return true
				})
				for _, a := range prr.Answers(e, requirements(t), deviates, planned(t)).Answers {
					if a.Question == q.Question && a.Answer != prr.OpenContradicted {
						t.Errorf("%s does not hold, and the answer to %q is %q", id, q.Question, a.Answer)
					}
				}
			}
		}
	}
}

// TestEveryQuestionIsAnsweredOrLeftOpen: each question of the questionnaire has a
// statement in each ledger that has criteria, and no ledger asks another one.
func TestEveryQuestionIsAnsweredOrLeftOpen(t *testing.T) {
	t.Parallel()
	var asked []string
	for _, s := range prr.Questionnaire() {
		asked = append(asked, s.Questions...)
	}
	for _, q := range requirements(t) {
		if q.PRR != "" && !slices.Contains(asked, q.PRR) {
			t.Errorf("%s answers %q, which the questionnaire does not ask", q.ID, q.PRR)
		}
	}
	for _, e := range enhancements(t) {
		for _, q := range e.Questions {
			if !slices.Contains(asked, q.Question) {
				t.Errorf("%s: %q is not in the questionnaire", e.KEP, q.Question)
			}
			for _, p := range q.Match {
				if !slices.ContainsFunc(planned(t), func(c evidence.Planned) bool { return p.Match(c.ID) }) {
					t.Errorf("%s: %s matches no cell", e.KEP, p)
				}
			}
		}
		for _, a := range prr.Answers(e, requirements(t), everything(t, 1), planned(t)).Answers {
			if len(a.Statements) == 0 {
				t.Errorf("%s: nothing is said of %q", e.KEP, a.Question)
			}
			if i := slices.IndexFunc(e.Questions, func(q graduation.Question) bool { return q.Question == a.Question }); i < 0 || e.Questions[i].Answer != a.Answer {
				t.Errorf("%s: %q is answered by %q though everything passed", e.KEP, a.Question, a.Answer)
			}
			if yesOrNo.MatchString(a.Question) && !begins.MatchString(a.Answer) {
				t.Errorf("%s: %q is not answered by %q", e.KEP, a.Question, a.Answer)
			}
			for _, s := range a.Statements {
				if elsewhere.MatchString(s.Text + s.Why) {
					t.Errorf("%s: %q %q names what the answers don't have", e.KEP, s.Text, s.Why)
				}
				if s.Says != prr.Holds && s.Says != prr.ForPerson && s.Says != prr.NotShown {
					t.Errorf("%s: %q %s though everything passed", e.KEP, s.Text, s.Says)
				}
			}
		}
	}
}

// TestNothingIsClaimedWithoutCells: without runs no statement holds, and each that
// a run would show has the command.
func TestNothingIsClaimedWithoutCells(t *testing.T) {
	t.Parallel()
	for _, e := range enhancements(t) {
		r := prr.Answers(e, requirements(t), nil, planned(t))
		for _, a := range r.Answers {
			for _, s := range a.Statements {
				if s.Says == prr.Holds || s.Says == prr.DoesNotHold || s.Says == prr.NotRun && s.Command == "" {
					t.Errorf("%s: %q %s, with the command %q", e.KEP, s.Text, s.Says, s.Command)
				}
			}
			if !strings.HasPrefix(a.Answer, "Open. ") {
				t.Errorf("%s: %q is answered by %q", e.KEP, a.Question, a.Answer)
			}
			if !open(a) {
				t.Errorf("%s: %q is not open", e.KEP, a.Question)
			}
		}
		if len(r.Cells) > 0 || len(r.Programs) > 0 {
			t.Errorf("%s: %+v", e.KEP, r.Cells)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	all := enhancements(t)
	for _, kep := range []string{"kep-4939", "KEP-4939", "4939"} {
		if e, err := Find(all, kep); err != nil || e.KEP != "KEP-4939" {
			t.Errorf("%s: %s, %v", kep, e.KEP, err)
		}
	}
	if _, err := Find(all, "kep-1"); err == nil || !strings.Contains(err.Error(), "kep-4188, kep-4939, kep-5999") {
		t.Errorf("the error is %v", err)
	}
}

// TestMistakesAreReported: all of them at once, each with its place.
func TestMistakesAreReported(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, name := range []string{templateFile, "kep-1.yaml", "kep-2.yaml"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	_, err := load(files, []reports.Requirement{
		{ID: "KEP-1/a", KEP: "KEP-1", Level: "core", Stage: "alpha"},
		{ID: "KEP-1/by-hand", KEP: "KEP-1", Manual: "a reviewer looks"},
		{ID: "KEP-3/b", KEP: "KEP-3"},
	})
	got := fmt.Sprintln(err)
	golden.Check(t, "testdata/mistakes.txt", got)
}

// open reports whether an answer leaves something to a person: a statement that no
// run can show or that none has shown, or no statement at all.
func open(a prr.Answer) bool {
	return len(a.Statements) == 0 || slices.ContainsFunc(a.Statements, func(s prr.Statement) bool { return s.Says != prr.Holds && s.Says != prr.DoesNotHold })
}
