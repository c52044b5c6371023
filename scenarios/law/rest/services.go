package rest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var routesToPods = Law{
	Breach:     "its EndpointSlices do not have its pods",
	Class:      "status not about the state",
	Components: []string{record.ControllerManager},
	Statement:  "The EndpointSlices of a Service have the pods that it selects, each once, and say which are ready.",
	Source:     "kubernetes/website, docs/concepts/services-networking/endpoint-slices.md",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("services") {
			of := timeline.As[corev1.Service](v)
			if len(of.Spec.Selector) == 0 || of.Spec.Type == corev1.ServiceTypeExternalName || of.DeletionTimestamp != nil || of.Spec.PublishNotReadyAddresses {
				continue
			}
			if wrong := differ(s.selected(of), s.endpoints(v)); len(wrong) > 0 {
				report(v, "%s", strings.Join(wrong, "; "))
			}
		}
	},
}

// selected are the pods with an address that a Service selects, and whether each is ready, by name. Those that come or go are not
// among them.
func (s *State) selected(of *corev1.Service) map[string]bool {
	all := make(map[string]bool)
	for _, v := range s.in(of.Namespace, "pods") {
		p := pod{v}
		if address, err := netip.ParseAddr(v.Pod().Status.PodIP); err != nil || address.IsLoopback() || !p.active() {
			continue
		}
		if labels.SelectorFromSet(of.Spec.Selector).Matches(labels.Set(v.Meta().Labels)) {
			all[v.Name] = p.ready()
		}
	}
	return all
}

// endpoints are the pods in the slices of a Service, and whether each is ready, by name. One that is there twice is called so.
func (s *State) endpoints(service *timeline.Version) map[string]bool {
	all := make(map[string]bool)
	for _, v := range s.in(service.Namespace, "endpointslices") {
		slice := timeline.As[discoveryv1.EndpointSlice](v)
		if slice.Labels[discoveryv1.LabelServiceName] != service.Name || slice.AddressType != discoveryv1.AddressTypeIPv4 || slice.Labels[discoveryv1.LabelManagedBy] != "endpointslice-controller.k8s.io" {
			continue
		}
		for _, e := range slice.Endpoints {
			if e.TargetRef == nil || e.Conditions.Terminating != nil && *e.Conditions.Terminating {
				continue
			}
			name := e.TargetRef.Name
			if p := s.get("pods", service.Namespace, name); p == nil || p.Meta().UID != e.TargetRef.UID {
				name += " of UID " + string(e.TargetRef.UID)
			}
			all[name] = all[name] || e.Conditions.Ready != nil && *e.Conditions.Ready
		}
	}
	return all
}

// differ says how the pods of slices are not those that there should be.
func differ(wanted, have map[string]bool) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if ready, has := have[name]; !has {
			wrong = append(wrong, fmt.Sprintf("pod %s is missing", name))
		} else if ready != wanted[name] {
			wrong = append(wrong, fmt.Sprintf("pod %s has ready: %t, and its condition Ready is %t", name, ready, wanted[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, is := wanted[name]; !is {
			wrong = append(wrong, fmt.Sprintf("pod %s is not one of its", name))
		}
	}
	return wrong
}

var warnsOfNothing = Law{
	Breach:     "it warns that what should be deleted is gone",
	Class:      "events or retries",
	Components: []string{record.ControllerManager},
	Statement:  "To find gone what is to be deleted is a success.",
	Source:     "kubernetes/community, contributors/devel/sig-api-machinery/controllers.md",
	faulty:     true,
	judge: func(s *State, report reporter) {
		for _, e := range s.record.Events[:s.place] {
			seen, is := record.As[record.ObjectObserved](e)
			if !is || seen.Resource != "events" || seen.Cluster != "" {
				continue
			}
			v := timeline.NewVersion(e.Subject, seen.Object)
			of := timeline.As[corev1.Event](v)
			text := strings.ToLower(of.Message)
			if of.Type == corev1.EventTypeWarning && strings.Contains(text, "delet") && strings.Contains(text, "not found") {
				report(v, "%s: %s", of.Reason, of.Message)
			}
		}
	},
}
