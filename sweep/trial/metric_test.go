package trial_test

import (
	"io"
	"slices"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/sweep/trial"
)

// TestMetrics: a metric moves if its sum changes while its component runs.
func TestMetrics(t *testing.T) {
	t.Parallel()
	h := record.NewHistory(io.Discard)
	scraped := func(component string, values map[string]float64) {
		metrics := make(map[string][]record.Sample)
		for name, value := range values {
			metrics[name] = []record.Sample{{Value: value}}
		}
		h.Append("sweep", component, record.Scraped{Path: "/metrics", Metrics: metrics})
	}
	scraped("kube-apiserver/a", map[string]float64{"moves_total": 1, "still": 2, "took_seconds_count": 1, "took_seconds_sum": 0.5})
	scraped("kubelet/node-a", map[string]float64{"moves_total": 1})
	scraped("kube-apiserver/a", map[string]float64{"moves_total": 3, "still": 2, "took_seconds_count": 2, "took_seconds_sum": 0.6, "new_total": 1})
	scraped("kubelet/node-a", map[string]float64{"moves_total": 1})
	h.Append("rig", "kubelet/node-a", record.ComponentStarted{})
	scraped("kubelet/node-a", map[string]float64{"moves_total": 0})
	want := []trial.Metric{
		{Name: "moves_total", Component: "kube-apiserver", Moved: true}, {Name: "moves_total", Component: "kubelet"},
		{Name: "new_total", Component: "kube-apiserver", Moved: true}, {Name: "still", Component: "kube-apiserver"},
		{Name: "took_seconds", Component: "kube-apiserver", Moved: true},
	}
	if got := trial.Metrics(h.Events()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, is := range map[string]bool{
		"took_seconds": true, "took_seconds_bucket": true, "seconds": true, "ook_seconds": false, "took": false, "kube_took_seconds": false,
	} {
		if trial.MetricIsNamed("took_seconds_count", name) != is {
			t.Errorf("%s: %v", name, !is)
		}
	}
}
