package oracle

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"github.com/skewrig/skewrig/scenarios/model"
)

// object is what the oracles look at of an API object.
type object struct {
	Metadata struct {
		Name, Namespace, UID string
		ResourceVersion      string
		CreationTimestamp    string
		DeletionTimestamp    string
		Generation           int64
		Annotations          map[string]string
		OwnerReferences      []struct{ Kind, Name, UID string }
	}
	Spec   json.RawMessage
	Status status

	// pod is the spec of the pod that the object is, or of its template.
	pod podSpec
	// template is true if it is the template's, and replicas how many pods are
	// to be made from it.
	template bool
	replicas int
}

type status struct {
	InitContainerStatuses, ContainerStatuses []containerStatus
	ObservedGeneration                       int64
}

func (s status) all() []containerStatus {
	return append(slices.Clone(s.InitContainerStatuses), s.ContainerStatuses...)
}

// allReady reports whether an object is a pod whose containers are all ready.
func (o *object) allReady() bool {
	all := o.Status.ContainerStatuses
	return len(all) > 0 && !slices.ContainsFunc(all, func(c containerStatus) bool { return !c.Ready })
}

type containerStatus struct {
	Name, ContainerID string
	Ready             bool
	RestartCount      int
	State             struct {
		Running *struct{ StartedAt string }
	}
}

type podSpec struct {
	NodeName                                        string
	InitContainers, Containers, EphemeralContainers []container
}

type container struct {
	Name  string
	Ports []struct {
		Name          string
		ContainerPort int32
	}
	LivenessProbe, ReadinessProbe, StartupProbe *action
	Lifecycle                                   struct{ PostStart, PreStop *action }
}

// action is what a probe or a hook does.
type action struct {
	GRPC *struct {
		Port          int32
		Service, Mode string
	}
	HTTPGet *struct {
		Port                         port
		Host, Path, Scheme, Protocol string
	}
	TCPSocket *struct {
		Port port
		Host string
	}
	Exec *struct{}
}

// port is a port by number or by name.
type port struct {
	number int32
	name   string
}

// UnmarshalJSON takes a number or a text.
func (p *port) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &p.number); err == nil {
		return nil
	}
	if err := json.Unmarshal(text, &p.name); err != nil {
		return err
	}
	if n, err := strconv.ParseInt(p.name, 10, 32); err == nil {
		p.number = int32(n)
	}
	return nil
}

// withoutDefault takes protocol HTTP1 out of a spec: it is the same as nothing
// (see model.Fields.Same).
func withoutDefault(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["protocol"] == "HTTP1" {
			delete(v, "protocol")
		}
		for _, value := range v {
			withoutDefault(value)
		}
	case []any:
		for _, value := range v {
			withoutDefault(value)
		}
	}
	return v
}

// sameSpec reports whether two objects have the same spec.
func sameSpec(was, is object) bool {
	var a, b any
	if json.Unmarshal(was.Spec, &a) != nil || json.Unmarshal(is.Spec, &b) != nil {
		return string(was.Spec) == string(is.Spec)
	}
	return reflect.DeepEqual(withoutDefault(a), withoutDefault(b))
}

// decode reads an object. One that is of another form than expected has none of
// what the oracles look at.
func decode(body []byte) object {
	var o object
	if json.Unmarshal(body, &o) != nil {
		return object{}
	}
	var spec struct {
		podSpec
		Replicas int
		Template *struct{ Spec podSpec }
	}
	if json.Unmarshal(o.Spec, &spec) == nil {
		o.pod = spec.podSpec
		if spec.Template != nil {
			o.pod, o.template, o.replicas = spec.Template.Spec, true, spec.Replicas
		}
	}
	return o
}

// place is an action and where it stands: "containers/app/livenessProbe".
type place struct {
	*action
	container *container
	path      string
	hook      bool
}

// containerList is one of a pod's lists of containers, with the name of its field.
type containerList struct {
	name       string
	containers []container
}

// lists are the pod's lists of containers, with nil for one that is not there.
func (s *podSpec) lists() []containerList {
	return []containerList{
		{"initContainers", s.InitContainers}, {"containers", s.Containers}, {"ephemeralContainers", s.EphemeralContainers},
	}
}

// places returns the probes and hooks of a pod.
func (s *podSpec) places() []place {
	var all []place
	for _, list := range s.lists() {
		for i := range list.containers {
			c := &list.containers[i]
			for _, p := range []place{
				{action: c.LivenessProbe, path: "livenessProbe"},
				{action: c.ReadinessProbe, path: "readinessProbe"},
				{action: c.StartupProbe, path: "startupProbe"},
				{action: c.Lifecycle.PostStart, path: "postStart", hook: true},
				{action: c.Lifecycle.PreStop, path: "preStop", hook: true},
			} {
				if p.action == nil {
					continue
				}
				p.container, p.path = c, list.name+"/"+c.Name+"/"+p.path
				all = append(all, p)
			}
		}
	}
	return all
}

// fields are the values of a feature's field in an object.
func (o *object) fields(f model.Feature) model.Fields {
	fields := make(model.Fields)
	for _, p := range o.pod.places() {
		value := ""
		switch {
		case f == model.GRPCMode && p.GRPC != nil:
			value = p.GRPC.Mode
		case f == model.HTTPProtocol && p.HTTPGet != nil:
			value = p.HTTPGet.Protocol
		}
		if value != "" {
			fields[p.path] = value
		}
	}
	return fields
}

// mirror reports whether an object only shows a static pod.
func (o *object) mirror() bool { return o.Metadata.Annotations["kubernetes.io/config.mirror"] != "" }

// uses reports whether an object has one of the fields.
func (o *object) uses() bool {
	for _, f := range model.Features() {
		if !o.fields(f).Same(nil) {
			return true
		}
	}
	return false
}

// handler is an action that goes to a port of the pod itself, in the terms of
// the model.
type handler struct {
	model.Handler
	port int32
}

// handler returns what an action does. The second result is false if it is none
// that opens a connection to the pod.
func (p place) handler() (handler, bool) {
	switch {
	case p.GRPC != nil:
		return handler{model.Handler{Kind: model.GRPC, Hook: p.hook, Mode: p.GRPC.Mode}, p.GRPC.Port}, true
	case p.HTTPGet != nil && p.HTTPGet.Host == "":
		h := model.Handler{Kind: model.HTTPGet, Hook: p.hook, Scheme: p.HTTPGet.Scheme, Protocol: p.HTTPGet.Protocol}
		return handler{h, p.number(p.HTTPGet.Port)}, true
	case p.TCPSocket != nil && p.TCPSocket.Host == "":
		return handler{model.Handler{Kind: model.TCPSocket, Hook: p.hook}, p.number(p.TCPSocket.Port)}, true
	default:
		return handler{}, false
	}
}

// handlersOn returns what the probes and hooks of a pod do that go to a port.
func (s *podSpec) handlersOn(port int32) (all []model.Handler) {
	for _, p := range s.places() {
		if h, connects := p.handler(); connects && h.port == port {
			all = append(all, h.Handler)
		}
	}
	return all
}

// execs reports whether a probe or a hook of a pod runs a program.
func (s *podSpec) execs() bool {
	return slices.ContainsFunc(s.places(), func(p place) bool { return p.Exec != nil })
}

// number is the port that a port is by name in the action's own container.
func (p place) number(port port) int32 {
	for _, named := range p.container.Ports {
		if port.name != "" && named.Name == port.name {
			return named.ContainerPort
		}
	}
	return port.number
}
