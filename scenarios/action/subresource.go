package action

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// checkResource reports a resource, or one with a subresource, that no API server has.
func checkResource(f spec.Field, at, text string) {
	of, part, both := strings.Cut(text, "/")
	switch {
	case both:
		checkSubresourceAt(f, at, of, part)
	case kube.ByResource(of).Name == "" && !f.Creates("CustomResourceDefinition", ""):
		f.Report(at, "Kubernetes has no resource %s, and the scenario defines none: %s", strict.Quote(of), strict.DidYouMean(of, builtIn()))
	}
}

// builtIn are the resources of Kubernetes.
func builtIn() (all []string) {
	for _, kind := range kube.Kinds() {
		all = append(all, kind.Resource)
	}
	return all
}

// checkSubresource reports a subresource that a resource doesn't have. A resource that is not of
// Kubernetes may have those of a CustomResourceDefinition.
func checkSubresource(f spec.Field, resource, subresource string) {
	checkSubresourceAt(f, ".subresource", resource, subresource)
}

func checkSubresourceAt(f spec.Field, at, resource, subresource string) {
	known := []string{"status", "scale"}
	if kind := kube.ByResource(resource); kind.Name != "" {
		known = kind.Subresources
	}
	if !slices.Contains(known, subresource) {
		f.Report(at, "%s have no subresource %s that can be written: %s", resource, strict.Quote(subresource), strict.DidYouMean(subresource, known))
	}
}
