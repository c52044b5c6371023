// Package saved reads what a report directory has of its cells beyond the report:
// their histories, plans and logs.
package saved

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// Explain says what oracles and checks know of a history: the attempts of probes,
// and of the checks that do not hold what they compared and the parts of their expressions.
// It sets them in the input, which has the result and the events.
type Explain func(*narrate.Input)

// Narration narrates a run of a cell, given by its number, of a report directory. What can't be read is listed as omitted: a run that was cut short has a
// narration, too. It is as long as the limit says: see narrate.Input.
func Narration(dir string, result reports.Cell, number, limit int, explain Explain) narrate.Narration {
	cell := reports.RunDir(result.ID, number)
	from := filepath.Join(dir, filepath.FromSlash(cell))
	events, err := record.ReadBelow(dir, path.Join(cell, reports.HistoryFile))
	plan, printed, unplanned := planned(dir, cell)
	in := narrate.Input{Result: result, Printed: printed, Plan: plan, Leases: narrate.LeasesOf(plan), Events: events, Limit: limit}
	explain(&in)
	var lost []string
	in.Logs = func() (logs []narrate.LogFile) {
		logs, lost = logsOf(dir, cell, result.ID, events)
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

// logsOf are the logs of the components in the directory of a cell below a report directory, and
// which of them can't be read.
func logsOf(dir, cell, id string, events []record.Event) (logs []narrate.LogFile, lost []string) {
	seen := make(map[string]bool)
	var missing []string
	left := int64(files.MaxLog) // of all logs together
	for e := range record.All[record.ComponentStarted](events) {
		file := logFile(e.Subject)
		if seen[file] {
			continue
		}
		seen[file] = true
		text, err := files.ReadBelow(dir, path.Join(cell, reports.LogsDir, file), left)
		left -= int64(len(text))
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, e.Subject)
			continue
		}
		shown := path.Join(narrate.LogsPath(id), file)
		if err != nil {
			lost = append(lost, fmt.Sprintf("the log of %s: %s can't be read: %s", e.Subject, shown, reason(filepath.Join(dir, filepath.FromSlash(cell)), err)))
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
