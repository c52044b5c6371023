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
	run, err := saved.Run(DirOf(dir), report, finding.Concerned(report))
	if err != nil {
		return report, nil, Failed(err)
	}
	sentences, err := Sentences(texts)
	if err != nil {
		return report, nil, err
	}
	return report, finding.All(run, sentences), nil
}

// Sentences are those of the texts of the proposals in a directory, by the ids of the
// requirements. Without a directory there are none.
func Sentences(texts string) (map[string][]string, error) {
	sentences := make(map[string][]string)
	if texts == "" {
		return sentences, nil
	}
	quoted, err := readTexts(texts, "")
	if err != nil {
		return nil, err
	}
	for _, text := range quoted {
		for id, quotes := range text.Quotes {
			for _, q := range quotes {
				sentences[id] = append(sentences[id], q.Text)
			}
		}
	}
	return sentences, nil
}
