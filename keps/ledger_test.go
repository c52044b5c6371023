package keps

import (
	"reflect"
	"testing"

	"github.com/skewrig/skewrig/reports/prr"
)

func TestWithLedger(t *testing.T) {
	t.Parallel()
	statement := func(id string, says prr.Says) prr.Statement { return prr.Statement{ID: id, Says: says} }
	for name, tc := range map[string]struct {
		verdict    Verdict
		statements []prr.Statement
		want       Ledger
	}{
		"no statement":                          {Shown, nil, Ledger{}},
		"both show it":                          {Shown, []prr.Statement{statement("a", prr.Holds)}, Ledger{Answer: "Yes.", Holds: []string{"a"}}},
		"cells contradict what sweeps show":     {Shown, []prr.Statement{statement("a", prr.Holds), statement("b", prr.DoesNotHold)}, Ledger{Answer: "Yes.", Holds: []string{"a"}, Fails: []string{"b"}, Differs: true}},
		"sweeps contradict what cells show":     {Contradicted, []prr.Statement{statement("a", prr.Holds)}, Ledger{Answer: "Yes.", Holds: []string{"a"}, Differs: true}},
		"both contradict it":                    {Contradicted, []prr.Statement{statement("a", prr.DoesNotHold)}, Ledger{Answer: "Yes.", Fails: []string{"a"}}},
		"sweeps contradict what did not run":    {Contradicted, []prr.Statement{statement("a", prr.NotRun)}, Ledger{Answer: "Yes."}},
		"sweeps show a part of what cells deny": {Partly, []prr.Statement{statement("a", prr.DoesNotHold)}, Ledger{Answer: "Yes.", Fails: []string{"a"}}},
	} {
		r := Result{Answers: []Answer{{Question: prr.Disabled, Verdict: tc.verdict}, {Question: prr.Upgrades}}}
		got := r.WithLedger(prr.Result{Answers: []prr.Answer{{Question: prr.Disabled, Answer: "Yes.", Statements: tc.statements}}})
		if !reflect.DeepEqual(got.Answers[0].Ledger, tc.want) || got.Answers[1].Ledger.Answer != "" || r.Answers[0].Ledger.Answer != "" {
			t.Errorf("%s: %+v", name, got.Answers)
		}
	}
}
