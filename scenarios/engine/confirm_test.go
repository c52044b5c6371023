package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/check"
)

func TestACellThatIsNotRedAgain(t *testing.T) {
	t.Parallel()
	const beside = "beside other cells it was not as expected (record: shared/x): wire: new"
	for name, tc := range map[string]struct {
		alone reports.Cell
		want  reports.Outcome
		why   string
	}{
		"passed alone": {
			reports.Cell{Outcome: reports.Pass}, reports.HarnessError,
			"alone, the cell is as expected (record: cells/x); " + beside,
		},
		"broken off alone": {
			reports.Cell{Outcome: reports.Unknown, Unfinished: true, Reason: "broken off: interrupt"}, reports.Unknown,
			"alone, the cell did not run to its end: broken off: interrupt; " + beside,
		},
	} {
		got := unconfirmed(tc.alone, "cells/x", beside)
		if got.Outcome != tc.want || got.Reason != tc.why {
			t.Errorf("%s: %s: %s", name, got.Outcome, got.Reason)
		}
	}
}

// TestAnInterruptBeforeTheRunAlone: what was red beside other cells is not confirmed then, and is
// unknown. A cell that was not red, or was broken off itself, stays as it is.
func TestAnInterruptBeforeTheRunAlone(t *testing.T) {
	t.Parallel()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	programs, err := Compile(cells[:1])
	if err != nil {
		t.Fatal(err)
	}
	const history = "the record of the run beside others"
	for name, tc := range map[string]struct {
		beside, want reports.Cell
		moved        bool
	}{
		"red": {
			beside: reports.Cell{Outcome: reports.Fail, Checks: []reports.Check{{ID: "wire", Outcome: reports.Fail}}},
			want:   reports.Cell{Outcome: reports.Unknown, Unfinished: true, Reason: "not run: interrupt; beside other cells it was not as expected (record: "}, moved: true,
		},
		"passed":     {beside: reports.Cell{Outcome: reports.Pass}, want: reports.Cell{Outcome: reports.Pass}},
		"broken off": {beside: reports.Cell{Outcome: reports.Unknown, Unfinished: true, Reason: "there"}, want: reports.Cell{Outcome: reports.Unknown, Unfinished: true, Reason: "there"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancelCause(t.Context())
			interrupt(errors.New("interrupt"))
			dir, id := t.TempDir(), cells[0].ID
			at := filepath.Join(CellDir(dir, id), reports.HistoryFile)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(history), 0o644)); err != nil {
				t.Fatal(err)
			}
			red := func(c reports.Cell) bool { return !c.Unfinished && c.Outcome != reports.Pass }
			tc.beside.Started, tc.beside.DurationSeconds = time.Unix(1, 0), 60
			b := &batch{
				Engine: &Engine{Dir: dir, Unexpected: red}, on: new(fakeProvider), cells: cells[:1], programs: []*check.Program{programs[0]},
				results: []reports.Cell{tc.beside}, room: semaphore.NewWeighted(wholeRig),
			}
			b.confirm(ctx, 0)
			if got := b.results[0]; got.Outcome != tc.want.Outcome || got.Unfinished != tc.want.Unfinished || !strings.Contains(got.Reason, tc.want.Reason) {
				t.Errorf("%s, unfinished %t: %s", got.Outcome, got.Unfinished, got.Reason)
			} else if got.Started != tc.beside.Started || got.DurationSeconds != 60 {
				t.Errorf("began at %s, %g s: as if nothing had run", got.Started, got.DurationSeconds)
			}
			if tc.moved { // so that no reader takes it for the record of the cell
				at = filepath.Join(SharedDir(dir, id), reports.HistoryFile)
			}
			if text, err := os.ReadFile(at); err != nil || string(text) != history {
				t.Errorf("%s: %q, %v", at, text, err)
			}
		})
	}
}
