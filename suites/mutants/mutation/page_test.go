package mutation

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

var pageFile = flag.String("page", "", "write the page of the score to this file")

// TestPage makes the page of the score from the results in testdata: each mutant that is not
// killed is listed, with its reason, and the counts are those of the results. make results
// publishes the page.
func TestPage(t *testing.T) {
	targets := Targets()
	for i := range targets {
		targets[i].Results = explained(t, targets[i].Name)
	}
	page := string(Page(targets))
	for _, target := range targets {
		_, section, found := strings.Cut(page, "\n## "+target.Title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if want := fmt.Sprintf("\n| all | %d | ", len(target.Results)); !found || !strings.Contains(section, want) {
			t.Errorf("%s has %d results, and its section is\n%.500s", target.Name, len(target.Results), section)
		}
		for _, r := range target.Results {
			line := fmt.Sprintf("- `%s:%d` (%d): %s", r.File, r.Line, r.ID, r.Change)
			if listed := strings.Contains(section, line); listed != (r.Outcome != Killed) {
				t.Errorf("%s: %s is listed: %t, and its outcome is %s", target.Name, line, listed, r.Outcome)
			}
		}
	}
	if *pageFile != "" {
		golden.Write(t, *pageFile, page)
	}
}

// explained are the results of a target with their reasons. There may be neither.
func explained(t *testing.T, name string) []Result {
	t.Helper()
	text := kept(t, name+".tsv")
	results, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if again := string(Format(results)); again != string(text) {
		t.Errorf("the results of %s are read and written as something else", name)
	}
	reasons, err := ParseReasons(kept(t, name+".reasons.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		return nil
	}
	results, wrong := Explain(results, reasons)
	for _, r := range wrong {
		t.Errorf("no mutant of %s is as this reason says, or one was found: %+v", name, r)
	}
	return results
}

func kept(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "score", file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return text
}

func TestPageHasEachTargetWithResults(t *testing.T) {
	of := func(file string, o Outcome) []Result {
		return []Result{{Mutant: Mutant{ID: 7, File: file, Line: 3, Change: "not true"}, Outcome: o, Why: "It is so"}}
	}
	got := string(Page([]Target{{Title: "One", Results: of("a.go", Killed)}, {Title: "Two"}, {Title: "Three", Results: of("c.go", Survived)}}))
	got, is := strings.CutPrefix(got, introduction)
	if !is {
		t.Error("it does not begin with the introduction")
	}
	var headings []string
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "| all") || strings.HasPrefix(line, "- ") {
			headings = append(headings, strings.TrimSuffix(line, "\n"))
		}
	}
	want := []string{
		"## One", "| all | 1 | 1 | 0 | 0 | 0 | 0 | 100.0 % |",
		"## Three", "| all | 1 | 0 | 1 | 0 | 0 | 0 | 0.0 % |", "- `c.go:3` (7): not true. It is so",
	}
	if !slices.Equal(headings, want) {
		t.Errorf("got %q", headings)
	}
}

func TestExplain(t *testing.T) {
	a := Result{Mutant: Mutant{File: "a.go", Line: 7, Func: "f", Change: "not true"}, Outcome: Unseen}
	found := Result{Mutant: Mutant{File: "a.go", Line: 8, Func: "f", Change: "call left out"}, Outcome: Killed, Why: "a check"}
	line := Reason{Outcome: Equivalent, At: "a.go:7", Change: "not", Text: "It is not read."}
	function := Reason{Outcome: Equivalent, At: "f", Change: "call", Text: "Nothing comes of it."}
	unused := Reason{Outcome: Survived, At: "b.go", Text: "It is old."}

	got, wrong := Explain([]Result{a, found}, []Reason{line, function, unused})
	if got[0].Outcome != Equivalent || got[0].Why != line.Text || got[1].Why != "a check" {
		t.Errorf("got %+v", got)
	}
	if !slices.Equal(wrong, []Reason{function, unused}) {
		t.Errorf("wrong are %+v", wrong)
	}
}

// TestAnUnknownOutcomeIsRefused: it would be in no list of the page.
func TestAnUnknownOutcomeIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := Parse([]byte("1\ta.go:3\tf\tnot true\tsurvive\tIt is so\n")); err == nil {
		t.Error("a result has it")
	}
	for _, outcome := range []string{"same", "killed", ""} {
		if _, err := ParseReasons([]byte(outcome + "\ta.go\t\tIt is so\n")); err == nil {
			t.Errorf("a reason has %q", outcome)
		}
	}
}

func TestAReasonMayBeOfOneOfSeveralMutantsOfALine(t *testing.T) {
	var results []Result
	for id := range 2 {
		results = append(results, Result{Mutant: Mutant{ID: id, File: "a.go", Line: 7, Change: "part of && always true"}, Outcome: Unseen})
	}
	got, wrong := Explain(results, []Reason{{Outcome: Equivalent, At: "a.go:7#1", Text: "It holds."}})
	if got[0].Outcome != Unseen || got[1].Outcome != Equivalent || len(wrong) > 0 {
		t.Errorf("got %+v, wrong are %+v", got, wrong)
	}
}
