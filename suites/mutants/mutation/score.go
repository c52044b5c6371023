package mutation

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Outcome is what came of a mutant.
type Outcome string

// The outcomes.
const (
	Killed     Outcome = "killed"
	Survived   Outcome = "survived"   // no cell that can see it has a red check
	Equivalent Outcome = "equivalent" // nothing outside of the component differs
	Unseen     Outcome = "unseen"     // it makes no difference in any cell
	Untried    Outcome = "untried"    // a cell can see it, which was not run yet
)

// Result is a mutant, and what came of it.
type Result struct {
	Mutant

	Outcome Outcome
	// Why is the check that found it, or the reason why none does.
	Why string
}

// Format writes results as lines of fields with tabs between them.
func Format(results []Result) []byte {
	var b bytes.Buffer
	for _, r := range results {
		fmt.Fprintf(&b, "%d\t%s:%d\t%s\t%s\t%s\t%s\n", r.ID, r.File, r.Line, r.Func, r.Change, r.Outcome, r.Why)
	}
	return b.Bytes()
}

// Table counts results by file, as a table in Markdown. The score is the part that
// is killed of those that are not equivalent.
func Table(results []Result) []byte {
	files := make(map[string]map[Outcome]int)
	for _, r := range results {
		for _, row := range []string{r.File, all} {
			if files[row] == nil {
				files[row] = make(map[Outcome]int)
			}
			files[row][r.Outcome]++
		}
	}
	var b bytes.Buffer
	b.WriteString("| file | mutants | killed | survived | unseen | untried | equivalent | score |\n|---|---|---|---|---|---|---|---|\n")
	for _, file := range slices.SortedFunc(maps.Keys(files), lastly) {
		n := files[file]
		sum := 0
		for _, count := range n {
			sum += count
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %s |\n", file, sum, n[Killed], n[Survived], n[Unseen], n[Untried], n[Equivalent],
			percent(n[Killed], sum-n[Equivalent]))
	}
	return b.Bytes()
}

// all is the last row.
const all = "all"

func lastly(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == all || b != all && a > b:
		return 1
	}
	return -1
}

func percent(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
