package page

import (
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// outcome is how an outcome is shown: by a letter as well as by a color.
type outcome struct {
	Name    reports.Outcome `json:"name"`
	Letter  string          `json:"letter"`
	Meaning string          `json:"meaning"`
	// Tone is what it is to a reader: "good", "bad" or "open".
	Tone string `json:"tone"`
}

// letters are no two the same.
var letters = map[reports.Outcome]string{
	reports.NotApplicable:  "N",
	reports.Pass:           "P",
	reports.Ambiguous:      "A",
	reports.ExpectedFail:   "E",
	reports.NotTestable:    "T",
	reports.Unknown:        "?",
	reports.HarnessError:   "H",
	reports.UnexpectedPass: "U",
	reports.Flaky:          "L",
	reports.Fail:           "F",
}

func shown(o reports.Outcome) outcome {
	tone := "open"
	switch {
	case o.Nonconforming():
		tone = "bad"
	case o.Expected():
		tone = "good"
	}
	return outcome{Name: o, Letter: letters[o], Meaning: o.Meaning(), Tone: tone}
}

// legend is all outcomes, the most severe first.
func legend() (all []outcome) {
	for _, o := range slices.Backward(reports.Outcomes()) {
		all = append(all, shown(o))
	}
	return all
}
