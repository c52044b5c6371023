package reports

import (
	"fmt"
	"path"
)

// What a run of a cell leaves in its directory: see RunDir.
const (
	PlanFile    = "plan.txt"  // for people
	PlanData    = "plan.json" // the same as data
	HistoryFile = "history.jsonl"
	LogsDir     = "logs"
)

// RunDir is where a run of a cell leaves its files, as a path with slashes from
// the report's directory: that of number 1 in cells/<cell id>, where a cell that
// is run once leaves them; any other in runs/<number>/cells/<cell id>.
func RunDir(id string, number int) string { return path.Join(RoundDir(number), "cells", id) }

// RoundDir is what holds the cells of the runs of one number, as a path with
// slashes from the report's directory. It looks as a report's directory does.
func RoundDir(number int) string {
	if number == 1 {
		return "."
	}
	return fmt.Sprintf("runs/%d", number)
}
