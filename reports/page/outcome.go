package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// outcome is how an outcome is shown: by a letter as well as by a color.
type outcome struct {
	Name reports.Outcome `json:"name"`
	// Word is what it is called where people read it, as in the headline.
	Word    string `json:"word"`
	Letter  string `json:"letter"`
	Meaning string `json:"meaning"`
	// Tone is what it is to a reader: "good", "bad" or "open".
	Tone string `json:"tone"`
}

// look is how an outcome looks, wherever it is shown: as a tile, a badge, a border, a bar
// or a mark of a timeline.
type look struct {
	letter string
	// fill is what is behind its letter, on is the letter, edge a line or a word on a
	// card.
	fill, on, edge color
}

// color is one for each theme.
type color struct{ light, dark string }

// looks has no letter twice.
var looks = map[reports.Outcome]look{
	reports.NotApplicable:  {"N", color{"#e6e7e5", "#33383e"}, color{"#41474d", "#c3c9cf"}, color{"#5a626b", "#a3abb4"}},
	reports.Pass:           {"P", color{"#d5eedd", "#17402a"}, color{"#12492a", "#a9e5be"}, color{"#1b6e3c", "#7fd39c"}},
	reports.Ambiguous:      {"A", color{"#ece0f5", "#3d2554"}, color{"#4a2170", "#dcc0f5"}, color{"#6d3aa0", "#c9a0f0"}},
	reports.ExpectedFail:   {"D", color{"#dbe6f7", "#20395c"}, color{"#1b3c6e", "#b3d1fa"}, color{"#1f5fa8", "#86b9f4"}},
	reports.NotTestable:    {"T", unjudged.fill, unjudged.on, unjudged.edge},
	reports.Unknown:        {"?", unjudged.fill, unjudged.on, unjudged.edge},
	reports.HarnessError:   {"H", unjudged.fill, unjudged.on, unjudged.edge},
	reports.UnexpectedPass: {"U", color{"#8a2a86", "#eb9ae6"}, color{"#ffffff", "#33062f"}, color{"#8a2a86", "#eb9ae6"}},
	reports.Flaky:          {"L", color{"#a84c00", "#ffa45c"}, color{"#ffffff", "#331700"}, color{"#a84c00", "#ffa45c"}},
	reports.Fail:           {"F", color{"#b3201f", "#ff8078"}, color{"#ffffff", "#380504"}, color{"#b3201f", "#ff9087"}},
}

// unjudged is how the outcomes look that are no verdict.
var unjudged = look{fill: color{"#fbe39b", "#5c4708"}, on: color{"#513700", "#ffe39a"}, edge: color{"#7a5400", "#f0c05a"}}

// outcomeStyles are the classes of the outcomes: "o-pass". The style sheet uses their
// colors, and has none of its own for outcomes.
func outcomeStyles() string {
	var b strings.Builder
	for _, o := range reports.Outcomes() {
		l := looks[o]
		fmt.Fprintf(&b, ".o-%s { --fill: %s; --on: %s; --edge: %s }\n", o, l.fill, l.on, l.edge)
	}
	return b.String()
}

func (c color) String() string { return "light-dark(" + c.light + ", " + c.dark + ")" }

func shown(o reports.Outcome) outcome {
	tone := "open"
	switch {
	case o.Nonconforming():
		tone = "bad"
	case o.Expected():
		tone = "good"
	}
	return outcome{Name: o, Word: o.Word(), Letter: looks[o].letter, Meaning: o.Meaning(), Tone: tone}
}

// IsNew reports whether it is that of cells that deviate and that no list has.
func (o outcome) IsNew() bool { return o.Name == reports.Fail }

// IsRecorded reports whether it is that of cells whose deviations a list has.
func (o outcome) IsRecorded() bool { return o.Name == reports.ExpectedFail }

// legend is all outcomes, the most severe first.
func legend() (all []outcome) {
	for _, o := range slices.Backward(reports.Outcomes()) {
		all = append(all, shown(o))
	}
	return all
}
