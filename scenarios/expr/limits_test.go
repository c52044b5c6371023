package expr

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestExpensiveExpressionsEnd: one evaluation is bounded in time and memory, whatever it does.
func TestExpensiveExpressionsEnd(t *testing.T) {
	ten, doubled := "[0,1,2,3,4,5,6,7,8,9]", `["0123456789"]`
	nested, shared := "x0 >= 0", "[0]"
	for i := range 9 {
		nested = fmt.Sprintf("%s.all(x%d, %s)", ten, i, nested)
	}
	for range 30 {
		doubled += ".map(s, s + s)"
		shared += ".map(s, [s, s])"
	}
	for name, text := range map[string]string{
		"loops":    nested,
		"nothing":  "lists.range(1000).filter(a, lists.range(1000).filter(b, lists.range(1000).exists_one(c, false)).size() > 0)",
		"sum":      doubled,
		"shared":   shared + " == " + shared,
		"value":    shared,
		"join":     `lists.range(100000).map(x, lists.range(100000).map(x, "0123456789").join("0123456789")).join("")`,
		"replace":  `["0123456789"].map(s, s.replace("", s)).map(s, s.replace("", s)).map(s, s.replace("", s)).map(s, s.replace("", s)).map(s, s.replace("", s))`,
		"format":   `lists.range(1000000).map(x, "%s %s".format([lists.range(1000), x]))`,
		"lists":    `lists.range(1000000).map(x, lists.range(1000000))`,
		"matches":  `lists.range(1000).all(x, !"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".matches("((a{30}){30}b|` + strings.Repeat("a{1000}", 100) + `)"))`,
		"distinct": `lists.range(100000).distinct()`,
		"literals": `lists.range(1000000).map(x, [` + strings.Repeat("x,", 1000) + `x])`,
		"in":       `lists.range(10000).all(x, !(-1 in lists.range(10000)))`,
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = NewBudget(MaxCost).Eval(t.Context(), name, p, nil)
			runtime.ReadMemStats(&after)
			if !IsTooCostly(err) || !strings.Contains(err.Error(), "one evaluation would cost more than 1048576") {
				t.Errorf("got %v", err)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 400 { // what is garbage by then is in it
				t.Errorf("it allocated %d MiB", took)
			}
		})
	}
}

// TestCostsAreTheSame: what an evaluation costs depends on nothing but the expression and values.
func TestCostsAreTheSame(t *testing.T) {
	t.Parallel()
	p, _, err := Compile(`lists.range(1000).all(i, i < 1000) && "a" + "b" == "ab"`)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBudget(MaxCost)
	for n := 1; n <= 3; n++ {
		if _, err := b.Eval(t.Context(), "same", p, nil); err != nil {
			t.Fatal(err)
		}
		if once := b.used / n; once < 2000 || once > 4000 || b.used != n*once {
			t.Errorf("%d evaluations cost %d", n, b.used)
		}
	}
}

// TestAnEvaluationIsInterrupted: it ends when its context does.
func TestAnEvaluationIsInterrupted(t *testing.T) {
	t.Parallel()
	loops, _, err := Compile("lists.range(1000).all(a, lists.range(900).all(b, true))")
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{ctx: interruptedAfter{t.Context(), new(int)}, limit: maxOnce}
	if _, _, err := loops.eval(m, nil); err == nil || m.used > maxOnce/2 {
		t.Errorf("%v at a cost of %d", err, m.used)
	}
}

// interruptedAfter is a context that ends after it was looked at some times.
type interruptedAfter struct {
	context.Context

	looks *int
}

func (c interruptedAfter) Err() error {
	if *c.looks++; *c.looks > 10 {
		return context.Canceled
	}
	return nil
}

// TestLongExpressionsAreRefused: nor does the compiler take long for one.
func TestLongExpressionsAreRefused(t *testing.T) {
	t.Parallel()
	optional := "optional.of(1)"
	for range 12 {
		optional += ".optMap(x, x)"
	}
	for text, want := range map[string]string{
		strings.Repeat("true && ", 2000) + "true":                 "the expression is 16004 bytes long, the limit is 8192: make several checks of it",
		optional + " == 1":                                        "the expression has more than 20000 parts when its macros are written out",
		strings.Repeat("[", 200) + "1" + strings.Repeat("]", 200): "recursion",
	} {
		if _, _, err := Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s…: %v, want %s", text, err, want)
		}
	}
}
