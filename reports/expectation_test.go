package reports

import "testing"

// TestExpectation: the words between the parts of a description may be in an expression, too.
func TestExpectation(t *testing.T) {
	t.Parallel()
	for expected, want := range map[string]Expectation{
		`at once: a == 1 == true`:                            {"at once", "a == 1", "==", "true", true},
		`within 5s: a == "b == 1"`:                           {"within 5s", "a", "==", `"b == 1"`, true},
		`within 5s: a == "\" == 1"`:                          {"within 5s", "a", "==", `"\" == 1"`, true},
		`at once: m == 'it satisfies it' == true`:            {"at once", "m == 'it satisfies it'", "==", "true", true},
		`at once: m satisfies it == "x satisfies y"`:         {"at once", "m", "satisfies", `it == "x satisfies y"`, true},
		`at once: m satisfies it == 1 == true`:               {"at once", "m", "satisfies", "it == 1 == true", true},
		`for 5s: m["a grows by b"] grows by 0 at most`:       {"for 5s", `m["a grows by b"]`, "grows", "by 0 at most", true},
		`at once: m == " grows by 1 at most" == true`:        {"at once", `m == " grows by 1 at most"`, "==", "true", true},
		`at once: a == 1 // not b && c == true`:              {"at once", "a == 1 // not b && c", "==", "true", false},
		`at once: a == """b c""" == true`:                    {"at once", `a == """b c"""`, "==", "true", false},
		`at once: a.contains("https://b") == true`:           {"at once", `a.contains("https://b")`, "==", "true", true},
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
		if got := seen(Check{Expected: expected, Observed: "x"}); got != want {
			t.Errorf("%s: %s, want %s", expected, got, want)
		}
	}
}
