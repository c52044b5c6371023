package expr

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record/timeline"
)

func TestMistakesOfSyntaxAreInWords(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"1 = 1":               "syntax: '= ' can't stand here: write ==",
		"true and false":      "syntax: 'and' can't stand here: write &&",
		"(1 == 1":             "syntax: ')' is missing at the end",
		"[1, 2":               "syntax: it ends too early",
		`pods["web].x == "a"`: "syntax: 'a' can't stand here",
		"size([1]) size([1])": "syntax: 'size' can't stand here",
	} {
		_, _, err := Compile(expression)
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}

func TestObservationsDoNotNameTheRig(t *testing.T) {
	t.Parallel()
	got := withoutRig(`Get "http://127.93.0.2:8080/": read tcp 127.0.0.1:41234->127.93.0.2:8080: reset`)
	want := `Get "http://127.x.0.2:8080/": read tcp 127.x.0.1:x->127.x.0.2:8080: reset`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// evaluates fails a test for each expression that has another value on a timeline than
// the one it is to have, in JSON.
func evaluates(t *testing.T, on *timeline.Timeline, want map[string]string) {
	t.Helper()
	for expression, want := range want {
		program, _, err := Compile(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		value, _, err := program.Eval(Vars(on))
		if err != nil {
			t.Errorf("%s: %v", expression, err)
		} else if got := JSON(value); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
}

// TestAnUnknownFieldIsAnsweredWithAll: all fields are listed, with the page that has them.
func TestAnUnknownFieldIsAnsweredWithAll(t *testing.T) {
	t.Parallel()
	_, _, err := Compile(`connections["tls/app"].exists(c, c.xyzzy == 1)`)
	if err == nil || !strings.Contains(err.Error(), "requests") || !strings.HasSuffix(err.Error(), "(skewrig docs fields)") {
		t.Errorf("got %v", err)
	}
}

// TestEveryVariableHasASource: what a check needs is known of each variable.
func TestEveryVariableHasASource(t *testing.T) {
	t.Parallel()
	for _, v := range variables {
		if v.Needs == nil || len(v.Needs("x")) == 0 || len(v.Needs("")) == 0 {
			t.Errorf("%s has no source", v.Name)
		}
	}
}

// TestEachVariableHasAllThatIsAskedOfIt: a type, and something of a history.
func TestEachVariableHasAllThatIsAskedOfIt(t *testing.T) {
	t.Parallel()
	env, err := language()
	if err != nil {
		t.Fatal(err)
	}
	seen := Vars(timeline.New())
	var written []string
	for _, v := range variables {
		written = append(written, v.Name)
		if seen[v.Name] == nil {
			t.Errorf("no history has anything in %s", v.Name)
		}
		ast, issues := env.Compile(v.Name + `["a"]`)
		if issues.Err() != nil {
			t.Errorf("%s can't be written: %v", v.Name, issues.Err())
			continue
		}
		if isList := ast.OutputType().Kind() == cel.ListKind; isList != (v.lists() > 0) {
			t.Errorf("%s is a list: %t, and is taken for one: %t", v.Name, isList, !isList)
		}
	}
	slices.Sort(written)
	if got := slices.Compact(slices.Clone(written)); len(seen) != len(got)+1 || len(got) != len(written) { // and since
		t.Errorf("the variables are %v, and expressions see %d", written, len(seen))
	}
}
