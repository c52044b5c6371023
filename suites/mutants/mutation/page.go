package mutation

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
)

// introduction is what the page of the score says before its tables.
//
//go:embed page.md.txt
var introduction string

// Target is a component of which mutants were made.
type Target struct {
	// Name is that of its files with results and reasons.
	Name string
	// Title is its heading on the page.
	Title   string
	Results []Result
}

// Targets are all there are, without results, in the order of the page.
func Targets() []Target {
	return []Target{
		{Name: "prober", Title: "The kubelet's prober"},
		{Name: "podsapi", Title: "The kubelet's server of the Pods API"},
		{Name: "watchdog", Title: "The prober of dependency-watchdog"},
	}
}

// Page is the score as a page of the docs: of each target that has results a table by
// file, and each mutant that is not found.
func Page(targets []Target) []byte {
	var b bytes.Buffer
	b.WriteString(introduction)
	for _, t := range targets {
		if len(t.Results) > 0 {
			t.write(&b)
		}
	}
	return b.Bytes()
}

func (t Target) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s\n\n", t.Title)
	b.Write(Table(t.Results))
	for _, part := range []struct {
		outcome Outcome
		title   string
	}{
		{Survived, "Survivors: a cell can see them, and no check of the cells that were run is red"},
		{Unseen, "Unseen: they make no difference in any cell that was run"},
		{Untried, "Untried: a cell can see them, and was not run with them yet"},
		{Equivalent, "Equivalent: nothing differs outside of the component"},
	} {
		fmt.Fprintf(b, "\n### %s\n\n", part.title)
		listed := false
		for _, r := range t.Results {
			if r.Outcome == part.outcome {
				fmt.Fprintf(b, "- `%s:%d` (%d): %s%s\n", r.File, r.Line, r.ID, r.Change, why(r))
				listed = true
			}
		}
		if !listed {
			b.WriteString("None.\n")
		}
	}
}

func why(r Result) string {
	if r.Why == "" {
		return ""
	}
	return ". " + r.Why
}

// ParseReasons reads lines of an outcome, a place, the beginning of a change, and a
// reason, with tabs between them.
func ParseReasons(text []byte) (reasons []Reason, err error) {
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("%q has %d fields, not 4", line, len(fields))
		}
		outcome := Outcome(fields[0])
		if outcome != Equivalent && outcome != Survived {
			return nil, fmt.Errorf("%q: a reason is for %s or %s mutants", line, Equivalent, Survived)
		}
		reasons = append(reasons, Reason{Outcome: outcome, At: fields[1], Change: fields[2], Text: fields[3]})
	}
	return reasons, nil
}
