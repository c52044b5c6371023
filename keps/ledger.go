package keps

import (
	"slices"

	"github.com/skewrig/skewrig/reports/prr"
)

// Ledger is the answer to a question by the ledger of the proposal, from saved runs of its scenarios.
type Ledger struct {
	// Answer begins with "Yes.", "No." or "Open.", unless the question asks for more.
	Answer string `json:"answer"`
	// Holds and Fails are the statements that cells show, and those that cells contradict.
	Holds []string `json:"holds,omitempty"`
	Fails []string `json:"fails,omitempty"`
	// Differs is true if sweeps show what cells contradict, or contradict what cells show.
	Differs bool `json:"differs,omitempty"`
}

// WithLedger adds the answers of the ledger. A question that the ledger has no statement for has none.
func (r Result) WithLedger(of prr.Result) Result {
	r.Answers = slices.Clone(r.Answers)
	for n, a := range r.Answers {
		i := slices.IndexFunc(of.Answers, func(l prr.Answer) bool { return l.Question == a.Question && len(l.Statements) > 0 })
		if i < 0 {
			continue
		}
		l := Ledger{Answer: of.Answers[i].Answer}
		for _, s := range of.Answers[i].Statements {
			switch s.Says {
			case prr.Holds:
				l.Holds = append(l.Holds, s.Name())
			case prr.DoesNotHold:
				l.Fails = append(l.Fails, s.Name())
			}
		}
		l.Differs = a.Verdict == Shown && len(l.Fails) > 0 || a.Verdict == Contradicted && len(l.Fails) == 0 && len(l.Holds) > 0
		r.Answers[n].Ledger = l
	}
	return r
}
