package trial

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
)

// Metric is a metric of a component.
type Metric struct {
	// Name is as the component has it: of a histogram, without _count.
	Name      string `json:"name"`
	Component string `json:"component"` // a program, such as kube-apiserver
	// Moved is true if its sum changed in one run of the component.
	Moved bool `json:"moved,omitempty"`
}

// Is reports whether the metric has a name, which may be that of a sample of a histogram.
func (m Metric) Is(name string) bool { return m.Name == histogram(name) }

// MetricIsNamed reports whether a metric has a name, or one that ends with it: texts leave out what component-base puts
// before it, and say request_total for apiserver_request_total.
func MetricIsNamed(metric, name string) bool {
	metric, name = histogram(metric), histogram(name)
	return metric == name || strings.HasSuffix(metric, "_"+name)
}

// histogram is the name of a metric, without what a sample of a histogram adds.
func histogram(name string) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if short, is := strings.CutSuffix(name, suffix); is {
			return short
		}
	}
	return name
}

// Metrics are those of components as they were scraped: in the order of the events, before objects were made, and afterwards.
func Metrics(events []record.Event) (all []Metric) {
	before := make(map[string]map[string]float64) // by component
	for _, e := range events {
		if _, started := record.As[record.ComponentStarted](e); started {
			delete(before, e.Subject) // its counts begin anew
		}
		scraped, is := record.As[record.Scraped](e)
		if !is {
			continue
		}
		sums := make(map[string]float64)
		for name, samples := range scraped.Metrics {
			for _, s := range samples {
				sums[histogram(name)] += s.Value
			}
		}
		first, had := before[e.Subject]
		for name, sum := range sums {
			all = MergeMetrics(all, []Metric{{Name: name, Component: record.Program(e.Subject), Moved: had && sum != first[name]}})
		}
		if !had {
			before[e.Subject] = sums
		}
	}
	return all
}

// Witnessed is what plans saw beside what laws judge.
type Witnessed struct {
	// Metrics are those of the metrics that were looked for and that components had.
	Metrics []Metric `json:"metrics,omitempty"`
	// Reasons are those of events about objects, sorted.
	Reasons []string `json:"reasons,omitempty"`
}

// Witnessed is what the plan saw beside what laws judge.
func (s Seen) Witnessed() Witnessed {
	w := Witnessed{Metrics: s.Metrics}
	for _, h := range s.Happenings {
		w.Reasons = append(w.Reasons, h.Reason)
	}
	return w
}

// With adds what others saw.
func (w Witnessed) With(more Witnessed) Witnessed {
	reasons := slices.Concat(w.Reasons, more.Reasons)
	slices.Sort(reasons)
	return Witnessed{MergeMetrics(w.Metrics, more.Metrics), slices.Compact(reasons)}
}

// MergeMetrics adds metrics of another plan to some, sorted.
func MergeMetrics(all, more []Metric) []Metric {
	all = slices.Clone(all)
	for _, m := range more {
		n := slices.IndexFunc(all, func(had Metric) bool { return had.Name == m.Name && had.Component == m.Component })
		if n < 0 {
			all = append(all, m)
			continue
		}
		all[n].Moved = all[n].Moved || m.Moved
	}
	slices.SortFunc(all, func(a, b Metric) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Component, b.Component))
	})
	return all
}
