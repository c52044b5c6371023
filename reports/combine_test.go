package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a runner said of a cell that has one check, and what the check says.
const settledPairs = `
na  na pa am xf nt un he up fl fa
pa  na pa am xf nt un he up fl fa
am  na pa am xf nt un he up fl fa
xf  na pa am xf nt un he up fl fa
nt  nt nt nt nt nt un he nt nt nt
un  un un un un un un he un un un
he  he he he he he he he he he he
up  na pa am xf nt un he up fl fa
fl  na pa am xf nt un he up fl fa
fa  na pa am xf nt un he up fl fa
`

func TestSettledOfEachPair(t *testing.T) {
	t.Parallel()
	eachPair(t, settledPairs, func(t *testing.T, said, check Outcome, want string) {
		c := Cell{Outcome: said, Reason: "said", Checks: []Check{{ID: "a", Outcome: check, Reason: "why"}}}
		got := c.Settled()
		if got.Outcome != decode(t, want) || got.Checks[0].Outcome != decode(t, want) {
			t.Errorf("cell %s, check %s, want %s", got.Outcome, got.Checks[0].Outcome, decode(t, want))
		}
		if !strings.Contains(got.Checks[0].Reason, "why") {
			t.Errorf("the check's own reason is lost: %q", got.Checks[0].Reason)
		}
		if diff := cmp.Diff(got, got.Settled()); diff != "" {
			t.Errorf("settling again changes the cell (-once +twice):\n%s", diff)
		}
	})
}

func TestSettledOfTwoChecksIsTheWorst(t *testing.T) {
	t.Parallel()
	eachPair(t, worstOfPairs, func(t *testing.T, a, b Outcome, want string) {
		c := Cell{Checks: []Check{{ID: "a", Outcome: a, Reason: "why"}, {ID: "b", Outcome: b, Reason: "why"}}}.Settled()
		if c.Outcome != decode(t, want) {
			t.Errorf("cell %s, want %s", c.Outcome, decode(t, want))
		}
		if c.Checks[0].Outcome != a || c.Checks[1].Outcome != b {
			t.Errorf("checks became %s and %s", c.Checks[0].Outcome, c.Checks[1].Outcome)
		}
	})
}

func TestSettledWithoutChecks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		said       Outcome
		reason     string
		want       Outcome
		wantReason string
	}{
		{"", "", Unknown, "no check was judged"},
		{"", "late", Unknown, "no check was judged: late"},
		{Pass, "", Unknown, "marked as pass, but no check was judged"},
		{ExpectedFail, "listed", Unknown, "marked as expected-fail, but no check was judged: listed"},
		{UnexpectedPass, "", Unknown, "marked as unexpected-pass, but no check was judged"},
		{Flaky, "", Unknown, "marked as flaky, but no check was judged"},
		{Fail, "broke", Unknown, "marked as fail, but no check was judged: broke"},
		{NotApplicable, "needs v1.90", NotApplicable, "needs v1.90"},
		{NotApplicable, "", Unknown, "marked as not applicable, but without a reason"},
		{NotTestable, "no gate", NotTestable, "no gate"},
		{Unknown, "late", Unknown, "late"},
		{HarnessError, "etcd died", HarnessError, "etcd died"},
	} {
		t.Run(string(tc.said)+" "+tc.reason, func(t *testing.T) {
			t.Parallel()
			got := Cell{Outcome: tc.said, Reason: tc.reason}.Settled()
			if got.Outcome != tc.want || got.Reason != tc.wantReason {
				t.Errorf("%s, %q, want %s, %q", got.Outcome, got.Reason, tc.want, tc.wantReason)
			}
			if diff := cmp.Diff(got, got.Settled()); diff != "" {
				t.Errorf("settling again changes the cell (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cell Cell
		want []Outcome // of the cell, then of its checks
	}{
		"an unreasoned check that does not apply": {
			Cell{Checks: []Check{{Outcome: NotApplicable}, {Outcome: Pass}}},
			[]Outcome{Unknown, Unknown, Pass},
		},
		"a cell that does not apply lends its reason": {
			Cell{Outcome: NotApplicable, Reason: "old", Checks: []Check{{Outcome: NotApplicable}}},
			[]Outcome{NotApplicable, NotApplicable},
		},
		"a cell that does not apply hides no failure": {
			Cell{Outcome: NotApplicable, Reason: "old", Checks: []Check{{Outcome: NotApplicable}, {Outcome: Fail}}},
			[]Outcome{Fail, NotApplicable, Fail},
		},
		"a late cell voids its checks": {
			Cell{Outcome: Unknown, Reason: "80 ms late", Checks: []Check{{Outcome: Pass}, {Outcome: Fail}}},
			[]Outcome{Unknown, Unknown, Unknown},
		},
		"a harness error beside a failure": {
			Cell{Checks: []Check{{Outcome: HarnessError}, {Outcome: Fail}}},
			[]Outcome{Fail, HarnessError, Fail},
		},
		"a harness error of the cell is not overridden by a failure": {
			Cell{Outcome: HarnessError, Checks: []Check{{Outcome: HarnessError}, {Outcome: Fail}}},
			[]Outcome{HarnessError, HarnessError, HarnessError},
		},
		"a check of a late cell keeps a more severe cause": {
			Cell{Outcome: Unknown, Checks: []Check{{Outcome: HarnessError}, {Outcome: NotTestable}, {Outcome: Fail}}},
			[]Outcome{HarnessError, HarnessError, Unknown, Unknown},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.cell.Settled()
			if diff := cmp.Diff(tc.want, outcomesOf(got)); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, got.Settled()); diff != "" {
				t.Errorf("settling again changes the cell (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestAReasonForNotApplyingGoesWithIt(t *testing.T) {
	t.Parallel()
	checks := []Check{{Outcome: NotApplicable, Reason: "old"}, {Outcome: Pass}}
	if got := (Cell{Outcome: NotApplicable, Reason: "old", Checks: checks}).Settled(); got.Outcome != Pass || got.Reason != "" {
		t.Errorf("%s, %q, want pass without a reason", got.Outcome, got.Reason)
	}
	if got := (Cell{Outcome: NotApplicable, Reason: "old", Checks: checks[:1]}).Settled(); got.Reason != "old" {
		t.Errorf("reason %q, want it to be kept", got.Reason)
	}
}

func outcomesOf(c Cell) []Outcome {
	outcomes := []Outcome{c.Outcome}
	for _, check := range c.Checks {
		outcomes = append(outcomes, check.Outcome)
	}
	return outcomes
}

func TestSettledChangesNothingOfItsReceiver(t *testing.T) {
	t.Parallel()
	c := Cell{Outcome: HarnessError, Checks: []Check{{ID: "a", Outcome: Pass}}}
	_ = c.Settled()
	_ = c.Overruled(Unknown, "late")
	if c.Checks[0] != (Check{ID: "a", Outcome: Pass}) {
		t.Errorf("the check became %+v", c.Checks[0])
	}
}

func TestOverruled(t *testing.T) {
	t.Parallel()
	c := Cell{Checks: []Check{
		{ID: "a", Outcome: Unknown, Reason: "no event"},
		{ID: "b", Outcome: Fail, Reason: "restarted"},
		{ID: "c", Outcome: Pass},
	}}
	got := c.Overruled(Unknown, "80 ms late")
	if want := []Outcome{Unknown, Unknown, Unknown, Unknown}; !slices.Equal(outcomesOf(got), want) {
		t.Errorf("outcomes %v, want %v", outcomesOf(got), want)
	}
	want := "the cell as a whole is unknown: 80 ms late; on its own the check was fail: restarted"
	if got.Reason != "80 ms late" || got.Checks[0].Reason != "no event" || got.Checks[1].Reason != want {
		t.Errorf("reasons %q, %q, %q", got.Reason, got.Checks[0].Reason, got.Checks[1].Reason)
	}
	if got := c.Overruled(Pass, "I say so"); got.Outcome != HarnessError || got.Checks[1].Outcome != HarnessError {
		t.Errorf("overruled as pass, the cell is %s, want harness-error", got.Outcome)
	}
}

func TestRequirementOfTwoCells(t *testing.T) {
	t.Parallel()
	eachPair(t, worstOfPairs, func(t *testing.T, a, b Outcome, want string) {
		// The other check of each cell fails, and says nothing about r.
		cells := []Cell{
			{ID: "b", Outcome: Fail, Checks: []Check{{Requirement: "r", Outcome: a}, {Requirement: "other", Outcome: Fail}}},
			{ID: "a", Outcome: Fail, Checks: []Check{{Requirement: "r", Outcome: b}, {Outcome: Fail}}},
		}
		got, serving := RequirementOutcome("r", cells)
		if got != decode(t, want) || !slices.Equal(serving, []string{"a", "b"}) {
			t.Errorf("%s by %v, want %s by a and b", got, serving, decode(t, want))
		}
	})
}

func TestRequirementOutcome(t *testing.T) {
	t.Parallel()
	serves := []string{"r"}
	passing := Cell{ID: "pass", Outcome: Pass, Checks: []Check{{Requirement: "r", Outcome: Pass}}}
	for name, tc := range map[string]struct {
		cells []Cell
		want  Outcome
	}{
		"served by no cell":  {nil, Unknown},
		"served by others":   {[]Cell{{ID: "a", Outcome: Pass, Checks: []Check{{Requirement: "other", Outcome: Pass}}}}, Unknown},
		"one check":          {[]Cell{passing}, Pass},
		"two checks":         {[]Cell{{ID: "a", Outcome: Fail, Checks: []Check{{Requirement: "r", Outcome: Pass}, {Requirement: "r", Outcome: Fail}}}}, Fail},
		"never got so far":   {[]Cell{passing, {ID: "a", Outcome: HarnessError, Requirements: serves}}, HarnessError},
		"does not apply":     {[]Cell{{ID: "a", Outcome: NotApplicable, Requirements: serves}}, NotApplicable},
		"applies elsewhere":  {[]Cell{passing, {ID: "a", Outcome: NotApplicable, Requirements: serves}}, Pass},
		"promised, no check": {[]Cell{passing, {ID: "a", Outcome: Pass, Requirements: serves, Checks: []Check{{Outcome: Pass}}}}, Unknown},
		"promised, but late": {[]Cell{{ID: "a", Outcome: NotTestable, Requirements: serves, Checks: []Check{{Outcome: NotTestable}}}}, NotTestable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := RequirementOutcome("r", tc.cells); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
