package keps

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/sweep/trial"
)

var (
	// metricInText is a metric as texts name one among other words: those of kep.yaml may end otherwise.
	metricInText = regexp.MustCompile(`\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*_(?:total|seconds|bytes|count|bucket|sum)\b`)
	// reasonInText is the reason of an event, as the template of proposals asks for it.
	reasonInText = regexp.MustCompile("Event Reason:? *`?([A-Z][A-Za-z]+)\\b")
)

// metricsOf are the metrics that a proposal names in its answer to a question. Those of kep.yaml are indicators.
func (k KEP) metricsOf(question string) (names []string) {
	if question == prr.Indicators {
		names = slices.Clone(k.Metrics)
	}
	names = append(names, metricInText.FindAllString(k.Written[question].Text, -1)...)
	slices.Sort(names)
	return slices.Compact(names)
}

// questionsOfMetrics are those that proposals answer by metrics.
var questionsOfMetrics = []string{prr.RollbackMetrics, prr.InUse, prr.Indicators}

// Metrics are the metrics that proposals name, sorted, each once.
func Metrics(all []KEP) (names []string) {
	for _, k := range all {
		for _, question := range questionsOfMetrics {
			names = append(names, k.metricsOf(question)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// metrics answers by the metrics that the proposal names: whether components have them, and whether they move.
func (a asked) metrics(answer *Answer) {
	names := a.metricsOf(answer.Question)
	if len(names) == 0 {
		answer.Verdict, answer.Sentences = NotTried, []string{"The text names no metric here."}
		return
	}
	var had []trial.Metric
	read := false
	for _, r := range a.sweeps() {
		had, read = trial.MergeMetrics(had, r.Metrics), read || len(r.Asked) > 0
	}
	if !read {
		answer.Verdict, answer.Sentences = NotTried, []string{"No sweep has read metrics."}
		return
	}
	answer.Verdict, answer.Sentences = Shown, nil
	var absent []string
	for _, name := range names {
		seen := metricIn(had, name)
		if seen.sentence == "" {
			absent = append(absent, name)
		} else {
			answer.Sentences = append(answer.Sentences, seen.sentence)
		}
		if !seen.moves {
			answer.Verdict = Partly
		}
		if seen.renamed {
			answer.Beside = Disagrees
		}
	}
	if len(absent) > 0 {
		answer.Sentences = append(answer.Sentences, fmt.Sprintf("No component that ran had %s. A metric with labels appears when it is first counted.", strings.Join(absent, ", ")))
	}
}

// seenMetric is what was seen of a metric that a text names.
type seenMetric struct {
	sentence string // if unset, no component had it
	moves    bool
	renamed  bool // a component has it under a longer name
}

// metricIn looks for a metric among those that components had.
func metricIn(had []trial.Metric, name string) seenMetric {
	exact := reports.Only(had, func(m trial.Metric) bool { return m.Is(name) })
	if len(exact) == 0 {
		longer := reports.Only(had, func(m trial.Metric) bool { return trial.MetricIsNamed(m.Name, name) })
		if len(longer) == 0 {
			return seenMetric{}
		}
		others := reports.Each(longer, func(m trial.Metric) string { return m.Component + " has " + m.Name })
		return seenMetric{sentence: fmt.Sprintf("No component that ran had %s: %s.", name, reports.Few(others, 3)), renamed: true}
	}
	moves := slices.ContainsFunc(exact, func(m trial.Metric) bool { return m.Moved })
	how := "it did not move while objects were made"
	if moves {
		how = "it moved while objects were made"
	}
	components := reports.Each(exact, func(m trial.Metric) string { return m.Component })
	return seenMetric{sentence: fmt.Sprintf("%s: %s has it, and %s.", name, strings.Join(components, ", "), how), moves: moves}
}

// events answers by the events that the proposal names: whether any had their reasons.
func (a asked) events(answer *Answer) {
	answer.Verdict, answer.Sentences = NotTried, []string{"The text names no reason of an event here."}
	var seen []string
	for _, r := range a.sweeps() {
		seen = append(seen, r.Reasons...)
	}
	text := strings.ReplaceAll(a.Written[answer.Question].Text, "API .status", "-") // the template's line after a reason that is left empty
	for n, found := range reasonInText.FindAllStringSubmatch(text, -1) {
		if n == 0 {
			answer.Verdict, answer.Sentences = Shown, nil
		}
		if slices.Contains(seen, found[1]) {
			answer.Sentences = append(answer.Sentences, fmt.Sprintf("There were events with the reason %s.", found[1]))
			continue
		}
		answer.Verdict = Partly
		answer.Sentences = append(answer.Sentences, fmt.Sprintf("No event had the reason %s.", found[1]))
	}
}
