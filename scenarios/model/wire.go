package model

import (
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// Handler is what a probe or a lifecycle hook does, as the kubelet is told.
type Handler struct {
	Kind HandlerKind
	// Hook is true for a lifecycle hook.
	Hook bool
	// Mode is grpc.mode, Scheme and Protocol are those of httpGet. Empty where
	// they are not set.
	Mode, Scheme, Protocol string
}

// HandlerKind is one of the kinds of handlers that open connections.
type HandlerKind string

// The kinds of handlers.
const (
	GRPC      HandlerKind = "grpc"
	HTTPGet   HandlerKind = "httpGet"
	TCPSocket HandlerKind = "tcpSocket"
)

// Wire returns what a kubelet sends first when it runs a handler:
//
//   - mode TLS begins with a TLS hello where the gate is on, and is plaintext
//     otherwise (KEP-4939, gRPC Transport Credentials; Rollback)
//   - scheme HTTPS begins with a TLS hello, whatever the protocol (KEP-5999)
//   - protocol HTTP2 is HTTP/2 with prior knowledge where the gate is on, and
//     HTTP/1.1 otherwise (KEP-5999, Version Skew Strategy); for probes only, since
//     releases so far send hooks over HTTP/1.1
func Wire(h Handler, kubelet Component) record.First {
	switch {
	case h.Kind == TCPSocket:
		return record.FirstNothing
	case h.Kind == GRPC && h.Mode == "TLS" && kubelet.Enabled(GRPCMode):
		return record.FirstTLS
	case h.Kind == GRPC:
		return record.FirstHTTP2
	case h.Scheme == "HTTPS":
		return record.FirstTLS
	case h.Protocol == "HTTP2" && !h.Hook && kubelet.Enabled(HTTPProtocol):
		return record.FirstHTTP2
	default:
		return record.FirstHTTP1
	}
}

// understood is which beginnings of a connection a server makes sense of.
var understood = map[behavior.Protocol]map[record.First]bool{
	behavior.HTTP1:       {record.FirstHTTP1: true},
	behavior.HTTPS:       {record.FirstTLS: true},
	behavior.H2C:         {record.FirstHTTP2: true},
	behavior.H2CAndHTTP1: {record.FirstHTTP1: true, record.FirstHTTP2: true},
	behavior.GRPC:        {record.FirstHTTP2: true},
	behavior.GRPCTLS:     {record.FirstTLS: true},
}

// CanSucceed reports whether a probe that begins in this way can get a good
// answer from a server of that protocol. That it does is not said: the server
// may be unhealthy. A tcpSocket probe, which asks for none, is not meant.
func CanSucceed(first record.First, protocol behavior.Protocol) bool {
	return understood[protocol][first]
}
