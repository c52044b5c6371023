package main

import (
	"fmt"
	"io"

	"github.com/skewrig/skewrig/scenarios/engine"
)

// cellProgress prints a line for each cell that is judged: what CI keeps, and
// what a person watches.
func cellProgress(w io.Writer, total int) func(engine.Progress) {
	done := 0
	return func(p engine.Progress) {
		if p.Result == nil {
			return
		}
		done++
		fmt.Fprintf(w, "[%*d/%d] %-16s %5.1fs  %s\n",
			len(fmt.Sprint(total)), done, total, p.Result.Outcome, p.Result.DurationSeconds, p.Cell.ID)
	}
}
