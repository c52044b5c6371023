package engine

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/record"
	"github.com/skewrig/skewrig/reports"
	tale "github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
	"github.com/skewrig/skewrig/scenarios/story"
)

// Stories tells the story of each cell of a report directory, in the order of the
// results. A cell that is not among the planned ones is told by its history
// alone. What of a cell can't be read is told as missing: a report of a run that
// was cut short has stories, too. Each is as long as the budget says, in bytes of
// JSON; if unset, story.DefaultBudget.
func Stories(dir string, results []reports.Cell, cells []plan.Cell, budget int) []tale.Story {
	planned := make(map[string]plan.Cell)
	for _, c := range cells {
		planned[c.ID] = c
	}
	all := make([]tale.Story, len(results))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				cell, known := planned[results[i].ID]
				if !known {
					cell.ID = results[i].ID
				}
				all[i] = Story(dir, cell, results[i], budget)
			}
		})
	}
	for i := range results {
		next <- i
	}
	close(next)
	workers.Wait()
	return all
}

// Story tells the story of one cell of a report directory: see Stories.
func Story(dir string, cell plan.Cell, result reports.Cell, budget int) tale.Story {
	from := CellDir(dir, cell.ID)
	events, err := readHistory(from)
	printed, _ := os.ReadFile(filepath.Join(from, planFile)) // it is printed again without
	logs, lost := troubleLogs(from, cell.ID, result, events)
	s := story.Of(story.Input{Cell: cell, Result: result, Plan: string(printed), Events: events, Logs: logs, Budget: budget})
	if err != nil {
		what := "all that happened"
		if len(events) > 0 {
			what = "what happened later"
		}
		s.Omitted = append(s.Omitted, fmt.Sprintf("%s: %s can't be read: %s", what, story.HistoryPath(cell.ID), reason(from, err)))
	}
	s.Omitted = append(s.Omitted, lost...)
	return s
}

// reason is an error without the directory on this machine.
func reason(dir string, err error) string {
	return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
}

// troubleLogs are the logs of a cell's components, if anything went wrong. What
// is lost is said.
func troubleLogs(dir, id string, result reports.Cell, events []record.Event) (logs []story.Log, lost []string) {
	if len(story.Trouble(result, events)) == 0 {
		return nil, nil
	}
	seen := make(map[string]bool)
	for _, e := range events {
		if e.Kind != (cluster.ComponentStarted{}).EventKind() || seen[e.Subject] {
			continue
		}
		seen[e.Subject] = true
		file := logFile(e.Subject)
		text, err := os.ReadFile(filepath.Join(dir, "logs", filepath.FromSlash(file)))
		if err != nil {
			lost = append(lost, fmt.Sprintf("the log of %s: %s can't be read: %s", e.Subject, path.Join(story.LogsPath(id), file), reason(dir, err)))
			continue
		}
		logs = append(logs, story.Log{Component: e.Subject, Path: path.Join(story.LogsPath(id), file), Text: string(text)})
	}
	return logs, lost
}

// logFile is where a component logs, below the logs of its cell.
func logFile(component string) string {
	if rest, is := strings.CutPrefix(component, spec.Seed+"/"); is {
		return path.Join(spec.Seed, logFile(rest))
	}
	file := strings.ReplaceAll(component, "/", "-") + ".log"
	if component == spec.Watchdog { // runs in the seed's rig
		return path.Join(spec.Seed, file)
	}
	return file
}
