package reports

import (
	"fmt"
	"math"
)

// Rate is how often something failed, and between which bounds the share may be
// that is behind it.
type Rate struct {
	// Failed is how many of the judged runs of a cell were not as expected. Where
	// all of them were, it is how many failed as is known: how surely a known bug
	// shows.
	Failed int `json:"failed"`
	// Runs is how many were judged.
	Runs int `json:"runs"`
	// Low and High are the bounds of the 95 % confidence interval of the share of
	// failures, from 0 to 1, to four digits.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z95 is how many standard deviations from the mean 95 % of a normal
// distribution are.
const z95 = 1.959964

// NewRate returns the rate of so many failures in so many runs, with Wilson's
// interval, which is sound for few runs too, and for no failures in them. Of no
// runs nothing is known: the rate is zero.
func NewRate(failed, runs int) Rate {
	if runs < 1 {
		return Rate{}
	}
	n, p := float64(runs), float64(failed)/float64(runs)
	middle := p + z95*z95/(2*n)
	spread := z95 * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	bound := func(x float64) float64 {
		x /= 1 + z95*z95/n
		return math.Round(min(max(x, 0), 1)*1e4) / 1e4
	}
	return Rate{Failed: failed, Runs: runs, Low: bound(middle - spread), High: bound(middle + spread)}
}

// String returns "2 of 5 runs (95 % interval: 12 % to 77 %)".
func (r Rate) String() string {
	return fmt.Sprintf("%d of %d runs (95 %% interval: %.0f %% to %.0f %%)", r.Failed, r.Runs, 100*r.Low, 100*r.High)
}

// rate counts the failures of runs.
func rate(runs []Run) Rate {
	outcomes := ofRuns(runs)
	failed := countIf(outcomes, Outcome.Nonconforming)
	if failed == 0 {
		failed = countIf(outcomes, Outcome.Recorded)
	}
	return NewRate(failed, countIf(outcomes, Outcome.Judged))
}
