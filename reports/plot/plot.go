// Package plot draws what happened over time as SVG: panels one above the other,
// on one axis of time. It knows nothing of what it draws. A picture is a plain
// value, and the same value is always the same picture: it has no scripts, nothing
// from outside, and its texts are escaped.
//
// It is written by hand, on encoding/xml: what gonum.org/v1/plot writes as SVG is
// not well-formed if a text has control characters, and has neither title nor
// description; and rows of bars and marks would have to be drawn there, too.
package plot

// Picture is panels one above the other. All times are seconds.
type Picture struct {
	// Title says what is shown, Subtitle of what.
	Title, Subtitle string
	// Description is for who can't see the picture.
	Description string
	// From and To are the ends of the axis, Axis is what it is of.
	From, To float64
	Axis     string
	// Shades are spans that are shaded through all panels.
	Shades []Span
	Panels []Panel
	// Steps are what was done one after the other. Each lasts until the next.
	Steps []Step
}

// Panel is a graph, or, if it has lanes, those.
type Panel struct {
	Title string
	// Top is a value that the graph must reach at the least.
	Top   float64
	Lines []Line
	// Stems are values of single moments.
	Stems  []Stems
	Limits []Limit
	Lanes  []Lane
}

// Line is a value over time.
type Line struct {
	Label  string
	Points []Point
	// Color is the number of a color: what belongs together has the same.
	Color int
	Style Style
	// Held is true if a value lasts until the next one. Otherwise it is not known
	// in between.
	Held bool
}

// Point is a value at a time.
type Point struct{ At, Value float64 }

// Style is how a line is drawn.
type Style string

// The styles of lines.
const (
	Solid  Style = "solid"
	Dashed Style = "dashed"
	Dotted Style = "dotted"
)

// Stems are values of single moments.
type Stems struct {
	Label  string
	Points []Point
	Look   Look
}

// Limit is a value that a graph is compared with.
type Limit struct {
	Label string
	At    float64
}

// Lane is a row with a name, which has bars, a line, marks, or several of them.
type Lane struct {
	Name string
	Bars []Span
	// Steps is a value that lasts until the next one. It is written where it
	// begins.
	Steps []Point
	Marks []Marks
}

// Marks are moments at which the same thing happened.
type Marks struct {
	Label string
	At    []float64
	Look  Look
}

// Span is a time, which may have a label.
type Span struct {
	From, To float64
	Label    string
	Look     Look
}

// Look says what to think of something.
type Look string

// The looks.
const (
	Good  Look = "good"
	Bad   Look = "bad"
	Doubt Look = "doubt"
	Gone  Look = "gone"
)

// Step is something that was done.
type Step struct {
	At   float64
	Name string // the shortest that there is, a number perhaps
	Text string
}
