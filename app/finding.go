package app

import (
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/narrate/saved"
)

// Findings returns what the saved run in a report directory found, by weight. If texts
// is set, it is a directory with the texts of the proposals, which are quoted.
func Findings(dir, texts string) (reports.Report, []finding.Finding, error) {
	report, err := ReadReport(dir)
	if err != nil {
		return report, nil, err
	}
	run, err := saved.Run(dir, report, func(c reports.Cell) bool { return !c.OfReference() })
	if err != nil {
		return report, nil, Failed(err)
	}
	sentences := make(map[string][]string)
	if texts != "" {
		quoted, err := readTexts(texts, "")
		if err != nil {
			return report, nil, err
		}
		for _, text := range quoted {
			for id, quotes := range text.Quotes {
				for _, q := range quotes {
					sentences[id] = append(sentences[id], q.Text)
				}
			}
		}
	}
	return report, finding.All(run, sentences), nil
}
