package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// slower returns the cells that took longer, and the pace of the second run.
func slower(from, to []reports.Cell, options Options) ([]Slower, float64) {
	factor, seconds := options.SlowerFactor, options.SlowerSeconds
	if factor == 0 && seconds == 0 {
		factor, seconds = 1.5, 10
	}
	var both []Slower
	for _, p := range pairs(from, to, func(c reports.Cell) string { return c.ID }) {
		if p.before != nil && p.after != nil && p.before.DurationSeconds > 0 && p.after.DurationSeconds > 0 {
			both = append(both, Slower{p.id, p.before.DurationSeconds, p.after.DurationSeconds})
		}
	}
	pace := medianRatio(both)
	slowdown := max(1, pace)
	found := []Slower{}
	for _, s := range both {
		if usual := s.Before * slowdown; s.After > usual*factor && s.After-usual > seconds {
			found = append(found, s)
		}
	}
	return found, math.Round(pace*1000) / 1000
}

// medianRatio is the median of how many times as long cells took, and 0 if there
// are none.
func medianRatio(cells []Slower) float64 {
	if len(cells) == 0 {
		return 0
	}
	ratio := func(s Slower) float64 { return s.After / s.Before }
	sorted := slices.SortedFunc(slices.Values(cells), func(a, b Slower) int { return cmp.Compare(ratio(a), ratio(b)) })
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return ratio(sorted[middle])
	}
	return (ratio(sorted[middle-1]) + ratio(sorted[middle])) / 2
}
