package model

import (
	"maps"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// Handler is what a probe or a lifecycle hook does, as the pod's spec says.
type Handler struct {
	Kind timeline.HandlerKind
	// Hook is true for a lifecycle hook.
	Hook bool
	// Scheme is that of httpGet. Empty where it is not set.
	Scheme string
	// Values are those of the fields of the model that are set, by name.
	Values map[string]string
}

// Same reports whether two handlers do the same.
func (h Handler) Same(other Handler) bool {
	return h.Kind == other.Kind && h.Hook == other.Hook && h.Scheme == other.Scheme && maps.Equal(h.Values, other.Values)
}

// Wire returns what a kubelet sends first when it runs a handler:
//
//   - scheme HTTPS begins with a TLS hello, whatever else is set (KEP-5999)
//   - a field with a value that changes what is on the wire begins so where the
//     gate is on, and as without it otherwise (KEP-4939, gRPC Transport Credentials;
//     Rollback. KEP-5999, Version Skew Strategy); for probes only, since releases so
//     far send hooks over HTTP/1.1
func (r Rules) Wire(h Handler, kubelet Component) record.First {
	switch {
	case h.Kind == timeline.TCPSocket:
		return record.FirstNothing
	case h.Scheme == "HTTPS":
		return record.FirstTLS
	}
	for _, f := range r.FieldsOf(h.Kind) {
		if f.Wire != nil && !h.Hook && h.Values[f.Name()] == f.Wire.Value && r.Enabled(kubelet, f) {
			return f.Wire.First
		}
	}
	if h.Kind == timeline.GRPC {
		return record.FirstHTTP2
	}
	return record.FirstHTTP1
}

// FieldsOf are the fields of handlers of a kind.
func (r Rules) FieldsOf(kind timeline.HandlerKind) (fields []Field) {
	for _, f := range r.Fields {
		if f.Probe != "" && f.handler() == kind {
			fields = append(fields, f)
		}
	}
	return fields
}

// Describe is what a handler does, in a few words: "grpc mode=TLS".
func (r Rules) Describe(h Handler) string {
	words := []string{string(h.Kind)}
	if h.Scheme != "" && h.Scheme != "HTTP" {
		words = append(words, "scheme="+h.Scheme)
	}
	for _, f := range r.FieldsOf(h.Kind) {
		if value := h.Values[f.Name()]; value != "" {
			words = append(words, f.short()+"="+value)
		}
	}
	return strings.Join(words, " ")
}

// DescribeComponent is a component's release, with how the gates of handlers of a
// kind are set as far as it knows them: "v1.90.1 gate on". Where several gates guard
// fields of the kind, they have their names.
func (r Rules) DescribeComponent(c Component, kind timeline.HandlerKind) string {
	words := []string{string(c.Version)}
	fields := r.FieldsOf(kind)
	for _, f := range fields {
		name := "gate"
		if len(fields) > 1 {
			name = f.Gate
		}
		switch {
		case !r.Knows(c, f):
		case r.Enabled(c, f):
			words = append(words, name+" on")
		default:
			words = append(words, name+" off")
		}
	}
	return strings.Join(words, " ")
}

// understood is which beginnings of a connection a server makes sense of.
var understood = map[behavior.Protocol]map[record.First]bool{
	behavior.HTTP1:         {record.FirstHTTP1: true},
	behavior.HTTPS:         {record.FirstTLS: true},
	behavior.H2C:           {record.FirstHTTP2: true},
	behavior.H2CAndHTTP1:   {record.FirstHTTP1: true, record.FirstHTTP2: true},
	behavior.HTTP1AndHTTPS: {record.FirstHTTP1: true, record.FirstTLS: true},
	behavior.GRPC:          {record.FirstHTTP2: true},
	behavior.GRPCTLS:       {record.FirstTLS: true},
	behavior.GRPCAndTLS:    {record.FirstHTTP2: true, record.FirstTLS: true},
}

// CanSucceed reports whether a probe that begins in this way can get a good
// answer from a server of that protocol. That it does is not said: the server
// may be unhealthy. A tcpSocket probe, which asks for none, is not meant.
func CanSucceed(first record.First, protocol behavior.Protocol) bool {
	return understood[protocol][first]
}
