package app

import (
	"context"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/narrate"
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

// InWords has findings of the saved run in a report directory say what their checks saw.
func InWords(ctx context.Context, dir string, report reports.Report, all []finding.Finding) {
	finding.InWords(all, report, func(c reports.Cell) *narrate.Narration {
		return narration(ctx, DirOf(dir), c, c.WorstRun(), maxCase)
	})
}

// Cases are the checks that failed in a saved run and that no list has, by the ids of their
// findings: of each the first cell.
func Cases(ctx context.Context, dir string, report reports.Report, all []finding.Finding) map[string]finding.Case {
	shown := Page(ctx, dir, report)
	run := evidence.Run{Dir: dir, Report: report, Facts: shown.Facts}
	cases := make(map[string]finding.Case)
	for _, f := range all {
		for _, o := range f.New()[:min(1, len(f.New()))] {
			c := report.Cells[slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == o.Cell })]
			check := c.Checks[slices.IndexFunc(c.Checks, func(check reports.Check) bool { return check.ID == o.Check })]
			n, err := shown.Narration(c, c.EachRun()[0], maxCase)
			if err != nil {
				n = nil // what its record says is not known: the draft has its values
			}
			cases[f.ID] = finding.NewCase(run, f, c, check, n)
		}
	}
	return cases
}

// maxCase is how long the narration of a case may be, as JSON and in bytes.
const maxCase = 1 << 20

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
