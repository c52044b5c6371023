package manifest

import "strings"

// generated returns the class of an object that a control plane writes and no client stores, or "" for any other object.
func generated(object map[string]any) string {
	kind := groupKind(object)
	if why := always[kind]; why != "" {
		return why
	}
	if isDump(object) {
		if why := inDumps[kind]; why != "" {
			return why
		}
	}
	if is := checks[kind]; is != nil && is(object) {
		return kind + " of a control plane"
	}
	if field(metadataOf(object), "labels")["kubernetes.io/bootstrapping"] != nil {
		return "bootstrap RBAC"
	}
	return ""
}

// always are kinds that components write.
var always = map[string]string{
	"Event":                      "events",
	"Event.events.k8s.io":        "events",
	"Node":                       "nodes",
	"CSINode.storage.k8s.io":     "nodes",
	"ComponentStatus":            "component statuses",
	"NodeMetrics.metrics.k8s.io": "metrics",
	"PodMetrics.metrics.k8s.io":  "metrics",
}

// inDumps are kinds that components write, unless they are written by hand.
var inDumps = map[string]string{
	"Lease.coordination.k8s.io":                     "leases",
	"ControllerRevision.apps":                       "controller revisions",
	"CSIStorageCapacity.storage.k8s.io":             "storage capacities",
	"VolumeAttachment.storage.k8s.io":               "volume attachments",
	"CertificateSigningRequest.certificates.k8s.io": "certificate signing requests",
	"IPAddress.networking.k8s.io":                   "IP addresses",
	"ResourceSlice.resource.k8s.io":                 "resource slices",
	"StorageVersion.internal.apiserver.k8s.io":      "storage versions",
}

// IsOfControlPlane reports whether components write the objects of a kind, "Lease.coordination.k8s.io", in a cluster.
func IsOfControlPlane(groupKind string) bool {
	return always[groupKind] != "" || inDumps[groupKind] != ""
}

// checks report whether an object is one that a control plane writes.
var checks = map[string]func(object map[string]any) bool{
	"Endpoints":                               isManagedEndpoints,
	"EndpointSlice.discovery.k8s.io":          isManagedSlice,
	"ConfigMap":                               isClusterConfig,
	"Secret":                                  isToken,
	"APIService.apiregistration.k8s.io":       isLocal,
	"PriorityClass.scheduling.k8s.io":         isSystem,
	"FlowSchema.flowcontrol.apiserver.k8s.io": isAutoUpdated,
	"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io": isAutoUpdated,
	"Service":                                isKubernetes,
	"ServiceCIDR.networking.k8s.io":          isNamedKubernetes,
	"Pod":                                    isMirror,
	"ServiceAccount":                         isBareAccount,
	"ClusterTrustBundle.certificates.k8s.io": isOfKubernetes,
}

func annotation(object map[string]any, name string) any {
	return field(metadataOf(object), "annotations")[name]
}

func label(object map[string]any, name string) any {
	return field(metadataOf(object), "labels")[name]
}

func isManagedEndpoints(object map[string]any) bool {
	return isKubernetes(object) || label(object, "endpoints.kubernetes.io/managed-by") != nil ||
		annotation(object, "endpoints.kubernetes.io/last-change-trigger-time") != nil ||
		annotation(object, "control-plane.alpha.kubernetes.io/leader") != nil
}

func isManagedSlice(object map[string]any) bool {
	by, _ := label(object, "endpointslice.kubernetes.io/managed-by").(string)
	return isKubernetes(object) || strings.HasSuffix(by, ".k8s.io")
}

// isClusterConfig reports whether a ConfigMap is one that a control plane publishes.
func isClusterConfig(object map[string]any) bool {
	metadata := metadataOf(object)
	switch text(metadata, "name") {
	case "kube-root-ca.crt":
		return true
	case "extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking":
		return text(metadata, "namespace") == "kube-system"
	}
	return false
}

// isToken reports whether a Secret has a token that a cluster signed. One without it asks for a token.
func isToken(object map[string]any) bool {
	return object["type"] == "kubernetes.io/service-account-token" && field(object, "data")["token"] != nil
}

// isLocal reports whether an API server serves an APIService itself.
func isLocal(object map[string]any) bool { return field(object, "spec")["service"] == nil }

func isSystem(object map[string]any) bool {
	return strings.HasPrefix(text(metadataOf(object), "name"), "system-")
}

func isAutoUpdated(object map[string]any) bool {
	return annotation(object, "apf.kubernetes.io/autoupdate-spec") == "true"
}

func isKubernetes(object map[string]any) bool {
	return isNamedKubernetes(object) && text(metadataOf(object), "namespace") == "default"
}

func isNamedKubernetes(object map[string]any) bool {
	return text(metadataOf(object), "name") == "kubernetes"
}

// isMirror reports whether a Pod shows a static pod of a node.
func isMirror(object map[string]any) bool {
	return annotation(object, "kubernetes.io/config.mirror") != nil
}

// isBareAccount reports whether a ServiceAccount of a dump is one that each namespace has, or one of a controller of Kubernetes.
func isBareAccount(object map[string]any) bool {
	metadata := metadataOf(object)
	isControllers := text(metadata, "name") == "default" || text(metadata, "namespace") == "kube-system"
	return isControllers && isDump(object) && metadata["labels"] == nil && metadata["annotations"] == nil && object["imagePullSecrets"] == nil
}

// isOfKubernetes reports whether a signer of Kubernetes publishes a trust bundle.
func isOfKubernetes(object map[string]any) bool {
	return strings.HasPrefix(text(field(object, "spec"), "signerName"), "kubernetes.io/")
}
