package timeline

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Probe is a probe or a hook of a container.
type Probe struct {
	// List is the pod's list of containers that has the container, Container its
	// name, and Name what people call the probe: "readiness", "preStop".
	List, Container, Name string
	// Hook is true for a lifecycle hook.
	Hook bool
	// Handler is what it does.
	Handler corev1.ProbeHandler
	// Kind is the field of the handler: "grpc", and Port the port of the pod that it
	// connects to. They are unset if it connects to none.
	Kind HandlerKind
	Port int32
}

// HandlerKind is one of the kinds of handlers that open connections.
type HandlerKind string

// The kinds of handlers.
const (
	GRPC      HandlerKind = "grpc"
	HTTPGet   HandlerKind = "httpGet"
	TCPSocket HandlerKind = "tcpSocket"
)

// Field is the field that the probe is: "readinessProbe", "preStop".
func (p Probe) Field() string {
	if p.Hook {
		return p.Name
	}
	return p.Name + "Probe"
}

// Probes returns the probes and hooks of a pod.
func Probes(pod *corev1.PodSpec) (all []Probe) {
	if pod == nil {
		return nil
	}
	lists := map[string][]corev1.Container{"initContainers": pod.InitContainers, "containers": pod.Containers}
	for _, c := range pod.EphemeralContainers {
		lists["ephemeralContainers"] = append(lists["ephemeralContainers"], corev1.Container(c.EphemeralContainerCommon))
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range lists[list] {
			for _, p := range probesOf(c) {
				p.List, p.Container = list, c.Name
				p.Kind, p.Port = connects(p.Handler, c.Ports)
				all = append(all, p)
			}
		}
	}
	return all
}

func probesOf(c corev1.Container) (all []Probe) {
	probe := func(name string, p *corev1.Probe) {
		if p != nil {
			all = append(all, Probe{Name: name, Handler: p.ProbeHandler})
		}
	}
	hook := func(name string, h *corev1.LifecycleHandler) {
		if h != nil {
			all = append(all, Probe{Name: name, Hook: true, Handler: corev1.ProbeHandler{Exec: h.Exec, HTTPGet: h.HTTPGet, TCPSocket: h.TCPSocket}})
		}
	}
	probe("liveness", c.LivenessProbe)
	probe("readiness", c.ReadinessProbe)
	probe("startup", c.StartupProbe)
	if c.Lifecycle != nil {
		hook("postStart", c.Lifecycle.PostStart)
		hook("preStop", c.Lifecycle.PreStop)
	}
	return all
}

// connects returns how a handler connects to the pod itself, and to which port.
func connects(h corev1.ProbeHandler, ports []corev1.ContainerPort) (HandlerKind, int32) {
	number := func(port intstr.IntOrString) int32 {
		i := slices.IndexFunc(ports, func(named corev1.ContainerPort) bool { return named.Name != "" && named.Name == port.StrVal })
		if i >= 0 {
			return ports[i].ContainerPort
		}
		return int32(port.IntValue())
	}
	switch {
	case h.GRPC != nil:
		return GRPC, h.GRPC.Port
	case h.HTTPGet != nil && h.HTTPGet.Host == "":
		return HTTPGet, number(h.HTTPGet.Port)
	case h.TCPSocket != nil && h.TCPSocket.Host == "":
		return TCPSocket, number(h.TCPSocket.Port)
	default:
		return "", 0
	}
}

// Execs reports whether a probe or a hook of a pod runs a program.
func Execs(pod *corev1.PodSpec) bool {
	return slices.ContainsFunc(Probes(pod), func(p Probe) bool { return p.Handler.Exec != nil })
}
