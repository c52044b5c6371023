// Package clock is clocks that are wrong, as those of machines are.
package clock

import (
	"fmt"
	"strings"
	"time"
)

// Clock says what a clock shows at a time. The zero Clock is right.
type Clock struct {
	// Offset is how far the clock is ahead; behind if it is negative.
	Offset time.Duration `json:"offset,omitempty"`
	// Drift is by how many millionths the clock is too fast since Since; too slow
	// if it is negative.
	Drift float64 `json:"drift,omitempty"`
	// Frozen clocks show what they showed at Since.
	Frozen bool `json:"frozen,omitempty"`
	// Since is the time from which Drift and Frozen count. If unset, neither may
	// be set.
	Since time.Time `json:"since,omitzero"`
}

// Read is what the clock shows at a time.
func (c Clock) Read(now time.Time) time.Time {
	if c.Frozen {
		now = c.Since
	}
	shown := now.Add(c.Offset)
	if c.Drift != 0 {
		shown = shown.Add(time.Duration(float64(now.Sub(c.Since)) * c.Drift / 1e6))
	}
	return shown
}

// When returns the time at which the clock shows another one: the inverse of Read. It is for clocks that are not frozen.
func (c Clock) When(shown time.Time) time.Time {
	now := shown.Add(-c.Offset)
	if c.Drift != 0 {
		now = c.Since.Add(time.Duration(float64(now.Sub(c.Since)) / (1 + c.Drift/1e6)))
	}
	return now
}

// Step is the clock after it was set forward, or back if by is negative,
// at a time. What it has drifted until then stays.
func (c Clock) Step(now time.Time, by time.Duration) Clock {
	return Clock{Offset: c.Read(now).Sub(now) + by, Drift: c.Drift, Since: now}
}

// String is how a plan tells a clock: "35s behind, 200 ppm fast".
func (c Clock) String() string {
	var words []string
	switch {
	case c.Offset > 0:
		words = append(words, fmt.Sprintf("%s ahead", c.Offset))
	case c.Offset < 0:
		words = append(words, fmt.Sprintf("%s behind", -c.Offset))
	}
	switch {
	case c.Drift > 0:
		words = append(words, fmt.Sprintf("%g ppm fast", c.Drift))
	case c.Drift < 0:
		words = append(words, fmt.Sprintf("%g ppm slow", -c.Drift))
	}
	if c.Frozen {
		words = append(words, "frozen")
	}
	if len(words) == 0 {
		return "right"
	}
	return strings.Join(words, ", ")
}
