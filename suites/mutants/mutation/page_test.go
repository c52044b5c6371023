package mutation

import (
	"os"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

// TestPage holds the page of the score against the results that it is made of.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../testdata/score/prober.tsv")
	if err != nil {
		t.Fatal(err)
	}
	results, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if again := string(Format(results)); again != string(text) {
		t.Error("the results are read and written as something else")
	}
	list, err := os.ReadFile("../testdata/score/prober.reasons.tsv")
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := ParseReasons(list)
	if err != nil {
		t.Fatal(err)
	}
	explained, wrong := Explain(results, reasons)
	for _, r := range wrong {
		t.Errorf("no mutant is as this reason says, or one was found: %+v", r)
	}
	golden.Check(t, "../../../docs/mutation-score.md", string(Page(explained)))
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
	if len(wrong) != 3 || wrong[0] != function || wrong[2] != unused {
		t.Errorf("wrong are %+v", wrong)
	}

	a.ID = 3
	other, one := Reason{Outcome: Equivalent, At: "a.go:7#4", Text: "It is another one."}, Reason{Outcome: Equivalent, At: "a.go:7#3", Text: "It is the one."}
	if got, wrong := Explain([]Result{a}, []Reason{other, one}); got[0].Why != one.Text || len(wrong) != 1 || wrong[0] != other {
		t.Errorf("got %+v, wrong are %+v", got, wrong)
	}
}
