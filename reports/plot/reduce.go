package plot

import (
	"math"
	"slices"
)

// column is how many pixels have to be enough for what happens in them: a run
// of hours is no bigger than one of minutes.
const column = 3

// columns groups what happened at about the same time, in the order of time.
func columns[T any](all []T, x func(T) float64) (groups [][]T) {
	last := math.Inf(-1)
	for _, one := range all {
		c := math.Floor(x(one) / column)
		if c != last || len(groups) == 0 {
			groups = append(groups, nil)
			last = c
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], one)
	}
	return groups
}

// reduced returns of the points in each column the lowest, the highest and the
// last one, in the order of time: nothing sticks out that would not be seen.
func reduced(points []Point, x axis) (kept []Point) {
	for _, group := range columns(points, func(p Point) float64 { return x.place(p.At) }) {
		low, high := 0, 0
		for i, p := range group {
			if p.Value < group[low].Value {
				low = i
			}
			if p.Value > group[high].Value {
				high = i
			}
		}
		places := []int{low, high, len(group) - 1}
		slices.Sort(places)
		for _, i := range slices.Compact(places) {
			kept = append(kept, group[i])
		}
	}
	return kept
}

// within returns the points that are on the axis. A held value that began before
// is there from the beginning, and the last one lasts until the end.
func within(points []Point, x axis, held bool) (shown []Point) {
	for _, p := range points {
		switch {
		case x.shows(p.At):
			shown = append(shown, p)
		case held && p.At < x.from:
			shown = []Point{{At: x.from, Value: p.Value}}
		}
	}
	if held && len(shown) > 0 {
		shown = append(shown, Point{At: x.to, Value: shown[len(shown)-1].Value})
	}
	return shown
}

// inColumns returns one of the moments of each column.
func inColumns(moments []float64, x axis) (kept []float64) {
	moments = slices.DeleteFunc(slices.Clone(moments), func(m float64) bool { return !x.shows(m) })
	for _, group := range columns(moments, x.place) {
		kept = append(kept, group[0])
	}
	return kept
}
