package page

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// wording is what a requirement says, and where that is from.
type wording struct {
	// Statement is in our words, Text where in the document it stands.
	Statement string `json:"statement"`
	Text      place  `json:"text"`
	// Sentence is that of the document, if the reader has it.
	Sentence string `json:"sentence,omitempty"`
	// Readings are other statements of what the text can mean there.
	Readings []reading `json:"readings,omitempty"`
}

// reading is another statement of the same text, with what became of it.
type reading struct {
	outcome
	ID        string `json:"id"`
	Statement string `json:"statement"`
	// Either is true if no release can do as both say.
	Either bool `json:"either"`
	// Tested is true if a cell of the run says something of it.
	Tested bool `json:"tested"`
}

// wordings are those of requirements, by their ids.
func wordings(requirements []reports.Requirement, sentences map[string][]string) map[string]wording {
	contradicting := reports.ReadingsOf(requirements)
	all := make(map[string]wording)
	for _, q := range requirements {
		line := 0
		if len(q.Lines) > 0 {
			line = q.Lines[0]
		}
		w := wording{Statement: q.Statement, Text: textPlace(q.Source, q.Document, line, q.Beyond), Sentence: strings.Join(sentences[q.ID], " ")}
		for _, other := range requirements {
			either := slices.ContainsFunc(contradicting[q.ID], func(c reports.Requirement) bool { return c.ID == other.ID })
			if other.ID != q.ID && (either || isReading(q) && isReading(other) && sameSentence(q, other)) {
				w.Readings = append(w.Readings, reading{shown(other.Outcome), other.ID, other.Statement, either, len(other.Cells) > 0})
			}
		}
		all[q.ID] = w
	}
	return all
}

// isReading reports whether a requirement says that it is one of several readings.
func isReading(q reports.Requirement) bool { return reports.WithoutReading(q.Statement) != q.Statement }

// sameSentence reports whether two requirements are from the same lines of a document.
func sameSentence(q, other reports.Requirement) bool {
	return q.Document != "" && q.Document == other.Document && slices.ContainsFunc(q.Lines, func(line int) bool { return slices.Contains(other.Lines, line) })
}

// levels and stages are what these words of a requirement mean.
var (
	levels = map[string]string{
		"core":        "a release that has the feature must do so",
		"extended":    "follows from the text, or is from a part of it that is not the contract itself",
		"provisional": "the text is a draft, or leaves it open",
	}
	stages = map[string]string{
		"alpha":  "holds from the alpha stage of the feature on",
		"beta":   "holds from the beta stage of the feature on",
		"stable": "holds from the stable stage of the feature on",
	}
)
