package saved

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
)

// Run returns a report with the facts of those of its cells that are wanted. A
// cell without a record has no facts; one whose record can't be read is an error.
func Run(dir string, report reports.Report, wanted func(reports.Cell) bool) (evidence.Run, error) {
	run := evidence.Run{Dir: dir, Report: report, Facts: make(map[string]evidence.Facts)}
	var mistakes []error
	for _, c := range report.Cells {
		if !wanted(c) {
			continue
		}
		facts, err := read(dir, reports.RunDir(c.ID, 1))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			mistakes = append(mistakes, fmt.Errorf("reading the record of %s in %s: %w", c.ID, dir, err))
		default:
			run.Facts[c.ID] = facts
		}
	}
	return run, errors.Join(mistakes...)
}

// read reads the facts from the directory of a cell below a report directory.
func read(dir, cell string) (evidence.Facts, error) {
	history, err := files.OpenBelow(dir, path.Join(cell, reports.HistoryFile))
	if err != nil {
		return evidence.Facts{}, err
	}
	defer history.Close()
	events, err := record.Read(files.Limit(history, files.MaxHistory))
	if err != nil {
		return evidence.Facts{}, err
	}
	facts := facts(events)
	plan, _, err := planned(dir, cell)
	facts.Steps = stepsOf(plan)
	return facts, err
}

// facts are what events say. The components are in the order in which they were
// ready.
func facts(events []record.Event) evidence.Facts {
	t := timeline.Of(events)
	names := t.Components()
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(t.Lives(a)[0].Ready.Place, t.Lives(b)[0].Ready.Place) })
	f := evidence.Facts{Traffic: evidence.Traffic{Connections: len(t.Connections), APICalls: len(t.Answers)}}
	for _, name := range names {
		c := evidence.Component{Name: name}
		for _, l := range t.Lives(name) {
			c.Started(evidence.Start{Version: string(l.Version), EmulatedVersion: string(l.EmulatedVersion), Digest: l.Digest, Gates: l.Gates})
		}
		f.Components = append(f.Components, c)
	}
	containers := make(map[string]bool)
	for _, c := range t.Connections {
		containers[c.Container] = true
		f.Traffic.Requests += len(c.Requests) + c.DroppedRequests
	}
	f.Traffic.Containers = len(containers)
	f.Traffic.PodsAPIAnswers = podsAnswers(t)
	return f
}

func podsAnswers(t *timeline.Timeline) (n int) {
	for _, a := range t.PodsAnswers {
		for _, times := range a.Codes {
			n += times
		}
	}
	for _, w := range t.PodsWatches {
		n += len(w.Events)
	}
	for _, p := range t.PodsPolls {
		n += len(p.Views)
	}
	return n
}
