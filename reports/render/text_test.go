package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{
		0: "-", 0.0004: "0s", 0.85: "850ms", 1: "1s", 12.345: "12.3s", 61.5: "1m2s", 250: "4m10s", 3600: "1h0m0s",
	} {
		if got := Took(seconds); got != want {
			t.Errorf("Took(%v) = %q, want %q", seconds, got, want)
		}
	}
}

func TestShortenedCutsBetweenRunes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":         "",
		"äöü":      "äöü",
		"äöüß":     "äöü… (1 more)",
		"a\xffbcd": "a\xffb… (2 more)",
	} {
		if got := shortened(in, 3); got != want {
			t.Errorf("shortened(%q, 3) = %q, want %q", in, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain äöü 漢字":     "plain äöü 漢字",
		"\x1b[0m\a\t\n\r":  `\x1b[0m\a\t\n\r`,
		"\xff\u200b\u202e": `\xff\u200b\u202e`,
		"\U000e0001\u0085": `\U000e0001\u0085`,
		`a "quoted" 'one'`: `a "quoted" 'one'`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestRounded: noise of floating point does not show, and other digits stay.
func TestRounded(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2.4309999999999974":          "2.431",
		"[8.349999999999998, 0.25]":   "[8.35, 0.25]",
		"was 3.0000000000000004 at 7": "was 3 at 7",
		"1.23456789":                  "1.23456789",
		"5.551115123125783e-17":       "5.551115123125783e-17",
		"1764015474.123456789":        "1764015474.123456789",
		"sha256:0.2430999999999997f":  "sha256:0.2430999999999997f",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q shows as %q, want %q", in, got, want)
		}
		if got := oneLine(in, maxText); got != want {
			t.Errorf("%q is the line %q, want %q", in, got, want)
		}
	}
}

func TestDetailsOfChecksThatSawNothing(t *testing.T) {
	t.Parallel()
	const broken = "broken off: interrupted"
	undecided := func(id string) reports.Check {
		return reports.Check{ID: id, Expected: "it", Outcome: reports.Unknown, Reason: broken}
	}
	seen := reports.Check{ID: "seen", Expected: "it", Observed: "0", Outcome: reports.Unknown, Reason: broken}
	c := reports.Cell{Reason: broken, Checks: []reports.Check{{ID: "well", Outcome: reports.Pass}, undecided("first"), seen, undecided("second")}}
	want := `2 checks: unknown
  reason       broken off: interrupted
  checks       first, second
check seen: unknown
  expected     it
  observed     0
  reason       broken off: interrupted
`
	if diff := cmp.Diff(want, details(c, inWords(reports.Report{})).String()); diff != "" {
		t.Error(diff)
	}
	c.Checks, c.Reason = c.Checks[:2], "step 3: not within 1m0s"
	want = `  reason       step 3: not within 1m0s
check first: unknown
  expected     it
  reason       broken off: interrupted
`
	if diff := cmp.Diff(want, details(c, inWords(reports.Report{})).String()); diff != "" {
		t.Error(diff)
	}
}

// TestTheTerminalNamesTheTwin: the check of the same cell that passes, with its values.
func TestTheTerminalNamesTheTwin(t *testing.T) {
	t.Parallel()
	red := reports.Check{ID: "red", Requirement: "K/kept", Expected: "at once: a == 1", Observed: "2", Outcome: reports.Fail}
	c := reports.Cell{Checks: []reports.Check{red, {ID: "twin", Requirement: "K/kept", Expected: "at once: b.size() == 1", Observed: "1", Outcome: reports.Pass}}}
	if diff := cmp.Diff("In this cell, the check twin passes: expected at once: b.size() == 1, observed 1", comparison(red, c, reports.Report{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := comparison(c.Checks[1], c, reports.Report{}); got != "" {
		t.Errorf("of a check that passes it says %q", got)
	}
}

// TestTheOtherReadingRestsOnACheck: an ambiguous check says which, with its values.
func TestTheOtherReadingRestsOnACheck(t *testing.T) {
	t.Parallel()
	c := reports.Cell{Checks: []reports.Check{
		{ID: "obeys", Requirement: "K/obeys", Expected: "at once: a == 1", Observed: "2", Outcome: reports.Ambiguous},
		{ID: "falls-back", Requirement: "K/falls-back", Expected: "at once: a == 2", Observed: "2", Outcome: reports.Pass},
	}}
	r := reports.Report{Requirements: []reports.Requirement{{ID: "K/obeys", Contradicts: []string{"K/falls-back"}}, {ID: "K/falls-back"}}}
	want := "  readings     The other reading rests on the check falls-back: expected at once: a == 2, observed 2\n"
	if got := allDetails(c, inWords(r)).String(); strings.Count(got, want) != 1 || strings.Count(got, "readings") != 1 {
		t.Errorf("the details are\n%s", got)
	}
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a line\nand \x1b[32mgreen\x1b[0m ones\n": "a line\nand \x1b[32mgreen\x1b[0m ones\n",
		"\x7f\x1b[2J\r\n\tx":                      `\x7f\x1b[2J\r` + "\n" + `\tx`,
		"\x1b[31m\xff\u202e\x1b[0m":               "\x1b[31m" + `\xff\u202e` + "\x1b[0m",
		"\ufffd is printed\n\n":                   "\ufffd is printed\n\n",
	} {
		if got := harmless(text); got != want {
			t.Errorf("harmless(%q) = %q, want %q", text, got, want)
		}
	}
}
