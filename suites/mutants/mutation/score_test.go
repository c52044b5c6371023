package mutation

import (
	"slices"
	"testing"
)

func TestParseReadsWhatFormatWrote(t *testing.T) {
	result := Result{
		Mutant:  Mutant{ID: 7, File: "a.go", Line: 12, Func: "Probe", Change: "condition always true"},
		Outcome: Killed, Why: "step 2: not within 12s\nno such key:\ta/app",
	}
	got, err := Parse(Format([]Result{result, result}))
	if err != nil {
		t.Fatal(err)
	}
	result.Why = "step 2: not within 12s no such key: a/app"
	if want := []Result{result, result}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTable(t *testing.T) {
	of := func(file string, o Outcome) Result { return Result{Mutant: Mutant{File: file}, Outcome: o} }
	got := string(Table([]Result{of("b.go", Killed), of("b.go", Survived), of("a.go", Killed), of("b.go", Equivalent), of("a.go", Unseen), of("a.go", Killed)}))
	const want = `| file | mutants | killed | survived | unseen | untried | equivalent | score |
|---|---|---|---|---|---|---|---|
| a.go | 3 | 2 | 0 | 1 | 0 | 0 | 66.7 % |
| b.go | 3 | 1 | 1 | 0 | 0 | 1 | 50.0 % |
| all | 6 | 3 | 1 | 1 | 0 | 1 | 60.0 % |
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}
