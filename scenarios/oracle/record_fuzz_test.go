package oracle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/fuzzing"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/narrate/saved"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/explain"
	"github.com/skewrig/skewrig/scenarios/oracle"
	"github.com/skewrig/skewrig/scenarios/plan"
)

const (
	examples = "../../docs/examples"
	// maxLine is the longest event that the fuzzer starts from, in bytes.
	maxLine = 2500
)

// FuzzRecord judges and narrates records and plans that others have written.
func FuzzRecord(f *testing.F) {
	f.Add(false, oneOfEach(f), []byte(`{"format":1}`))
	for i, name := range []string{"older-kubelet", "upgrade"} {
		dir := filepath.Join(examples, "report", "cells", "mine", "payments", name)
		history, err := os.ReadFile(filepath.Join(dir, reports.HistoryFile))
		if err != nil {
			f.Fatal(err)
		}
		plan, err := os.ReadFile(filepath.Join(dir, reports.PlanData))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i == 1, history, plan)
		f.Add(i == 1, renumbered(slices.DeleteFunc(bytes.SplitAfter(history, []byte("\n")), func(line []byte) bool { return len(line) > maxLine })), plan)
	}
	planned := []judge{newJudge(f, "older-kubelet.yaml"), newJudge(f, "upgrade.yaml")}
	planned[0].all(f, oneOfEach(f), nil) // what is read once in a process is no input's cost
	f.Fuzz(func(t *testing.T, upgrade bool, history, plan []byte) {
		cell := planned[0]
		if upgrade {
			cell = planned[1]
		}
		fuzzing.Limited(t, func() {
			cell.all(t, history, plan)
			cell.all(t, renumbered(bytes.SplitAfter(history, []byte("\n"))), plan)
		})
	})
}

// oneOfEach is a record with an event of each kind that holds nothing.
func oneOfEach(f *testing.F) []byte {
	f.Helper()
	var b bytes.Buffer
	h := record.NewHistory(&b)
	for _, p := range record.Payloads() {
		h.Append("cluster", "kubelet/node-a", p)
	}
	if err := h.Err(); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

// renumbered is a record of those lines that are events.
func renumbered(lines [][]byte) []byte {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	seq := 0
	for _, line := range lines {
		var e record.Line
		if json.Unmarshal(line, &e) == nil && len(e.Data) > 0 {
			seq++
			e.Seq, e.Format = seq, 0
			_ = out.Encode(e)
		}
	}
	return b.Bytes()
}

// judge judges records of a cell.
type judge struct {
	cell    plan.Cell
	program *check.Program
}

func newJudge(f *testing.F, scenario string) judge {
	f.Helper()
	files, err := action.Load(os.DirFS(filepath.Join(examples, "payments")), []string{scenario})
	if err != nil {
		f.Fatal(err)
	}
	cells, err := plan.Cells(files)
	if err != nil {
		f.Fatal(err)
	}
	program, err := check.Compile(cells[0])
	if err != nil {
		f.Fatal(err)
	}
	return judge{cells[0], program}
}

// all fails a test if a record is judged in two ways, or narrated in words that no page can show.
func (j judge) all(tb testing.TB, history, plan []byte) {
	tb.Helper()
	dir := tb.TempDir()
	in := filepath.Join(dir, filepath.FromSlash(reports.RunDir(j.cell.ID, 1)))
	if err := os.MkdirAll(in, 0o700); err != nil {
		tb.Fatal(err)
	}
	for name, text := range map[string][]byte{reports.HistoryFile: history, reports.PlanData: plan} {
		if err := os.WriteFile(filepath.Join(in, name), text, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	events, _ := record.Read(bytes.NewReader(history))
	result := j.result(events)
	if diff := cmp.Diff(result, j.result(events)); diff != "" {
		tb.Errorf("judged again, the cell is another one:\n%s", diff)
	}
	const limit = 64 << 10
	text, err := json.Marshal(saved.Narration(dir, result, 1, limit, explained))
	if err != nil || !utf8.Valid(text) {
		tb.Errorf("the narration is %q: %v", text, err)
	}
	report, err := reports.Assemble([]reports.Cell{result}, nil, reports.Reproduce{})
	if err != nil {
		tb.Fatal(err)
	}
	_, _ = saved.Run(dir, report, func(reports.Cell) bool { return true })
}

// result judges events as a run does.
func (j judge) result(events []record.Event) reports.Cell {
	verdict := check.Judge(context.Background(), j.program, events)
	always, observed := oracle.Look(j.cell, events)
	for i := range always {
		always[i].Requirement = ""
	}
	return reports.Cell{
		ID: j.cell.ID, Scenario: j.cell.Scenario, Axes: j.cell.Axes, Outcome: verdict.Outcome, Reason: verdict.Reason,
		Checks: append(verdict.Checks, check.Trusted(events, always)...), Observed: observed, Leases: reports.LeasesOf(events), Started: time.Unix(0, 0),
	}.Settled()
}

// explain has a narration explain each check.
func explained(in *narrate.Input) {
	in.Attempts = oracle.Attempts(in.Events)
	explain.Checks(context.Background(), in)
}
