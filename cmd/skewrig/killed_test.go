package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/engine"
)

var (
	kills    = flag.Int("kills", 3, "how many runs are killed")
	killSeed = flag.Uint64("kill-seed", 0, "what decides when they are; 0 is a new seed")
)

// momentLimit is how long a run may take until it has come to a moment, and goneLimit how long
// it may take then until nothing is left of it.
const momentLimit, goneLimit = 5 * time.Minute, time.Minute

// moment is when a run is killed.
type moment struct {
	name  string
	files []string // the scenarios that are run
	// random returns what reports whether the moment has come.
	random func(*victim, *rand.Rand) func() bool
	// missed reports whether what was to be interrupted had ended.
	missed func(*victim) bool
	// programs are some that run at that moment.
	programs []string
}

var moments = []moment{
	{
		name: "while the control plane starts", files: []string{"short.yaml", "long.yaml"},
		random: func(v *victim, random *rand.Rand) func() bool {
			logged := random.Int64N(10_000)
			return func() bool { return v.logged("kube-apiserver") > logged }
		},
		missed:   (*victim).begun,
		programs: []string{"etcd", "kube-apiserver", "sh"},
	},
	{
		name: "while cells run", files: []string{"short.yaml", "long.yaml"},
		random: func(v *victim, random *rand.Rand) func() bool {
			restarts := random.IntN(6)
			return func() bool { return v.decided() > 0 && v.starts("killed/cells/long/cell:e") > restarts }
		},
		missed:   func(*victim) bool { return false },
		programs: []string{"etcd", "kube-apiserver", "kubelet", "sh"},
	},
	{
		name: "while the report is written", files: []string{"short.yaml"},
		random: func(v *victim, _ *rand.Rand) func() bool {
			return func() bool { return v.wrote(render.JUnitFile) }
		},
		missed: func(v *victim) bool { return v.wrote(page.Name) },
	},
}

// TestAKilledRun: whenever it is, no process and no directory is left, and the cells that
// were decided are in the report.
func TestAKilledRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64() //nolint:gosec // it need not be secret
	}
	t.Logf("-kills=%d -kill-seed=%d", *kills, seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same again, for the same seed
	program := compiled(t)
	for i := range *kills {
		m := moments[i%len(moments)]
		t.Run(fmt.Sprint(i+1, " ", m.name), func(t *testing.T) {
			v := killed(t, program, m, random)
			v.expectNothingLeft(t)
			v.expectReport(t, m)
		})
	}
}

// attempts are how many runs may miss their moment.
const attempts = 5

// killed is a run that was killed at a moment.
func killed(t *testing.T, program string, m moment, random *rand.Rand) (v *victim) {
	t.Helper()
	for range attempts {
		v = startVictim(t, program, m.files)
		reached := m.random(v, random)
		if !await.Until(t.Context(), momentLimit, func() bool { return reached() || v.hasEnded() }) {
			t.Fatalf("waited %s for the moment; it said:\n%s", momentLimit, v.said(t))
		}
		running := v.programs(t)
		v.before = v.report(t)
		if !v.kill(t) || m.missed(v) {
			continue
		}
		for _, program := range m.programs {
			if !slices.Contains(running, program) {
				t.Errorf("%s is not among what ran: %q", program, running)
			}
		}
		return v
	}
	t.Fatalf("%d runs missed it; the last one said:\n%s", attempts, v.said(t))
	return nil
}

// expectNothingLeft expects that all processes end and all directories go, as they do if
// skewrig itself ends them.
func (v *victim) expectNothingLeft(t *testing.T) {
	t.Helper()
	if !await.Until(t.Context(), goneLimit, func() bool { return len(v.programs(t)) == 0 }) {
		t.Errorf("these run on: %q", v.programs(t))
	}
	left := func() []os.DirEntry {
		entries, err := os.ReadDir(v.temp)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	if !await.Until(t.Context(), goneLimit, func() bool { return len(left()) == 0 }) {
		t.Errorf("these are left: %v", left())
	}
	if _, said := v.skewrig(t, "cluster", "list", "-o", "json"); said != "[]\n" {
		t.Errorf("these are listed: %s", said)
	}
}

// expectReport expects that the report has what was decided, and that it can be judged again:
// then it has all cells that had ended.
func (v *victim) expectReport(t *testing.T, m moment) {
	t.Helper()
	text := v.print(t, "report", v.dir, "-o", "json")
	for _, cell := range v.before.Cells {
		if now := cellOf(t, text, cell.ID); !cell.Unfinished && now.Outcome != cell.Outcome {
			t.Errorf("%s was %s, and is %s", cell.ID, cell.Outcome, now.Outcome)
		}
	}
	judged := v.print(t, append([]string{"report", "judge", v.dir, "-o", "json"}, m.files...)...)
	if len(judged.Cells) != len(v.before.Cells) {
		t.Errorf("%d cells were judged, want %d", len(judged.Cells), len(v.before.Cells))
	}
	for _, cell := range judged.Cells {
		want := reports.Unknown
		if v.ended(cell.ID) {
			want = reports.Pass
		}
		if cell.Outcome != want || cell.Unfinished != (want != reports.Pass) {
			t.Errorf("%s is judged %s, want %s", cell.ID, cell.Outcome, want)
		}
	}
}

func cellOf(t *testing.T, report reports.Report, id string) reports.Cell {
	t.Helper()
	i := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("%s is not in the report", id)
	}
	return report.Cells[i]
}

// ended reports whether a cell's record says how it ended.
func (v *victim) ended(cell string) bool {
	events, _ := engine.History(v.dir, cell, 1) // there may be none
	for range record.All[record.CellEnded](events) {
		return true
	}
	return false
}

// report is the report as it is.
func (v *victim) report(t *testing.T) reports.Report {
	t.Helper()
	report, err := app.ReadReport(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
