package mutation

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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

// Format writes results as lines of fields with tabs between them. White space in a
// reason becomes spaces.
func Format(results []Result) []byte {
	var b bytes.Buffer
	for _, r := range results {
		fmt.Fprintf(&b, "%d\t%s:%d\t%s\t%s\t%s\t%s\n", r.ID, r.File, r.Line, r.Func, r.Change, r.Outcome, strings.Join(strings.Fields(r.Why), " "))
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

// Parse reads what Format wrote.
func Parse(text []byte) (results []Result, err error) {
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 6 {
			return nil, fmt.Errorf("%q has %d fields, not 6", line, len(fields))
		}
		r := Result{Mutant: Mutant{Func: fields[2], Change: fields[3]}, Outcome: Outcome(fields[4]), Why: fields[5]}
		file, at, _ := strings.Cut(fields[1], ":")
		r.File = file
		var errs [2]error
		r.ID, errs[0] = strconv.Atoi(fields[0])
		r.Line, errs[1] = strconv.Atoi(at)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		if !slices.Contains([]Outcome{Killed, Survived, Equivalent, Unseen, Untried}, r.Outcome) {
			return nil, fmt.Errorf("%q: there is no outcome %q", line, r.Outcome)
		}
		results = append(results, r)
	}
	return results, nil
}

// Reason is why mutants are not found.
type Reason struct {
	// Outcome is Equivalent, or Survived for those that a cell could find.
	Outcome Outcome
	// At is a file, with or without a line, or a function. With #ID behind the line it is
	// one mutant of several that change the same there.
	At string
	// Change begins as those of the mutants. If unset, all.
	Change string
	Text   string
}

// Explain gives each mutant that is not found its reason, and returns the reasons
// that no mutant has, and those that a mutant has which is found.
func Explain(results []Result, reasons []Reason) (explained []Result, wrong []Reason) {
	used, ofFound := make(map[Reason]bool), make(map[Reason]bool)
	for _, r := range results {
		for _, reason := range reasons {
			if !reason.isOf(r.Mutant) {
				continue
			}
			if r.Outcome != Killed {
				used[reason] = true
				if reason.Outcome == Equivalent {
					r.Outcome = Equivalent
				}
				r.Why = reason.Text
			} else if reason.Outcome == Equivalent {
				ofFound[reason] = true
			}
			break
		}
		explained = append(explained, r)
	}
	for _, reason := range reasons {
		if !used[reason] || ofFound[reason] {
			wrong = append(wrong, reason)
		}
	}
	return explained, wrong
}

func (r Reason) isOf(m Mutant) bool {
	line := fmt.Sprintf("%s:%d", m.File, m.Line)
	at := r.At == m.File || r.At == line || r.At == fmt.Sprintf("%s#%d", line, m.ID) || r.At == m.Func
	return at && strings.HasPrefix(m.Change, r.Change)
}
