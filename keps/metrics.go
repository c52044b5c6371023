package keps

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/instrumentation"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/sweep/trial"
)

var (
	// metricInText is a metric as texts name one among other words: those of kep.yaml may end otherwise.
	metricInText = regexp.MustCompile(`\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*_(?:total|seconds|bytes|count|bucket|sum)\b`)
	// metricNamed is one where the template of proposals asks for its name.
	metricNamed = regexp.MustCompile("(?i)Metric name: *`?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\\b")
	// ofOthers are metrics of what a rig does not run, or of libraries, and outside are texts about such.
	ofOthers = regexp.MustCompile(`^(kube|container|machine|node|csi|cluster_autoscaler|kubeproxy|coredns|etcd|go|process)_`)
	outside  = regexp.MustCompile(`(?i)autoscaler|kube-?proxy|cloud.controller|csi|coredns|kube-state-metrics|cadvisor`)
	// reasonInText is the reason of an event, as the template of proposals asks for it.
	reasonInText = regexp.MustCompile("Event Reason:? *`?([A-Z][A-Za-z]+)\\b")
)

// metricsOf are the metrics that a proposal names in its answer to a question. Those of kep.yaml are indicators.
func (k KEP) metricsOf(question string) (names []string) {
	if question == prr.Indicators {
		names = slices.Clone(k.Metrics)
	}
	names = append(names, metricInText.FindAllString(k.Written[question].Text, -1)...)
	for _, found := range metricNamed.FindAllStringSubmatch(k.Written[question].Text, -1) {
		names = append(names, found[1])
	}
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
	for _, name := range names {
		seen := a.metric(had, name)
		answer.Sentences = append(answer.Sentences, seen.sentence)
		if !seen.moves {
			answer.Verdict = Partly
		}
		if seen.missing && !ofOthers.MatchString(name) && !outside.MatchString(answer.Written.Text) {
			answer.Beside = Disagrees
		}
	}
}

// seenMetric is what was seen of a metric that a text names.
type seenMetric struct {
	sentence string
	moves    bool
	missing  bool // the release does not declare it
}

// metric looks for a metric among those that components had.
func (a asked) metric(had []trial.Metric, name string) seenMetric {
	declared := reports.Only(a.Declared, func(m instrumentation.Metric) bool { return m.Is(name) || slices.Contains(m.Short, name) })
	named := reports.Each(declared, func(m instrumentation.Metric) string { return m.Name }) // in full
	seen := reports.Only(had, func(m trial.Metric) bool { return m.Is(name) || slices.Contains(named, m.Name) })
	if len(seen) == 0 {
		return a.unseen(name, named)
	}
	moves := slices.ContainsFunc(seen, func(m trial.Metric) bool { return m.Moved })
	how := "it did not move while objects were made"
	if moves {
		how = "it moved while objects were made"
	}
	where := reports.Each(seen, func(m trial.Metric) string {
		if m.Is(name) {
			return m.Component + " has it"
		}
		return m.Component + " has it as " + m.Name
	})
	return seenMetric{sentence: fmt.Sprintf("%s: %s, and %s.", name, strings.Join(where, ", "), how), moves: moves}
}

// unseen looks for a metric that no component had among those that the release declares, which names it so in full.
func (a asked) unseen(name string, named []string) seenMetric {
	switch {
	case len(named) > 0:
		return seenMetric{sentence: fmt.Sprintf("%s declares %s; no component that ran has counted it.", a.Release.Version, strings.Join(named, " and "))}
	case len(a.Declared) == 0:
		return seenMetric{sentence: fmt.Sprintf("No component that ran had %s.", name)}
	}
	sentence := fmt.Sprintf("The sources of %s declare no metric %s", a.Release.Version, name)
	if like := a.nearest(name); like != "" {
		sentence += ", but " + like
	}
	return seenMetric{sentence: sentence + ".", missing: true}
}

// nearest is the declared metric that shares most words with a name, and more than half of all. If none does, it is empty.
func (a asked) nearest(name string) (best string) {
	words, most := strings.Split(name, "_"), 0.5
	for _, m := range a.Declared {
		has := strings.Split(m.Name, "_")
		shared := len(reports.Only(words, func(w string) bool { return slices.Contains(has, w) }))
		if share := float64(shared) / float64(len(words)+len(has)-shared); share > most {
			best, most = m.Name, share
		}
	}
	return best
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
