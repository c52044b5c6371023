package existing

import (
	"fmt"

	"github.com/skewrig/skewrig/harness/existing/facts"
)

// buildInfo is the metric in which a component has its version (k8s.io/component-base/metrics/prometheus/version).
const buildInfo = "kubernetes_build_info"

// ComponentOf reads from the metrics of a component, in the text format of Prometheus, what it is.
func ComponentOf(name string, metrics []byte) (facts.Component, error) {
	c := facts.Component{Name: name, Gates: gatesOf(metrics, nil, "")}
	own, err := samples(metrics, buildInfo)
	if err != nil {
		return c, fmt.Errorf("reading the metrics of %s: %w", name, err)
	}
	for _, m := range own {
		for _, l := range m.GetLabel() {
			if l.GetName() == "git_version" {
				c.Version = l.GetValue()
			}
		}
	}
	if c.Version == "" {
		return c, fmt.Errorf("the metrics of %s have no %s with a git_version", name, buildInfo)
	}
	return c, nil
}
