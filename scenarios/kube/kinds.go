package kube

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Subresources that can be written, as the discovery of v1.37.1 lists them with all APIs on.
var (
	status   = []string{"status"}
	scale    = []string{"scale", "status"}
	custom   = []string{"status", "scale"} // as CustomResourceDefinitions can have them, for what discovery does not list
	ofPods   = []string{"binding", "ephemeralcontainers", "eviction", "resize", "status"}
	approval = []string{"approval", "status"}
	finalize = []string{"finalize", "status"}
)

// kinds are those of Kubernetes, by name.
var kinds = withResources([]Kind{
	{Name: "APIService", ClusterScoped: true, Subresources: status},
	{Name: "Binding", Transient: true},
	{Name: "CSIDriver", ClusterScoped: true, Authored: true},
	{Name: "CSINode", ClusterScoped: true, Subresources: status},
	{Name: "CSIStorageCapacity"},
	{Name: "CertificateSigningRequest", ClusterScoped: true, Subresources: approval},
	{Name: "ClusterRole", ClusterScoped: true},
	{Name: "ClusterRoleBinding", ClusterScoped: true},
	{Name: "ClusterTrustBundle", ClusterScoped: true},
	{Name: "ComponentStatus", ClusterScoped: true, Transient: true, Resource: "componentstatuses"},
	{Name: "CompositePodGroup", Subresources: custom},
	{Name: "ConfigMap", Extent: SelfContained, Type: reflect.TypeFor[corev1.ConfigMap]()},
	{Name: "ControllerRevision", Type: reflect.TypeFor[appsv1.ControllerRevision]()},
	{Name: "CronJob", Subresources: status, Extent: SideEffects, Makes: "jobs", Type: reflect.TypeFor[batchv1.CronJob]()},
	{Name: "CustomResourceDefinition", ClusterScoped: true, Subresources: status, Authored: true},
	{
		Name: "DaemonSet", Subresources: status, Extent: SelfContained, Makes: "pods", PerTemplate: "controllerrevisions",
		Type: reflect.TypeFor[appsv1.DaemonSet](),
	},
	{
		Name: "Deployment", Subresources: scale, Extent: SelfContained, Makes: "replicasets", PerTemplate: "replicasets",
		Type: reflect.TypeFor[appsv1.Deployment](),
	},
	{Name: "DeviceClass", ClusterScoped: true, Authored: true},
	{Name: "DeviceTaintRule", ClusterScoped: true, Subresources: status, Authored: true},
	{Name: "EndpointSlice", Type: reflect.TypeFor[discoveryv1.EndpointSlice]()},
	{Name: "Endpoints", Type: reflect.TypeFor[corev1.Endpoints]()}, //nolint:staticcheck // deprecated, and served
	{Name: Event},
	{Name: "Eviction", Transient: true},
	{Name: "EvictionRequest", Subresources: custom},
	{Name: "FlowSchema", ClusterScoped: true, Subresources: status},
	{Name: "HorizontalPodAutoscaler", Subresources: status, Extent: SideEffects, Authored: true},
	{Name: "IPAddress", ClusterScoped: true},
	{Name: "Ingress", Subresources: status, Authored: true},
	{Name: "IngressClass", ClusterScoped: true, Authored: true},
	{Name: "Job", Subresources: status, Extent: Namespaced, Makes: "pods", Type: reflect.TypeFor[batchv1.Job]()},
	{Name: "Lease", Type: reflect.TypeFor[coordinationv1.Lease]()},
	{Name: "LeaseCandidate"},
	{Name: "LimitRange", Extent: Namespaced, Authored: true},
	{Name: "LocalSubjectAccessReview", Transient: true},
	{Name: "MutatingAdmissionPolicy", ClusterScoped: true, Authored: true},
	{Name: "MutatingAdmissionPolicyBinding", ClusterScoped: true, Authored: true},
	{Name: "MutatingWebhookConfiguration", ClusterScoped: true, Authored: true},
	{Name: "Namespace", ClusterScoped: true, Subresources: finalize, Type: reflect.TypeFor[corev1.Namespace]()},
	{Name: "NetworkPolicy", Authored: true},
	{Name: "Node", ClusterScoped: true, Subresources: status, Type: reflect.TypeFor[corev1.Node]()},
	{Name: "PersistentVolume", ClusterScoped: true, Subresources: status, Type: reflect.TypeFor[corev1.PersistentVolume]()},
	{Name: "PersistentVolumeClaim", Subresources: status, Extent: SideEffects, Type: reflect.TypeFor[corev1.PersistentVolumeClaim]()},
	{Name: "Pod", Subresources: ofPods, Extent: SelfContained, Type: reflect.TypeFor[corev1.Pod]()},
	{Name: "PodCertificateRequest", Subresources: status},
	{
		Name: "PodDisruptionBudget", Subresources: status, Extent: Namespaced, Authored: true,
		Type: reflect.TypeFor[policyv1.PodDisruptionBudget](),
	},
	{Name: "PodGroup", Subresources: custom},
	{Name: "PodTemplate", Extent: Namespaced, Authored: true},
	{Name: "PriorityClass", ClusterScoped: true},
	{Name: "PriorityLevelConfiguration", ClusterScoped: true, Subresources: status},
	{Name: "ReplicaSet", Subresources: scale, Extent: SelfContained, Makes: "pods", Type: reflect.TypeFor[appsv1.ReplicaSet]()},
	{
		Name: "ReplicationController", Subresources: scale, Extent: Namespaced, Makes: "pods",
		Type: reflect.TypeFor[corev1.ReplicationController](),
	},
	{Name: "ResourceClaim", Subresources: status, Extent: SideEffects},
	{Name: "ResourceClaimTemplate", Extent: SideEffects, Authored: true},
	{Name: "ResourcePoolStatusRequest", ClusterScoped: true, Subresources: status},
	{Name: "ResourceQuota", Subresources: status, Extent: Namespaced, Authored: true},
	{Name: "ResourceSlice", ClusterScoped: true},
	{Name: "Role"},
	{Name: "RoleBinding"},
	{Name: "RuntimeClass", ClusterScoped: true, Authored: true},
	{Name: "Secret", Extent: SelfContained, Type: reflect.TypeFor[corev1.Secret]()},
	{Name: "SelfSubjectAccessReview", ClusterScoped: true, Transient: true},
	{Name: "SelfSubjectReview", ClusterScoped: true, Transient: true},
	{Name: "SelfSubjectRulesReview", ClusterScoped: true, Transient: true},
	{Name: "Service", Subresources: status, Extent: Namespaced, Type: reflect.TypeFor[corev1.Service]()},
	{Name: "ServiceAccount", Subresources: []string{"token"}, Extent: Namespaced, Type: reflect.TypeFor[corev1.ServiceAccount]()},
	{Name: "ServiceCIDR", ClusterScoped: true, Subresources: status},
	{
		Name: "StatefulSet", Subresources: scale, Extent: SelfContained, Makes: "pods", PerTemplate: "controllerrevisions",
		Type: reflect.TypeFor[appsv1.StatefulSet](),
	},
	{Name: "StorageClass", ClusterScoped: true, Authored: true},
	{Name: "StorageVersion", ClusterScoped: true, Subresources: status},
	{Name: "StorageVersionMigration", ClusterScoped: true, Subresources: status},
	{Name: "SubjectAccessReview", ClusterScoped: true, Transient: true},
	{Name: "TokenRequest", Transient: true},
	{Name: "TokenReview", ClusterScoped: true, Transient: true},
	{Name: "ValidatingAdmissionPolicy", ClusterScoped: true, Subresources: status, Authored: true},
	{Name: "ValidatingAdmissionPolicyBinding", ClusterScoped: true, Authored: true},
	{Name: "ValidatingWebhookConfiguration", ClusterScoped: true, Authored: true},
	{Name: "VolumeAttachment", ClusterScoped: true, Subresources: status},
	{Name: "VolumeAttributesClass", ClusterScoped: true, Authored: true},
	{Name: "Workload", Subresources: custom},
})

// withResources fills in the resources that follow from the names.
func withResources(all []Kind) []Kind {
	for i, k := range all {
		if k.Resource == "" {
			all[i].Resource = Resource(k.Name)
		}
	}
	return all
}
