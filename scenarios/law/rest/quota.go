package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var countsQuota = Law{
	Breach:     "its usage is not that of its namespace",
	Class:      "status not about the state",
	Components: []string{record.ControllerManager},
	Statement:  "The status of a ResourceQuota says what its spec limits, and how much of that the namespace has.",
	Source:     "kubernetes/website, docs/concepts/policy/resource-quotas.md",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("resourcequotas") {
			of := timeline.As[corev1.ResourceQuota](v)
			if len(of.Spec.Scopes) > 0 || of.Spec.ScopeSelector != nil || of.DeletionTimestamp != nil || s.isEnding(v.Namespace) {
				continue
			}
			if !areEqual(of.Spec.Hard, of.Status.Hard) {
				report(v, "status.hard is %s, and spec.hard %s", listed(of.Status.Hard), listed(of.Spec.Hard))
				continue
			}
			var wrong []string
			for _, name := range slices.Sorted(maps.Keys(of.Spec.Hard)) {
				is, known := s.usage(v.Namespace, string(name))
				used, has := of.Status.Used[name]
				switch {
				case known && !has:
					wrong = append(wrong, fmt.Sprintf("status.used has no %s, where %s are used", name, is.String()))
				case known && used.Cmp(is) != 0:
					wrong = append(wrong, fmt.Sprintf("status.used says %s of %s, where %s are used", used.String(), name, is.String()))
				}
			}
			if len(wrong) > 0 {
				report(v, "%s", strings.Join(wrong, "; "))
			}
		}
	},
}

// isEnding reports whether a namespace or a pod of it is being deleted: for how long such a pod counts depends on when it is counted.
func (s *State) isEnding(namespace string) bool {
	v := s.get("namespaces", "", namespace)
	return v != nil && v.Meta().DeletionTimestamp != nil ||
		slices.ContainsFunc(s.in(namespace, "pods"), func(v *timeline.Version) bool { return pod{v}.going() })
}

func areEqual(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

func listed(list corev1.ResourceList) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		all = append(all, fmt.Sprintf("%s=%s", name, q.String()))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// groupOf are the API groups of resources that quotas can count.
var groupOf = map[string]string{
	"deployments": "apps", "replicasets": "apps", "daemonsets": "apps", "statefulsets": "apps", "controllerrevisions": "apps",
	"jobs": "batch", "cronjobs": "batch", "poddisruptionbudgets": "policy", "endpointslices": "discovery.k8s.io",
	"csistoragecapacities": "storage.k8s.io", "resourceclaims": "resource.k8s.io",
	"pods": "", "resourcequotas": "", "limitranges": "", "configmaps": "", "secrets": "", "services": "", "persistentvolumeclaims": "",
}

// usage is how much a namespace has of what a quota limits. It is not known of all that quotas can limit.
func (s *State) usage(namespace, name string) (resource.Quantity, bool) {
	count := func(resourceName string) (resource.Quantity, bool) {
		return *resource.NewQuantity(int64(len(s.in(namespace, resourceName))), resource.DecimalSI), true
	}
	if counted, is := strings.CutPrefix(name, "count/"); is {
		counted, group, _ := strings.Cut(counted, ".")
		if of, known := groupOf[counted]; known && of == group {
			return count(counted)
		}
		return resource.Quantity{}, false
	}
	switch name {
	case "services", "configmaps", "secrets", "persistentvolumeclaims", "resourcequotas":
		return count(name)
	case "pods", "cpu", "memory", "requests.cpu", "requests.memory":
		return s.usageOfPods(namespace, corev1.ResourceName(strings.TrimPrefix(name, "requests.")))
	}
	return resource.Quantity{}, false
}

// usageOfPods is how much the pods of a namespace use that have not ended. It is not known if one may have been resized, or has
// resources for all its containers, which each component can count or not.
func (s *State) usageOfPods(namespace string, name corev1.ResourceName) (sum resource.Quantity, known bool) {
	for _, v := range s.in(namespace, "pods") {
		if (pod{v}).ended() {
			continue
		}
		if name == corev1.ResourcePods {
			sum.Add(*resource.NewQuantity(1, resource.DecimalSI))
			continue
		}
		wanted := helper.PodRequests(v.Pod(), helper.PodResourcesOptions{})[name]
		held := helper.PodRequests(v.Pod(), helper.PodResourcesOptions{UseStatusResources: true})[name]
		if wanted.Cmp(held) != 0 || s.Written[v.Key] || v.Pod().Spec.Resources != nil {
			return sum, false
		}
		sum.Add(wanted)
	}
	return sum, true
}
