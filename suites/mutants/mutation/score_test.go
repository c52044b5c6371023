package mutation

import "testing"

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
