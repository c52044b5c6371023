// Package saved reads what a report directory has of its cells beyond the report:
// their histories, plans and logs.
package saved

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
	"github.com/skewrig/skewrig/reports/narrate"
)

// Explain says what oracles and checks know of a history: the attempts of probes,
// and of the checks that do not hold what they compared and the parts of their expressions.
// It sets them in the input, which has the result and the events.
type Explain func(*narrate.Input)

// Narration narrates a cell of a report directory, or of what holds the runs of one
// number. What can't be read is listed as omitted: a run that was cut short has a
// narration, too. It is as long as the limit says: see narrate.Input.
func Narration(dir string, result reports.Cell, limit int, explain Explain) narrate.Narration {
	from := filepath.Join(dir, filepath.FromSlash(reports.RunDir(result.ID, 1)))
	events, err := record.ReadFile(filepath.Join(from, reports.HistoryFile))
	plan, printed, unplanned := planned(from)
	in := narrate.Input{Result: result, Plan: printed, Leases: narrate.LeasesOf(plan), Events: events, Limit: limit}
	explain(&in)
	var lost []string
	in.Logs = func() (logs []narrate.LogFile) {
		logs, lost = logsOf(from, result.ID, events)
		return logs
	}
	n := narrate.Of(in)
	if err != nil {
		what := "all that happened"
		if len(events) > 0 {
			what = "what happened later"
		}
		n.Omitted = append(n.Omitted, fmt.Sprintf("%s: %s can't be read: %s", what, narrate.HistoryPath(result.ID), reason(from, err)))
	}
	if unplanned != nil {
		n.Omitted = append(n.Omitted, fmt.Sprintf("the plan can't be read: %s", reason(from, unplanned)))
	}
	n.Omitted = append(n.Omitted, lost...)
	return n
}

// reason is an error without the directory on this machine.
func reason(dir string, err error) string {
	return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
}

// logsOf are the logs of a cell's components, and which of them can't be read.
func logsOf(dir, id string, events []record.Event) (logs []narrate.LogFile, lost []string) {
	seen := make(map[string]bool)
	var missing []string
	for e := range record.All[record.ComponentStarted](events) {
		if seen[e.Subject] {
			continue
		}
		seen[e.Subject] = true
		file := logFile(e.Subject)
		text, err := os.ReadFile(filepath.Join(dir, reports.LogsDir, filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, e.Subject)
			continue
		}
		shown := path.Join(narrate.LogsPath(id), file)
		if err != nil {
			lost = append(lost, fmt.Sprintf("the log of %s: %s can't be read: %s", e.Subject, shown, reason(dir, err)))
			continue
		}
		logs = append(logs, narrate.LogFile{Component: e.Subject, Path: shown, Text: string(text)})
	}
	if len(missing) > 0 {
		lost = append(lost, fmt.Sprintf("the logs of %s: they are not in %s", strings.Join(missing, ", "), narrate.LogsPath(id)))
	}
	return logs, lost
}

// logFile is where a component logs, below the logs of its cell.
func logFile(component string) string {
	const seed = "seed"
	if rest, is := strings.CutPrefix(component, seed+"/"); is {
		return path.Join(seed, logFile(rest))
	}
	file := strings.ReplaceAll(component, "/", "-") + ".log"
	if component == "dependency-watchdog" { // runs in the seed's rig
		return path.Join(seed, file)
	}
	return file
}
