// Package behavior says, as pure data, what a server does over time: the port
// and the protocol it listens with, and the phases it goes through, such as
// healthy for ten seconds and then not. It is part of the scenario language
// and is played by package server; a model of what probes must see reads it
// too.
package behavior

import (
	"slices"
	"strings"
	"time"
)

// Protocol is what a port speaks.
type Protocol string

// The protocols a listener can speak.
const (
	// HTTP1 is HTTP/1.0 and HTTP/1.1 in plaintext. HTTP/2 is not understood.
	HTTP1 Protocol = "http1"
	// HTTPS is HTTP over TLS: HTTP/2 where the client offers it by ALPN
	// (RFC 7301), HTTP/1.1 otherwise.
	HTTPS Protocol = "https"
	// H2C is HTTP/2 in plaintext with prior knowledge (RFC 9113 section 3.3).
	// HTTP/1.1 is not understood.
	H2C Protocol = "h2c"
	// H2CAndHTTP1 is HTTP/1.1 and HTTP/2 with prior knowledge on one port.
	H2CAndHTTP1 Protocol = "h2c+http1"
	// HTTP1AndHTTPS is what HTTP1 and HTTPS are, on one port: TLS if that is what the
	// first byte of a connection begins.
	HTTP1AndHTTPS Protocol = "http1+https"
	// GRPC is gRPC in plaintext, with the health service
	// (grpc.health.v1.Health) that gRPC probes call.
	GRPC Protocol = "grpc"
	// GRPCTLS is gRPC over TLS, with the same service.
	GRPCTLS Protocol = "grpc-tls"
	// GRPCAndTLS is what GRPC and GRPCTLS are, on one port, as HTTP1AndHTTPS is.
	GRPCAndTLS Protocol = "grpc+grpc-tls"
	// TCP accepts connections and reads what comes.
	TCP Protocol = "tcp"
)

// Protocols returns every protocol, in the order of their documentation.
func Protocols() []Protocol {
	return []Protocol{HTTP1, HTTPS, H2C, H2CAndHTTP1, HTTP1AndHTTPS, GRPC, GRPCTLS, GRPCAndTLS, TCP}
}

// TLS reports whether the protocol runs over TLS, or can.
func (p Protocol) TLS() bool { return p == HTTPS || p == GRPCTLS || p.Either() }

// Either reports whether each client decides if there is TLS.
func (p Protocol) Either() bool { return p == HTTP1AndHTTPS || p == GRPCAndTLS }

// HTTP reports whether the protocol answers HTTP requests.
func (p Protocol) HTTP() bool {
	return slices.Contains([]Protocol{HTTP1, HTTPS, H2C, H2CAndHTTP1, HTTP1AndHTTPS}, p)
}

// GRPC reports whether the protocol answers gRPC calls.
func (p Protocol) GRPC() bool { return p == GRPC || p == GRPCTLS || p == GRPCAndTLS }

// Listener is a port of a server, and what the server does there.
type Listener struct {
	// Port is the TCP port, 1 to 65535.
	Port int32 `json:"port"`
	// Protocol is what the port speaks.
	Protocol Protocol `json:"protocol"`
	// TLS says how a port with TLS presents itself. If unset, it has a
	// self-signed certificate for its address and asks for none.
	TLS *TLS `json:"tls,omitempty"`
	// Phases are what the server does, one after the other. If unset, it is
	// healthy for good.
	Phases Timeline `json:"phases,omitempty"`
	// Routes are the HTTP paths that have phases of their own.
	Routes []Route `json:"routes,omitempty"`
}

// LongestDelay returns the longest time that the server waits before it answers a client, as configured.
func (l Listener) LongestDelay() time.Duration {
	var longest Duration
	if l.TLS != nil {
		longest = l.TLS.Delay
	}
	phases := slices.Clone(l.Phases)
	for _, r := range l.Routes {
		phases = append(phases, r.Phases...)
	}
	for _, p := range phases {
		longest = max(longest, p.Delay)
	}
	return time.Duration(longest)
}

// Route is an HTTP path with phases of its own.
type Route struct {
	// Path is the path of a request, without its query. One that ends in a
	// slash stands for everything under it. The longest match wins.
	Path string `json:"path"`
	// Phases are what the server does on this path. If unset, it is healthy
	// for good.
	Phases Timeline `json:"phases,omitempty"`
}

// Certificate names the kind of certificate that a server presents.
type Certificate string

// The certificates a server can present. A probe of the kubelet verifies none
// of them.
const (
	// SelfSigned is valid for the server's address and signed by itself.
	SelfSigned Certificate = "self-signed"
	// Expired ended a day ago.
	Expired Certificate = "expired"
	// NotYetValid begins a day from now.
	NotYetValid Certificate = "not-yet-valid"
	// WrongName is valid for another host only.
	WrongName Certificate = "wrong-name"
	// UnknownCA is valid for the server's address, and signed by an unknown
	// authority.
	UnknownCA Certificate = "unknown-ca"
)

// Certificates returns every kind of certificate, in the order of their
// documentation.
func Certificates() []Certificate {
	return []Certificate{SelfSigned, Expired, NotYetValid, WrongName, UnknownCA}
}

// TLSVersions returns the versions that a server can be held to, oldest first.
func TLSVersions() []string { return []string{"1.2", "1.3"} }

// TLS says how a server with TLS presents itself.
type TLS struct {
	// Certificate is the kind of certificate. If unset, self-signed.
	Certificate Certificate `json:"certificate,omitempty"`
	// RequireClientCertificate ends the handshake of a client that presents
	// no certificate. Any certificate will do: it isn't verified.
	RequireClientCertificate bool `json:"requireClientCertificate,omitempty"`
	// MinVersion and MaxVersion, "1.2" or "1.3", bound the version. If unset,
	// 1.2 and 1.3.
	MinVersion string `json:"minVersion,omitempty"`
	MaxVersion string `json:"maxVersion,omitempty"`
	// Delay is how long the server waits before each handshake. If unset, it begins
	// at once.
	Delay Duration `json:"delay,omitempty"`
}

// RouteOf returns the place of the route that governs requests for an HTTP path: the one
// with the longest match. It is -1 if none does, but the listener's own phases.
func (l Listener) RouteOf(path string) int {
	longest, at := -1, -1
	for i, route := range l.Routes {
		if route.matches(path) && len(route.Path) > longest {
			longest, at = len(route.Path), i
		}
	}
	return at
}

func (r Route) matches(path string) bool {
	return path == r.Path || strings.HasSuffix(r.Path, "/") && strings.HasPrefix(path, r.Path)
}
