package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Events of hooks that run when a chart is installed. Helm 2 had crd-install.
const (
	crdInstall  = "crd-install"
	preInstall  = "pre-install"
	postInstall = "post-install"
)

func hookOf(object map[string]any) (h Hook) {
	annotations, _ := metadataOf(object)["annotations"].(map[string]any)
	for event := range strings.SplitSeq(text(annotations, "helm.sh/hook"), ",") {
		if event = strings.TrimSpace(event); event != "" {
			h.Events = append(h.Events, event)
		}
	}
	if len(h.Events) > 0 {
		h.Weight, _ = strconv.Atoi(strings.TrimSpace(text(annotations, "helm.sh/hook-weight"))) // helm refuses others, and so has none
	}
	return h
}

// installs reports whether an object is stored when its chart is installed: one that is no hook, or one of an install.
func (h Hook) installs() bool {
	return len(h.Events) == 0 || h.has(crdInstall) || h.has(preInstall) || h.has(postInstall)
}

func (h Hook) has(event string) bool { return slices.Contains(h.Events, event) }

// The phases of an install.
const (
	first = iota // what hooks need: definitions and namespaces
	before
	main
	after
)

// phase is when an object is stored.
func (o Object) phase() int {
	switch {
	case o.Hook.has(preInstall):
		return before
	case o.Hook.has(postInstall):
		return after
	case rank(o.Object) <= rankOfNamespace:
		return first
	}
	return main
}

// Ordered returns the objects that an install stores, in the order in which it does: definitions and namespaces,
// hooks before the install, everything else by its kind, and hooks after it. Objects of the same kind keep their order.
// Helm has such an order in pkg/release/v1/util/kind_sorter.go.
func Ordered(objects []Object) []Object {
	ordered := slices.DeleteFunc(slices.Clone(objects), func(o Object) bool { return !o.Hook.installs() })
	slices.SortStableFunc(ordered, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.phase(), b.phase()), cmp.Compare(a.Hook.Weight, b.Hook.Weight), cmp.Compare(rank(a.Object), rank(b.Object)))
	})
	return ordered
}

// kinds are the kinds in the order of an install. Kinds of one line may be stored in any order. An asterisk stands for those
// that are not listed: custom resources.
var kinds = [][]string{
	{"CustomResourceDefinition.apiextensions.k8s.io"},
	{"Namespace"},
	{"PriorityClass.scheduling.k8s.io", "StorageClass.storage.k8s.io", "RuntimeClass.node.k8s.io", "CSIDriver.storage.k8s.io", "IngressClass.networking.k8s.io", "VolumeAttributesClass.storage.k8s.io", "DeviceClass.resource.k8s.io"},
	{"NetworkPolicy.networking.k8s.io", "ResourceQuota", "LimitRange"},
	{"ServiceAccount"},
	{"Secret"},
	{"ConfigMap"},
	{"PersistentVolume"},
	{"PersistentVolumeClaim"},
	{"ClusterRole.rbac.authorization.k8s.io", "Role.rbac.authorization.k8s.io"},
	{"ClusterRoleBinding.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io"},
	{"Service"},
	{"Endpoints", "EndpointSlice.discovery.k8s.io"},
	{"ResourceClaimTemplate.resource.k8s.io", "ResourceClaim.resource.k8s.io"},
	{"DaemonSet.apps", "Pod", "ReplicationController", "ReplicaSet.apps", "Deployment.apps", "StatefulSet.apps", "Job.batch", "CronJob.batch"},
	{"*"},
	{"HorizontalPodAutoscaler.autoscaling", "PodDisruptionBudget.policy"},
	{"Ingress.networking.k8s.io"},
	{"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "MutatingAdmissionPolicy.admissionregistration.k8s.io"},
	{"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io"},
	{"ValidatingWebhookConfiguration.admissionregistration.k8s.io", "MutatingWebhookConfiguration.admissionregistration.k8s.io"},
	{"APIService.apiregistration.k8s.io"},
}

var ranks = ranked()

func ranked() map[string]int {
	ranks := make(map[string]int)
	for i, line := range kinds {
		for _, kind := range line {
			ranks[kind] = i
		}
	}
	return ranks
}

var rankOfNamespace = ranks["Namespace"]

func rank(object map[string]any) int {
	if i, is := ranks[groupKind(object)]; is {
		return i
	}
	return ranks["*"]
}

// groupKind is "Deployment.apps", and "Pod" of the core group.
func groupKind(object map[string]any) string {
	kind := text(object, "kind")
	group, _ := groupVersion(text(object, "apiVersion"))
	if group == "extensions" {
		group = extensions[kind]
	}
	if group == "" {
		return kind
	}
	return kind + "." + group
}

// extensions are the groups that kinds of the former group extensions have today.
var extensions = map[string]string{
	"DaemonSet": "apps", "Deployment": "apps", "ReplicaSet": "apps",
	"Ingress": "networking.k8s.io", "NetworkPolicy": "networking.k8s.io", "PodSecurityPolicy": "policy",
}
