package plot

import "math"

// axis is where values are in the picture: from is at begin, to at end.
type axis struct{ from, to, begin, end float64 }

func (a axis) place(v float64) float64 {
	v = min(max(v, a.from), a.to) // what is outside is at the edge
	return a.begin + (v-a.from)/(a.to-a.from)*(a.end-a.begin)
}

// shows reports whether a value is on the axis.
func (a axis) shows(v float64) bool { return a.from <= v && v <= a.to }

// ticks returns round values on the axis, about as many as asked for, and at
// least as far from each other as said.
func (a axis) ticks(about, apart float64) (values []float64) {
	step := max(round((a.to-a.from)/about), apart)
	first := math.Ceil(a.from / step)
	for i := range int(math.Floor(a.to/step-first)) + 1 {
		values = append(values, (first+float64(i))*step)
	}
	return values
}

// round returns the next number upwards that is 1, 2 or 5 and zeros.
func round(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= v {
			return factor * power
		}
	}
	return 10 * power
}
