package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// maxAnnotations is how many errors, and how many warnings, GitHub shows of one
// step. More are dropped without a word.
const maxAnnotations = 10

// maxAnnotation is how much of a message is shown, in runes.
const maxAnnotation = 4000

// GitHubAnnotations writes what needs attention as workflow commands of GitHub
// Actions: an error for each cell that does not conform and each problem, a warning
// for each that was not judged, titled with the cell's id. Where there are more than
// GitHub shows, the last one says how many.
func GitHubAnnotations(w io.Writer, r reports.Report) error {
	var errors, warnings []string
	for _, problem := range r.Problems {
		errors = append(errors, annotation("error", "problem with the run", oneLine(problem, maxText)))
	}
	if r.Partial != "" {
		warnings = append(warnings, annotation("warning", "the report is partial", oneLine(r.Partial, maxText)))
	}
	for _, c := range r.Cells {
		message := fmt.Sprintf("%s\n%sreproduce: %s", c.Outcome.Word(), details(c, inWords(r)), Visible(again(c, r.Reproduce)))
		switch {
		case c.Outcome.Nonconforming():
			errors = append(errors, annotation("error", c.ID, message))
		case !c.Outcome.Expected():
			warnings = append(warnings, annotation("warning", c.ID, message))
		}
	}
	if nothingJudged(r) {
		warnings = append(warnings, annotation("warning", "nothing was judged", reports.HeadlineOf(r).String()))
	}
	lines := append(atMost("error", errors), atMost("warning", warnings)...)
	if _, err := io.WriteString(w, strings.Join(lines, "")); err != nil {
		return fmt.Errorf("writing annotations: %w", err)
	}
	return nil
}

func atMost(level string, all []string) []string {
	if len(all) <= maxAnnotations {
		return all
	}
	shown := maxAnnotations - 1
	more := fmt.Sprintf("%d more need attention: see the job summary", len(all)-shown)
	return append(all[:shown:shown], annotation(level, "and more", more))
}

func annotation(level, title, message string) string {
	return fmt.Sprintf("::%s title=%s::%s\n", level, commandProperty.Replace(oneLine(title, maxBrief)), commandData.Replace(shortened(message, maxAnnotation)))
}

// The escapes of workflow commands.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// MaxGitHubSummary is how long the summary of a step may be, in bytes. GitHub drops
// all of a longer one.
const MaxGitHubSummary = 1 << 20

// GitHubSummary writes the report as a job summary of GitHub Actions, in at most
// limit bytes: the counts and what needs attention first, then what ran, all cells, and
// how to reproduce it. If limit has no room for that, nothing is written.
func GitHubSummary(w io.Writer, r reports.Report, limit int) error {
	m := summary{bounded{limit: limit}}
	m.printf("## skewrig: %s\n\n%s.\n", verdict(r), reports.HeadlineOf(r))
	if r.Partial != "" {
		m.printf("\nPartial: %s\n", text(r.Partial))
	}
	m.reproduced(r)
	m.needs(r)
	m.folded("environment", func() {
		m.rows(reports.Each(r.Reproduce.Components, componentRow), "component", "version", "source", "digest")
	})
	m.folded(reports.Counted(len(r.Cells), "cell"), func() { m.all(r.Cells) })
	var again markdown
	again.reproduce(r.Reproduce)
	if m.Len()+again.Len() <= limit {
		m.WriteString(again.String())
	}
	if m.Len() > limit {
		return nil
	}
	return m.writeTo(w, "a job summary")
}

type summary struct{ bounded }

func (m *summary) needs(r reports.Report) {
	var cells, checks [][]string
	for _, c := range r.Cells {
		if c.Outcome.Expected() {
			continue
		}
		cells = append(cells, []string{code(c.ID), c.Outcome.Word(), brief(c.Reason)})
		for _, check := range c.Checks {
			if !check.Outcome.Expected() {
				checks = append(checks, []string{
					code(c.ID), code(check.ID), code(check.Requirement), check.Outcome.Word(),
					brief(check.Expected), brief(check.Observed), brief(check.Reason),
				})
			}
		}
	}
	m.problems(r.Problems)
	m.rows(cells, "cell", "outcome", "reason")
	if len(checks) > 0 {
		m.folded("checks", func() {
			m.rows(checks, "cell", "check", "requirement", "outcome", "expected", "observed", "reason")
		})
	}
}

func (m *summary) all(cells []reports.Cell) {
	m.rows(reports.Each(cells, func(c reports.Cell) []string {
		return []string{code(c.ID), c.Outcome.Word(), Took(c.DurationSeconds)}
	}), "cell", "outcome", "took")
}
