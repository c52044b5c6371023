package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// informed is how long it may take an API server to know a LimitRange.
const informed = time.Second

var keepsLimits = Law{
	Breach:     "it is beyond the limits of its namespace",
	Class:      "invalid thing accepted",
	Components: []string{record.APIServer},
	Statement:  "The resources of a pod or a claim are within the limits that its namespace had before.",
	Source:     "kubernetes/website, docs/concepts/policy/limit-range.md",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("limitranges") {
			if s.Written[v.Key] {
				continue // it may have had other limits
			}
			made := v.Meta().CreationTimestamp.Time
			for _, of := range slices.Concat(s.in(v.Namespace, "pods"), s.in(v.Namespace, "persistentvolumeclaims")) {
				if of.Meta().CreationTimestamp.Sub(made) <= informed || s.Written[of.Key] || of.Mirror() {
					continue
				}
				for _, item := range timeline.As[corev1.LimitRange](v).Spec.Limits {
					if wrong := beyond(item, of); len(wrong) > 0 {
						report(of, "by %s, %s", v.Key, strings.Join(wrong, "; "))
					}
				}
			}
		}
	},
}

// amounts are resources, under the name that a spec gives them.
type amounts struct {
	name string
	list corev1.ResourceList
}

// beyond says how an object is beyond limits.
func beyond(item corev1.LimitRangeItem, of *timeline.Version) (wrong []string) {
	judge := func(whose string, all ...amounts) { wrong = append(wrong, outside(item, whose, all)...) }
	switch {
	case item.Type == corev1.LimitTypePersistentVolumeClaim && of.Resource == "persistentvolumeclaims":
		judge("the claim", amounts{"request", timeline.As[corev1.PersistentVolumeClaim](of).Spec.Resources.Requests})
	case item.Type == corev1.LimitTypeContainer && of.Resource == "pods":
		spec := of.Pod().Spec
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			judge("container "+c.Name, amounts{"request", c.Resources.Requests}, amounts{"limit", c.Resources.Limits})
		}
	case item.Type == corev1.LimitTypePod && of.Resource == "pods":
		if of.Pod().Spec.Resources != nil {
			item.Min, item.Max = ofWholePods(item.Min), ofWholePods(item.Max)
		}
		options := helper.PodResourcesOptions{ExcludeOverhead: true}
		judge("the pod", amounts{"request", helper.PodRequests(of.Pod(), options)}, amounts{"limit", helper.PodLimits(of.Pod(), options)})
	}
	return wrong
}

// ofWholePods leaves those of resources that any release lets a pod have for all its containers.
func ofWholePods(limits corev1.ResourceList) corev1.ResourceList {
	limits = maps.Clone(limits)
	maps.DeleteFunc(limits, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return name != corev1.ResourceCPU && name != corev1.ResourceMemory
	})
	return limits
}

// outside says which amounts are too small, too large or not set: with a minimum the first ones have to be, with a maximum the
// last ones.
func outside(item corev1.LimitRangeItem, whose string, all []amounts) (wrong []string) {
	compare := func(bound string, limits corev1.ResourceList, needed amounts, isWrong func(order int) bool) {
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			limit := limits[name]
			if _, has := needed.list[name]; !has {
				wrong = append(wrong, fmt.Sprintf("%s has no %s of %s, and the %s is %s", whose, needed.name, name, bound, limit.String()))
			}
			for _, a := range all {
				if q, has := a.list[name]; has && isWrong(q.Cmp(limit)) {
					wrong = append(wrong, fmt.Sprintf("%s has a %s of %s %s, and the %s is %s", whose, a.name, q.String(), name, bound, limit.String()))
				}
			}
		}
	}
	compare("minimum", item.Min, all[0], func(order int) bool { return order < 0 })
	compare("maximum", item.Max, all[len(all)-1], func(order int) bool { return order > 0 })
	return wrong
}
