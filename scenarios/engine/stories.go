package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	tale "github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
	"github.com/skewrig/skewrig/scenarios/story"
)

// Story tells the story of one cell of a report directory. What of it can't be
// read is told as missing: a run that was cut short has a story, too. It is as
// long as the budget says, in bytes of JSON; if unset, story.DefaultBudget.
func Story(dir string, cell plan.Cell, result reports.Cell, budget int) tale.Story {
	from := CellDir(dir, cell.ID)
	events, err := readHistory(from)
	printed, _ := os.ReadFile(filepath.Join(from, reports.PlanFile)) // it is printed again without
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
	var missing []string
	for _, e := range events {
		if e.Kind != (record.ComponentStarted{}).EventKind() || seen[e.Subject] {
			continue
		}
		seen[e.Subject] = true
		file := logFile(e.Subject)
		text, err := os.ReadFile(filepath.Join(dir, reports.LogsDir, filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, e.Subject)
			continue
		}
		if err != nil {
			lost = append(lost, fmt.Sprintf("the log of %s: %s can't be read: %s", e.Subject, path.Join(story.LogsPath(id), file), reason(dir, err)))
			continue
		}
		logs = append(logs, story.Log{Component: e.Subject, Path: path.Join(story.LogsPath(id), file), Text: string(text)})
	}
	if len(missing) > 0 {
		lost = append(lost, fmt.Sprintf("what these logged, as it is not in %s: %s", story.LogsPath(id), strings.Join(missing, ", ")))
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
