package skewtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// outcome is a test that says what became of it.
type outcome struct {
	testing.TB
	how, text string
	errors    []string
	cleanups  []func()
}

func (o *outcome) Helper()                         {}
func (o *outcome) Name() string                    { return "TestOfSomeone" }
func (o *outcome) Context() context.Context        { return context.Background() }
func (o *outcome) Cleanup(f func())                { o.cleanups = append(o.cleanups, f) }
func (o *outcome) Failed() bool                    { return o.how == "failed" || len(o.errors) > 0 }
func (o *outcome) Logf(format string, args ...any) { o.text += fmt.Sprintf(format, args...) + "\n" }
func (o *outcome) Errorf(format string, args ...any) {
	o.errors = append(o.errors, fmt.Sprintf(format, args...))
}
func (o *outcome) Skipf(format string, args ...any)  { o.end("skipped", format, args...) }
func (o *outcome) Fatalf(format string, args ...any) { o.end("failed", format, args...) }
func (o *outcome) Fatal(args ...any)                 { o.end("failed", "%s", fmt.Sprint(args...)) }

func (o *outcome) end(how, format string, args ...any) {
	o.how = how
	o.text += fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// run runs a test, and its cleanups.
func (o *outcome) run(test func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range slices.Backward(o.cleanups) {
				f()
			}
		}()
		test()
	}()
	<-done
}

// TestStory: what a failed test shows of a saved run, in which a kubelet was restarted.
func TestStory(t *testing.T) {
	t.Parallel()
	events, err := record.ReadFile("../app/testdata/readiness/history.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	log := narrate.LogFile{Component: "kubelet/node-a", Path: "logs/kubelet-node-a.log", Text: ""}
	n := narrate.Of(narrate.Input{Result: reports.Cell{Outcome: reports.Fail}, Events: events, Logs: func() []narrate.LogFile { return []narrate.LogFile{log} }})
	golden.Check(t, "testdata/story.txt", tell(n, ""))
	if other := tell(n, "elsewhere"); strings.Contains(other, "readiness") || !strings.Contains(other, "kubelet/node-a: v1") {
		t.Errorf("another namespace has:\n%s", other)
	}
}

// TestStoryLeavesOut: a long story has its end, and the errors of logs.
func TestStoryLeavesOut(t *testing.T) {
	t.Parallel()
	var n narrate.Narration
	lane := narrate.Lane{Name: "ns/web/app", Kind: narrate.Container}
	for i := range mostMoments + 2 {
		lane.Marks = append(lane.Marks, narrate.Mark{At: float64(i), Label: fmt.Sprint("exit ", i)}, narrate.Mark{At: float64(i), Label: fmt.Sprint("exit ", i), Detail: "why", Tone: narrate.Bad})
	}
	n.Lanes = []narrate.Lane{lane}
	n.Logs = []narrate.Log{{Component: "etcd", Path: "logs/etcd.log", Lines: []narrate.Line{
		{Text: "all is well"}, {Text: "E " + strings.Repeat("x", 2*mostText), Tone: narrate.Bad},
	}}}
	got := tell(n, "ns")
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != mostMoments+2 || lines[0] != "(2 earlier moments are left out)" || !strings.HasSuffix(lines[mostMoments], "ns/web/app: exit 31 (why)") {
		t.Errorf("it has %d lines:\n%s", len(lines), got)
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "  logs/etcd.log: E xxx") || len(last) > mostText+30 {
		t.Errorf("of the log there is %q", last)
	}
}

// TestTheRigOfASuiteThatFailed: a rig that something else than a test has started logs what
// happened to the test that fails, and its files stay for that.
func TestTheRigOfASuiteThatFailed(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(DirEnv, "")
	for _, fails := range []bool{false, true} {
		var dir string
		suite, spec := new(outcome), new(outcome)
		suite.run(func() {
			rig := Start(suite, Topology{ControlPlane: ControlPlane{ControllerManager: new(false), Scheduler: new(false)}})
			dir = rig.Dir()
			spec.run(func() {
				rig.Follow(spec)
				if fails {
					spec.Errorf("it is red")
				}
			})
		})
		if len(suite.errors) > 0 || dir == "" {
			t.Fatal(suite.errors, suite.text)
		}
		_, err := os.Stat(filepath.Join(dir, reports.HistoryFile))
		if kept := err == nil; kept != fails || strings.Contains(spec.text, dir) != fails {
			t.Errorf("failed %t, files kept %t, told:\n%s", fails, kept, spec.text)
		}
	}
}

// TestProblems: what a test says of cells that are not as expected.
func TestProblems(t *testing.T) {
	t.Parallel()
	red := reports.Check{ID: "stays-up", Requirement: "x/1", Outcome: reports.Fail, Expected: "== 0, always", Observed: "3"}
	for _, c := range []struct {
		cell reports.Cell
		want []string
	}{
		{reports.Cell{Outcome: reports.Pass, Checks: []reports.Check{{Outcome: reports.Pass}}}, nil},
		{reports.Cell{Outcome: reports.ExpectedFail, Checks: []reports.Check{{Outcome: reports.ExpectedFail}}}, nil},
		{reports.Cell{Outcome: reports.Fail, Checks: []reports.Check{{Outcome: reports.Pass}, red}}, []string{"fail stays-up (x/1)\n  observed: 3\n  expected: == 0, always"}},
		{reports.Cell{Outcome: reports.HarnessError, Reason: "the rig did not start"}, []string{"harness-error: the rig did not start"}},
	} {
		if got := problems(c.cell); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.cell.Outcome, got, c.want)
		}
	}
	got := new(outcome)
	judge(got, reports.Cell{ID: "mine/a/b", Outcome: reports.Fail, Checks: []reports.Check{red}})
	if len(got.errors) != 1 || !strings.HasPrefix(got.errors[0], "mine/a/b: fail stays-up") {
		t.Errorf("without subtests: %q", got.errors)
	}
}

// TestMistakesInScenarios: they end a test before anything is started.
func TestMistakesInScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range []Scenarios{{}, {Files: []string{"testdata/nowhere.yaml"}}, {Patterns: []string{"no/such/**"}}} {
		got := new(outcome)
		got.run(func() { s.Run(got) })
		if got.how != "failed" {
			t.Errorf("%+v: %q %s", s, got.how, got.text)
		}
	}
}
