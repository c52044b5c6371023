package rest

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

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
			if len(of.Spec.Selector) == 0 || of.Spec.Type == corev1.ServiceTypeExternalName || of.DeletionTimestamp != nil || of.Spec.PublishNotReadyAddresses || len(of.Spec.IPFamilies) > 0 && !slices.Contains(of.Spec.IPFamilies, corev1.IPv4Protocol) {
				continue
			}
			wanted, known := s.selected(of)
			if !known {
				continue
			}
			have, wrong := s.endpoints(v)
			if wrong = append(wrong, differ(wanted, have)...); len(wrong) > 0 {
				report(v, "%s", strings.Join(wrong, "; "))
			}
		}
	},
}

// selected are the pods that a Service selects, and whether each is ready, by name. Those that come or go are not among them. It is
// false if one has a loopback address: the slice that it is in is refused.
func (s *State) selected(of *corev1.Service) (all map[string]bool, known bool) {
	all = make(map[string]bool)
	for _, v := range s.in(of.Namespace, "pods") {
		p := pod{v}
		address, err := netip.ParseAddr(v.Pod().Status.PodIP)
		if err != nil || !p.active() || !labels.SelectorFromSet(of.Spec.Selector).Matches(labels.Set(v.Meta().Labels)) {
			continue
		}
		if address.IsLoopback() || !address.Is4() {
			return nil, false
		}
		if node := v.Pod().Spec.NodeName; node == "" || s.get("nodes", "", node) != nil {
			all[v.Name] = p.ready()
		}
	}
	return all, true
}

// endpoints are the pods in the slices of a Service, and whether each is ready, by name; and what is wrong with the slices.
func (s *State) endpoints(service *timeline.Version) (all map[string]bool, wrong []string) {
	all = make(map[string]bool)
	ports := timeline.As[corev1.Service](service).Spec.Ports
	for _, v := range s.in(service.Namespace, "endpointslices") {
		slice := timeline.As[discoveryv1.EndpointSlice](v)
		if slice.Labels[discoveryv1.LabelServiceName] != service.Name || slice.AddressType != discoveryv1.AddressTypeIPv4 || slice.Labels[discoveryv1.LabelManagedBy] != "endpointslice-controller.k8s.io" {
			continue
		}
		for _, e := range slice.Endpoints {
			if e.TargetRef == nil || isTrue(e.Conditions.Terminating) {
				continue
			}
			name := e.TargetRef.Name
			if p := s.get("pods", service.Namespace, name); p == nil || p.Meta().UID != e.TargetRef.UID {
				name += " of UID " + string(e.TargetRef.UID)
			} else {
				wrong = append(wrong, wrongPorts(ports, slice.Ports, p)...)
			}
			if _, twice := all[name]; twice {
				wrong = append(wrong, fmt.Sprintf("pod %s is there twice", name))
			}
			all[name] = isTrue(e.Conditions.Ready)
		}
	}
	return all, wrong
}

// wrongPorts are the ports of a Service that a slice does not have as a pod has them.
func wrongPorts(ports []corev1.ServicePort, have []discoveryv1.EndpointPort, p *timeline.Version) (wrong []string) {
	for _, port := range ports {
		number := port.TargetPort.IntVal
		if port.TargetPort.Type == intstr.String {
			number = portNamed(p, port)
		}
		is := slices.ContainsFunc(have, func(e discoveryv1.EndpointPort) bool {
			return ptr.Deref(e.Name, "") == port.Name && ptr.Deref(e.Port, 0) == number && ptr.Deref(e.Protocol, port.Protocol) == port.Protocol
		})
		if number != 0 && !is {
			wrong = append(wrong, fmt.Sprintf("pod %s has port %d for %q, and its slice does not", p.Name, number, port.Name))
		}
	}
	return wrong
}

// portNamed is the number of the first port of a pod with the name and the protocol of a Service's; 0 if it has none.
func portNamed(p *timeline.Version, port corev1.ServicePort) int32 {
	for _, c := range slices.Concat(p.Pod().Spec.Containers, p.Pod().Spec.InitContainers) {
		for _, named := range c.Ports {
			if named.Name == port.TargetPort.StrVal && cmp.Or(named.Protocol, corev1.ProtocolTCP) == cmp.Or(port.Protocol, corev1.ProtocolTCP) {
				return named.ContainerPort
			}
		}
	}
	return 0
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

// deletesGone is the message of who finds gone what is to be deleted.
var deletesGone = regexp.MustCompile(`(?i)\bdelet(e|ing)\b.*not found`)

var warnsOfNothing = Law{
	Breach:     "it warns that what should be deleted is gone",
	Class:      "events or retries",
	Components: []string{record.ControllerManager},
	Statement:  "To find gone what is to be deleted is a success.",
	Source:     "kubernetes/community, contributors/devel/sig-api-machinery/controllers.md",
	faulty:     true,
	judge: func(s *State, report reporter) {
		reported := make(map[string]bool)
		for _, e := range s.record.Events[:s.place] {
			if !strings.HasPrefix(e.Subject, "events/") || reported[e.Subject] {
				continue
			}
			seen, is := record.As[record.ObjectObserved](e)
			if !is {
				continue
			}
			v := timeline.NewVersion(e.Subject, seen.Object)
			of := timeline.As[corev1.Event](v)
			if of.Type == corev1.EventTypeWarning && of.Source.Component != "kubelet" && deletesGone.MatchString(of.Message) {
				reported[e.Subject] = true
				report(v, "%s: %s", of.Reason, of.Message)
			}
		}
	},
}
