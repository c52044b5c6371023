package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/discovery"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/sweep/trial"
)

// scrape reads the metrics that are asked for from all components that run.
func (r *run) scrape(ctx context.Context) error {
	if len(r.Metrics) == 0 {
		return nil
	}
	for _, component := range r.plan.Transition.Components() {
		if !r.cluster.Running(component) {
			continue
		}
		metrics := make(map[string][]record.Sample)
		for _, path := range metricsPaths(component) {
			more, err := r.metricsOf(ctx, component, path)
			if err != nil {
				return fmt.Errorf("reading %s of %s: %w", path, component, err)
			}
			maps.Copy(metrics, more)
		}
		r.history.Append("sweep", component, record.Scraped{Path: metricsPath, Metrics: metrics})
	}
	return nil
}

const metricsPath = "/metrics"

// metricsPaths are where a component has metrics. A kubelet has those of its prober apart.
func metricsPaths(component string) []string {
	if record.Program(component) == trial.Kubelet {
		return []string{metricsPath, metricsPath + "/probes"}
	}
	return []string{metricsPath}
}

func (r *run) metricsOf(ctx context.Context, component, path string) (map[string][]record.Sample, error) {
	config, err := r.cluster.Endpoint(component)
	if err != nil {
		return nil, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	text, err := client.RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	metrics, err := provider.ParseMetrics(text)
	maps.DeleteFunc(metrics, func(name string, _ []record.Sample) bool {
		return !slices.ContainsFunc(r.Metrics, func(asked string) bool { return trial.MetricIsNamed(name, asked) })
	})
	return metrics, err
}
