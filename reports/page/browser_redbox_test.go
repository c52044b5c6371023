package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/page"
)

// redAs is the small run with the red cell and its narration changed.
func redAs(changeCell func(*reports.Cell), change func(*narrate.Narration)) page.Run {
	run := small()
	at := slices.IndexFunc(run.Report.Cells, func(c reports.Cell) bool { return c.ID == page.Red })
	changeCell(&run.Report.Cells[at])
	run.Narration = func(c reports.Cell, of reports.Run, limit int) (*narrate.Narration, error) {
		n, err := page.MadeNarration(c, of, limit)
		if err == nil && c.ID == page.Red {
			change(n)
		}
		return n, err
	}
	return run
}

// TestChecksOfOneFailureAreOne on the first screen, in the red box and in the draft, with the
// names of both.
func TestChecksOfOneFailureAreOne(t *testing.T) {
	run := redAs(func(c *reports.Cell) { c.Checks[1].Outcome = reports.Fail }, func(n *narrate.Narration) { n.Checks[1].Same = n.Checks[0].ID })
	b := newTab(t, 1280)
	file := written(t, run)
	b.open(file, "")
	if n := eval[int](b, "document.querySelector('#overview .needs').querySelectorAll('.check').length"); n != 1 {
		t.Errorf("the first screen has %d checks for one failure", n)
	}
	b.has("#overview .needs", "For the same failure: one-pod")
	b.open(file, red)
	if n := len(b.texts("#cell .causes > .cause-of")); n != 1 {
		t.Errorf("the cell has %d boxes for one failure", n)
	}
	b.has("#cell .cause-of h2", "restarts-end and one-pod")
	b.has("#cell .causes", "These 2 checks fail for one failure.")
	b.has("#cell .causes", "An upgrade leaves other containers alone.")
	b.click("#cell .causes .preview summary")
	b.until("document.querySelector('#cell .causes .draft').textContent.includes('For the same failure: `one-pod`.')")
	b.quiet()
}

// TestTimesThatWouldReadTheSame have milliseconds: in the history of a field, and in what is
// said of the check.
func TestTimesThatWouldReadTheSame(t *testing.T) {
	run := redAs(func(*reports.Cell) {}, func(n *narrate.Narration) {
		c := &n.Checks[0]
		c.From, c.Bad, c.To = 30.91, 30.948, 31
		c.History = []narrate.Line{{At: 7, Text: "TLS", What: "kube-apiserver"}, {At: 30.92, Text: "none", What: "kube-apiserver"}, {At: 30.948, Text: "not set", What: "written", Tone: narrate.Bad}}
	})
	b := newTab(t, 1280)
	b.open(written(t, run), red)
	for _, want := range []string{"7.0 s TLS", "30.920 s none", "30.948 s not set"} {
		b.has("#cell .causes .history", want)
	}
	for _, want := range []string{"decided at 31.0 s", "the field was lost at 30.948 s", "the window began at 30.910 s"} {
		b.has("#cell .short", want)
	}
	b.has("#cell .checks", "30.9–31.0 s")
	b.quiet()
}

// TestTheRedBoxSaysWhatLedToIt: in time, with milliseconds, from the step of the scenario on.
func TestTheRedBoxSaysWhatLedToIt(t *testing.T) {
	run := redAs(func(*reports.Cell) {}, func(n *narrate.Narration) {
		n.Checks[0].Named = reports.Names{{Variable: "connections", Text: "tls/app", Object: "pods/default/tls", Container: "app"}}
		for i := range n.Attempts {
			n.Attempts[i].Tone = narrate.Bad
		}
	})
	b := newTab(t, 1280)
	b.open(written(t, run), red)
	if got := b.texts("#cell .causes .led li"); len(got) < 3 || !strings.HasPrefix(got[0], "6.000 s step 1: create Pod tls; this was the last step before it went wrong") || !strings.HasPrefix(got[1], "7.000 s default/tls/app, readiness grpc :8080: ") {
		t.Errorf("what led to it is %q", got)
	}
	b.shot("red-box")
	b.quiet()
}

// TestTheRedBoxSaysThatTheModelAgrees, if a check against a model passes that looks at what the
// failed check looks at.
func TestTheRedBoxSaysThatTheModelAgrees(t *testing.T) {
	for oracle, want := range map[string]bool{"oracle:wire-mode": true, "oracle:field-survival": false, "oracle:nothing-else-changes": false} {
		run := redAs(func(c *reports.Cell) {
			c.Checks = append(c.Checks, reports.Check{ID: oracle, Outcome: reports.Pass, Expected: "as the model predicts"})
		}, func(n *narrate.Narration) { n.Checks[0].Models = []string{"oracle:wire-mode"} })
		b := newTab(t, 1280)
		b.open(written(t, run), red)
		const said = "oracle:wire-mode passes in this cell: the release behaves as the model of its code says, so the text of KEP-1 may have to change, and not the release."
		if got := strings.Contains(b.text("#cell .causes"), said); got != want {
			t.Errorf("with %s, the red box says it: %t, want %t", oracle, got, want)
		}
		b.quiet()
	}
}

// TestLogsOfNodes: where a log says nothing of nodes, the page says so and shows how they
// changed; a decision from before the step that led to the failure is not folded.
func TestLogsOfNodes(t *testing.T) {
	run := redAs(func(*reports.Cell) {}, func(n *narrate.Narration) {
		n.Logs[0].Lines = append([]narrate.Line{{At: 2, Text: "an early line", Named: true}, {At: 3, Text: "Lease probe succeeded", What: "the last good decision before the failure", Named: true}}, n.Logs[0].Lines...)
		n.Logs = append(n.Logs, narrate.Log{Component: "kube-controller-manager", Path: "p", Silent: "It logs nothing of nodes.", Nodes: []narrate.Line{{At: 18, Text: "node x: Ready was True, and is Unknown"}}})
	})
	b := newTab(t, 1280)
	b.open(written(t, run), red)
	const part = "#cell section[aria-labelledby=part-logs-around-the-failure]"
	for _, want := range []string{"It logs nothing of nodes.", "18.00 s\nnode x: Ready was True, and is Unknown", "Lease probe succeeded ← the last good decision before the failure"} {
		b.has(part, want)
	}
	if shown := b.text(part); strings.Contains(shown, "an early line") {
		t.Errorf("a line from before the step is not folded: %s", shown)
	}
	b.quiet()
}

// TestEachNumberSaysOfWhat: also those of attempts and of requirements.
func TestEachNumberSaysOfWhat(t *testing.T) {
	run := redAs(func(*reports.Cell) {}, func(n *narrate.Narration) { n.Attempts = append(n.Attempts, slices.Concat(n.Attempts, n.Attempts)...) })
	b := newTab(t, 1280)
	file := written(t, run)
	b.open(file, red)
	b.has("#cell section[aria-labelledby=part-probe-attempts]", "Show more of 12 attempts")
	b.open(file, "#requirements")
	b.has("#requirements", "4 of 4 requirements tested by this run")
	b.has("#requirements .worst", "statements that the ledger wants a check of")
	b.quiet()
}
