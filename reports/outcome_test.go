package reports

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// codes are the outcomes as the tables of these tests abbreviate them, in the
// order of their columns.
var codes = []struct {
	code    string
	outcome Outcome
}{
	{"na", NotApplicable}, {"pa", Pass}, {"am", Ambiguous}, {"xf", ExpectedFail},
	{"nt", NotTestable}, {"un", Unknown}, {"he", HarnessError},
	{"up", UnexpectedPass}, {"fl", Flaky}, {"fa", Fail},
}

func decode(t *testing.T, code string) Outcome {
	t.Helper()
	for _, c := range codes {
		if c.code == code {
			return c.outcome
		}
	}
	t.Fatalf("no outcome has the code %q", code)
	return ""
}

// eachPair calls test with each row, each column and what the table has there.
// A row is the code of its outcome and one field for each outcome.
func eachPair(t *testing.T, table string, test func(t *testing.T, row, column Outcome, want string)) {
	t.Helper()
	pairs := 0
	for line := range strings.Lines(strings.TrimSpace(table)) {
		fields := strings.Fields(line)
		if len(fields) != len(codes)+1 {
			t.Fatalf("row %q has %d columns, want %d", line, len(fields)-1, len(codes))
		}
		row := decode(t, fields[0])
		for i, want := range fields[1:] {
			pairs++
			t.Run(string(row)+" and "+string(codes[i].outcome), func(t *testing.T) { test(t, row, codes[i].outcome, want) })
		}
	}
	if pairs != len(codes)*len(codes) {
		t.Fatalf("the table covers %d pairs, want %d", pairs, len(codes)*len(codes))
	}
}

// na pa am xf nt un he up fl fa
const worstOfPairs = `
na  na pa am xf nt un he up fl fa
pa  pa pa am xf nt un he up fl fa
am  am am am xf nt un he up fl fa
xf  xf xf xf xf nt un he up fl fa
nt  nt nt nt nt nt un he up fl fa
un  un un un un un un he up fl fa
he  he he he he he he he up fl fa
up  up up up up up up up up fl fa
fl  fl fl fl fl fl fl fl fl fl fa
fa  fa fa fa fa fa fa fa fa fa fa
`

func TestWorstOfEachPair(t *testing.T) {
	t.Parallel()
	eachPair(t, worstOfPairs, func(t *testing.T, a, b Outcome, want string) {
		if got := Worst(a, b); got != decode(t, want) {
			t.Errorf("Worst(%s, %s) = %s, want %s", a, b, got, decode(t, want))
		}
	})
}

func TestWorstOfNothingIsUnknown(t *testing.T) {
	t.Parallel()
	if got := Worst(); got != Unknown {
		t.Errorf("Worst() = %s, want unknown", got)
	}
	for _, strange := range []Outcome{"", "passed"} {
		if got := Worst(Pass, strange); got != Unknown {
			t.Errorf("Worst(pass, %q) = %s, want unknown", strange, got)
		}
	}
}

// Two runs of a check. A run that was not judged is no evidence for or against
// flakiness; a fail and a pass are.
const repeatedPairs = `
na  na pa am xf nt un he up fl fa
pa  pa pa fl fl nt un he up fl fl
am  am fl am xf nt un he fl fl fa
xf  xf fl xf xf nt un he fl fl fa
nt  nt nt nt nt nt un he up fl fa
un  un un un un un un he up fl fa
he  he he he he he he he up fl fa
up  up up fl fl up up up up fl fl
fl  fl fl fl fl fl fl fl fl fl fa
fa  fa fl fa fa fa fa fa fl fa fa
`

func TestRepeatedOfEachPair(t *testing.T) {
	t.Parallel()
	eachPair(t, repeatedPairs, func(t *testing.T, a, b Outcome, want string) {
		if got, _ := Repeated(a, b); got != decode(t, want) {
			t.Errorf("Repeated(%s, %s) = %s, want %s", a, b, got, decode(t, want))
		}
	})
}

func TestRepeatedSaysHowOften(t *testing.T) {
	t.Parallel()
	got, reason := Repeated(Pass, Fail, Pass, HarnessError, Fail)
	if got != Flaky || reason != "failed in 2 of 4 runs" {
		t.Errorf("Repeated = %s, %q, want flaky in 2 of the 4 runs that were judged", got, reason)
	}
	if got, reason := Repeated(Pass, Pass); got != Pass || reason != "" {
		t.Errorf("Repeated(pass, pass) = %s, %q, want pass without a reason", got, reason)
	}
}

// The exit codes of a run of two cells.
const exitPairs = `
na  2 0 0 0 2 2 2 1 1 1
pa  0 0 0 0 2 2 2 1 1 1
am  0 0 0 0 2 2 2 1 1 1
xf  0 0 0 0 2 2 2 1 1 1
nt  2 2 2 2 2 2 2 1 1 1
un  2 2 2 2 2 2 2 1 1 1
he  2 2 2 2 2 2 2 1 1 1
up  1 1 1 1 1 1 1 1 1 1
fl  1 1 1 1 1 1 1 1 1 1
fa  1 1 1 1 1 1 1 1 1 1
`

func TestExitCodeOfEachPair(t *testing.T) {
	t.Parallel()
	eachPair(t, exitPairs, func(t *testing.T, a, b Outcome, want string) {
		r := Report{Cells: []Cell{{Outcome: a}, {Outcome: b}}}
		if got := ExitCode(r); got != int(want[0]-'0') {
			t.Errorf("ExitCode(%s, %s) = %d, want %s", a, b, got, want)
		}
	})
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		report Report
		want   int
	}{
		"no cells":               {Report{}, ExitNotJudged},
		"only not applicable":    {Report{Cells: []Cell{{Outcome: NotApplicable}}}, ExitNotJudged},
		"one pass":               {Report{Cells: []Cell{{Outcome: Pass}}}, ExitExpected},
		"no outcome":             {Report{Cells: []Cell{{Outcome: Pass}, {}}}, ExitNotJudged},
		"problem":                {Report{Cells: []Cell{{Outcome: Pass}}, Problems: []string{"stale entry"}}, ExitNonconforming},
		"problem without a cell": {Report{Problems: []string{"stale entry"}}, ExitNonconforming},
		"requirement not served": {Report{Cells: []Cell{{Outcome: Pass}}, Requirements: []Requirement{{Outcome: Unknown}}}, ExitExpected},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ExitCode(tc.report); got != tc.want {
				t.Errorf("ExitCode = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestOutcomesAreAClosedSet(t *testing.T) {
	t.Parallel()
	var listed []Outcome
	for _, c := range codes {
		listed = append(listed, c.outcome)
		if c.outcome.Meaning() == "" {
			t.Errorf("%s has no meaning", c.outcome)
		}
		data, err := json.Marshal(c.outcome)
		var back Outcome
		if err != nil || json.Unmarshal(data, &back) != nil || back != c.outcome {
			t.Errorf("%s became %s, %v", c.outcome, data, err)
		}
	}
	if !slices.Equal(listed, Outcomes()) {
		t.Errorf("Outcomes() = %v, want %v", Outcomes(), listed)
	}
	for _, strange := range []string{"", "passed", "PASS", "pass ", "skipped"} {
		if Outcome(strange).Valid() || Outcome(strange).Meaning() != "" {
			t.Errorf("%q is taken for an outcome", strange)
		}
		if data, err := json.Marshal(Outcome(strange)); !errors.Is(err, ErrOutcome) {
			t.Errorf("%q was encoded as %s, %v", strange, data, err)
		}
		var o Outcome
		if err := json.Unmarshal([]byte(`"`+strange+`"`), &o); !errors.Is(err, ErrOutcome) {
			t.Errorf("%q was decoded as %q, %v", strange, o, err)
		}
	}
}

func TestOutcomesArePartitioned(t *testing.T) {
	t.Parallel()
	for _, o := range Outcomes() {
		kinds := 0
		for _, is := range []bool{o.Expected(), o.Nonconforming(), o.preventsJudgement()} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%s is of %d kinds, want to be one of: expected, nonconforming, not judged", o, kinds)
		}
		if o.Judged() == (o.preventsJudgement() || o == NotApplicable) {
			t.Errorf("%s.Judged() = %t", o, o.Judged())
		}
	}
}

// TestWordsOfOutcomes: no two outcomes are called the same, and those that the headline
// counts apart are called as it calls them.
func TestWordsOfOutcomes(t *testing.T) {
	t.Parallel()
	words := make(map[string]Outcome)
	for _, o := range Outcomes() {
		if other, is := words[o.Word()]; is || o.Word() == "" || strings.Contains(o.Word(), "-") {
			t.Errorf("%s is called %q, %q", o, o.Word(), other)
		}
		words[o.Word()] = o
	}
	headline := Headline{Cells: 4, Recorded: 1, Ambiguous: 1, New: 1, Flaky: 1}.String()
	for _, o := range []Outcome{ExpectedFail, Ambiguous, Fail, Flaky} {
		if !strings.Contains(headline, o.Word()) {
			t.Errorf("%s is called %q, and not so in %q", o, o.Word(), headline)
		}
	}
}

// TestCountsOfOutcomes: what deviates as recorded is counted as the headline counts it.
func TestCountsOfOutcomes(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 deviates as recorded": ExpectedFail.Count(1), "2 deviate as recorded": ExpectedFail.Count(2), "3 new": Fail.Count(3), "deviates": ExpectedFail.Word(),
	} {
		if got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}
