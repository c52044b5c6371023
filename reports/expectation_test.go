package reports

import (
	"testing"
	"time"

	"github.com/skewrig/skewrig/record"
)

// TestExpectation: the words between the parts of a description may be in an expression, too.
func TestExpectation(t *testing.T) {
	t.Parallel()
	for expected, want := range map[string]Expectation{
		`at once: a == 1 == true`:                            {record.Now, 0, 0, "a == 1", "==", "true", true},
		`within 5s: a == "b == 1"`:                           {record.Eventually, 5 * time.Second, 0, "a", "==", `"b == 1"`, true},
		`within 5s: a == "\" == 1"`:                          {record.Eventually, 5 * time.Second, 0, "a", "==", `"\" == 1"`, true},
		`at once: m == 'it satisfies it' == true`:            {record.Now, 0, 0, "m == 'it satisfies it'", "==", "true", true},
		`at once: m satisfies it == "x satisfies y"`:         {record.Now, 0, 0, "m", "satisfies", `it == "x satisfies y"`, true},
		`at once: m satisfies it == 1 == true`:               {record.Now, 0, 0, "m", "satisfies", "it == 1 == true", true},
		`for 5s: m["a grows by b"] grows by 0 at most`:       {record.AtMost, 5 * time.Second, 0, `m["a grows by b"]`, "grows", "by 0 at most", true},
		`within 1m0s: a grows by 3 at least`:                 {record.AtLeast, time.Minute, 3, "a", "grows", "by 3 at least", true},
		`always for 5s: a == 1`:                              {record.Always, 5 * time.Second, 0, "a", "==", "1", true},
		`never for 5s: a == 1`:                               {record.Never, 5 * time.Second, 0, "a", "==", "1", true},
		`some day: a == 1`:                                   {"", 0, 0, "a", "==", "1", true},
		`at once: m == " grows by 1 at most" == true`:        {record.Now, 0, 0, `m == " grows by 1 at most"`, "==", "true", true},
		`at once: a == 1 // not b && c == true`:              {record.Now, 0, 0, "a == 1 // not b && c", "==", "true", false},
		`at once: a == """b c""" == true`:                    {record.Now, 0, 0, `a == """b c"""`, "==", "true", false},
		`at once: a.contains("https://b") == true`:           {record.Now, 0, 0, `a.contains("https://b")`, "==", "true", true},
		`what a cell shows, but for what the scenario knows`: {},
		`at once: a == b`:                                    {},
	} {
		got, is := Check{Expected: expected}.Expectation()
		if is != (want != Expectation{}) || is && got != want {
			t.Errorf("%s: %+v, %t", expected, got, is)
		}
	}
}

func TestSeenOfAFinding(t *testing.T) {
	t.Parallel()
	for expected, want := range map[string]string{
		`at once: m == "it satisfies it"`: `observed x, expected "it satisfies it"`,
		`never for 5s: m == 1`:            `observed x, expected never for 5s: m == 1`,
		`within 5s: m satisfies it > 2`:   `observed x, expected it > 2`,
	} {
		if got := observation(Check{Expected: expected, Observed: "x"}); got != want {
			t.Errorf("%s: %s, want %s", expected, got, want)
		}
	}
}

// TestExpectationOfAnAssertion: what is there as data is not read from the sentence.
func TestExpectationOfAnAssertion(t *testing.T) {
	t.Parallel()
	for asserts, want := range map[Assertion]Expectation{
		{Mode: record.Never, Seconds: 5, Observe: "a // not b", Is: "1"}: {
			Mode: record.Never, Span: 5 * time.Second, Observe: "a // not b", Relation: Equals, Wanted: "1", Exact: true,
		},
		{Mode: record.Now, Observe: "a", Must: "it > 1"}: {Mode: record.Now, Observe: "a", Relation: Satisfies, Wanted: "it > 1", Exact: true},
		{Mode: record.AtLeast, Seconds: 5, Observe: "a", Times: 2}: {
			Mode: record.AtLeast, Span: 5 * time.Second, Observe: "a", Times: 2, Relation: Grows, Wanted: "by 2 at least", Exact: true,
		},
	} {
		if got, is := (Check{Expected: "at once: c == 2", Asserts: asserts}).Expectation(); !is || got != want {
			t.Errorf("%+v, %t", got, is)
		}
	}
}
