package build

import (
	"context"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/instrumentation"
	"github.com/skewrig/skewrig/harness/release"
)

// instrumented are the modules beside k8s.io/kubernetes that declare metrics of components.
var instrumented = []string{
	"k8s.io/apiextensions-apiserver", "k8s.io/apiserver", "k8s.io/cloud-provider", "k8s.io/component-base",
	"k8s.io/dynamic-resource-allocation", "k8s.io/endpointslice", "k8s.io/kube-aggregator", "k8s.io/pod-security-admission",
}

// Metrics are the metrics that the sources of a release declare. Of a checkout, and of a cache that was exported, they are
// not known, and none are returned.
func (b *Builder) Metrics(ctx context.Context, v release.Version) ([]instrumentation.Metric, error) {
	s, err := b.store()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(s.dir, apisDir)); err == nil || b.checkoutOf(v) != nil {
		return nil, nil
	}
	target := b.withStandIns(Target{Component: APIServer, Version: v})
	dir, err := downloadModule(ctx, s.dir, target)
	if err != nil {
		return nil, err
	}
	sources := instrumentation.Sources{"k8s.io/kubernetes": os.DirFS(dir)}
	for _, module := range instrumented {
		if dir, err = downloadPart(ctx, s.dir, target, module); err != nil {
			return nil, err
		}
		sources[module] = os.DirFS(dir)
	}
	return sources.Metrics()
}
