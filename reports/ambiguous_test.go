package reports

import (
	"strings"
	"testing"
)

func TestReadings(t *testing.T) {
	t.Parallel()
	// One of the two statements names the other.
	readings := ReadingsOf([]Requirement{{ID: "K/obeys", Statement: "First reading: it does.", Contradicts: []string{"K/falls-back"}}, {ID: "K/falls-back", Statement: "First reading: it does."}, {ID: "K/other"}})
	check := func(requirement string, outcome Outcome) Check {
		return Check{ID: strings.ToLower(strings.ReplaceAll(requirement, "/", "-")) + "-" + string(outcome), Requirement: requirement, Outcome: outcome, Reason: "recorded"}
	}
	for name, tc := range map[string]struct {
		checks []Check
		want   Outcome // of the last check
	}{
		"does as the other reading says":       {[]Check{check("K/falls-back", Pass), check("K/obeys", ExpectedFail)}, Ambiguous},
		"does as the one says":                 {[]Check{check("K/obeys", Pass), check("K/falls-back", ExpectedFail)}, Ambiguous},
		"does as neither says":                 {[]Check{check("K/falls-back", ExpectedFail), check("K/obeys", ExpectedFail)}, ExpectedFail},
		"the other reading was not tested":     {[]Check{check("K/obeys", ExpectedFail)}, ExpectedFail},
		"the other reading was not judged":     {[]Check{check("K/falls-back", Unknown), check("K/obeys", ExpectedFail)}, ExpectedFail},
		"the other reading holds in part":      {[]Check{check("K/falls-back", Fail), check("K/falls-back", Pass), check("K/obeys", ExpectedFail)}, ExpectedFail},
		"another statement holds":              {[]Check{check("K/other", Pass), check("K/obeys", ExpectedFail)}, ExpectedFail},
		"a statement that nothing opposes":     {[]Check{check("K/obeys", Pass), check("K/other", ExpectedFail)}, ExpectedFail},
		"a deviation not recorded still fails": {[]Check{check("K/falls-back", Pass), check("K/obeys", Fail)}, Fail},
		"what passes stays so":                 {[]Check{check("K/falls-back", Pass), check("K/obeys", Pass)}, Pass},
	} {
		c := readings.Judge(Cell{ID: "a/b/c", Checks: tc.checks}.Settled())
		last := c.Checks[len(c.Checks)-1]
		if last.Outcome != tc.want {
			t.Errorf("%s: %s, want %s", name, last.Outcome, tc.want)
		}
		if tc.want == Ambiguous && (c.Outcome != Ambiguous || last.Reason != "the text says two things. This release does the other, "+
			tc.checks[0].Requirement+": It does. Authors: which is meant? Recorded: recorded") {
			t.Errorf("%s: the cell is %s, and the check says %q", name, c.Outcome, last.Reason)
		}
		rests := readings.Rests(c, last)
		if is := len(rests) == 1 && rests[0].ID == tc.checks[0].ID; is != (tc.want == Ambiguous) || !is && len(rests) > 0 {
			t.Errorf("%s: it rests on %+v", name, rests)
		}
	}
}
