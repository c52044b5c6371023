package saved

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/record"
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
		facts, err := read(filepath.Join(dir, filepath.FromSlash(reports.RunDir(c.ID, 1))))
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

func read(dir string) (evidence.Facts, error) {
	history, err := os.Open(filepath.Join(dir, reports.HistoryFile))
	if err != nil {
		return evidence.Facts{}, err
	}
	defer history.Close()
	events, err := record.Read(history)
	if err != nil {
		return evidence.Facts{}, err
	}
	facts := facts(events)
	plan, _, err := planned(dir)
	facts.Steps = stepsOf(plan)
	return facts, err
}

// facts are what events say.
func facts(events []record.Event) evidence.Facts {
	return evidence.Facts{Components: components(events), Traffic: traffic(events)}
}

func components(events []record.Event) []evidence.Component {
	var all []evidence.Component
	for e, started := range record.All[record.ComponentStarted](events) {
		i := slices.IndexFunc(all, func(c evidence.Component) bool { return c.Name == e.Subject })
		if i < 0 {
			i = len(all)
			all = append(all, evidence.Component{Name: e.Subject})
		}
		all[i].Started(evidence.Start{Version: string(started.Version), Digest: started.Digest, Gates: started.Gates})
	}
	return all
}

func traffic(events []record.Event) evidence.Traffic {
	var t evidence.Traffic
	containers := make(map[string]bool)
	for e, c := range record.All[record.Connection](events) {
		containers[e.Subject] = true
		t.Connections++
		t.Requests += len(c.Requests) + c.DroppedRequests
	}
	t.Containers = len(containers)
	for _, e := range events { // by kind: pods need not be decoded to be counted
		switch e.Kind {
		case record.APIAnswer{}.EventKind():
			t.APICalls++
		case record.PodsAnswer{}.EventKind(), record.PodsPolled{}.EventKind(), record.PodsEvent{}.EventKind():
			t.PodsAPIAnswers++
		}
	}
	return t
}
