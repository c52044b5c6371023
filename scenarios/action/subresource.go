package action

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// subresources are those of the resources of Kubernetes that can be written, as the discovery of
// v1.37.1 lists them with all APIs on, and the resources that have them.
var subresources = []struct{ names, of []string }{
	{nil, strings.Fields(`
		bindings clusterrolebindings clusterroles clustertrustbundles componentstatuses configmaps
		controllerrevisions csidrivers csistoragecapacities deviceclasses endpoints endpointslices events
		ingressclasses ipaddresses leasecandidates leases limitranges localsubjectaccessreviews
		mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations
		networkpolicies podtemplates priorityclasses resourceclaimtemplates resourceslices rolebindings
		roles runtimeclasses secrets selfsubjectaccessreviews selfsubjectreviews selfsubjectrulesreviews
		storageclasses subjectaccessreviews tokenreviews validatingadmissionpolicybindings
		validatingwebhookconfigurations volumeattributesclasses`)},
	{[]string{"status"}, strings.Fields(`
		apiservices cronjobs csinodes customresourcedefinitions daemonsets devicetaintrules flowschemas
		horizontalpodautoscalers ingresses jobs nodes persistentvolumeclaims persistentvolumes
		podcertificaterequests poddisruptionbudgets prioritylevelconfigurations resourceclaims
		resourcepoolstatusrequests resourcequotas servicecidrs services storageversionmigrations
		storageversions validatingadmissionpolicies volumeattachments`)},
	{[]string{"token"}, strings.Fields(`serviceaccounts`)},
	{[]string{"approval", "status"}, strings.Fields(`certificatesigningrequests`)},
	{[]string{"finalize", "status"}, strings.Fields(`namespaces`)},
	{[]string{"scale", "status"}, strings.Fields(`deployments replicasets replicationcontrollers statefulsets`)},
	{[]string{"binding", "ephemeralcontainers", "eviction", "resize", "status"}, strings.Fields(`pods`)},
}

// checkResource reports a resource, or one with a subresource, that no API server has.
func checkResource(f spec.Field, at, text string) {
	of, part, both := strings.Cut(text, "/")
	switch {
	case both:
		checkSubresourceAt(f, at, of, part)
	case !slices.Contains(builtIn(), of) && !f.Creates("CustomResourceDefinition", ""):
		f.Report(at, "Kubernetes has no resource %s, and the scenario defines none: %s", strict.Quote(of), strict.DidYouMean(of, builtIn()))
	}
}

// builtIn are the resources of Kubernetes.
func builtIn() (all []string) {
	for _, row := range subresources {
		all = append(all, row.of...)
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
	for _, row := range subresources {
		if slices.Contains(row.of, resource) {
			known = row.names
		}
	}
	if !slices.Contains(known, subresource) {
		f.Report(at, "%s have no subresource %s that can be written: %s", resource, strict.Quote(subresource), strict.DidYouMean(subresource, known))
	}
}
