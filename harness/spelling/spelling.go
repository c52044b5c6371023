// Package spelling finds the names that a misspelled name may stand for.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// Closest returns the names that name may have been meant for, the
// likeliest first: those that differ in case only, or in two of five
// characters at most.
func Closest(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, n := range names {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if 5*d <= 2*max(len(n), len(name)) {
			near = append(near, candidate{n, d})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	found := make([]string, len(near))
	for i, c := range near {
		found[i] = c.name
	}
	return found
}

// maxCompared bounds the names that are compared, in bytes: longer ones are not
// slips of the pen.
const maxCompared = 512

// distance is how many characters must be inserted, removed, replaced or
// swapped with their neighbour to get from a to b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > maxCompared || len(b) > maxCompared {
		return max(len(a), len(b))
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
