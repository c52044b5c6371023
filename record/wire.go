package record

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

// First is what the first bytes of a connection are.
type First string

// What the first bytes of a connection can be.
const (
	// FirstTLS is a TLS ClientHello (RFC 8446 section 4.1.2).
	FirstTLS First = "tls-client-hello"
	// FirstHTTP2 is the HTTP/2 connection preface (RFC 9113 section 3.4).
	FirstHTTP2 First = "http2-preface"
	// FirstHTTP1 is the request line of HTTP/1.x (RFC 9112 section 3).
	FirstHTTP1 First = "http1-request"
	// FirstNothing means that the client sent nothing.
	FirstNothing First = "nothing"
	// FirstOther is anything else, the beginnings of the above included.
	FirstOther First = "other"
)

// Listening is recorded when a port is open.
type Listening struct {
	// Address is the IP address and port.
	Address  string            `json:"address"`
	Port     int32             `json:"port"`
	Protocol behavior.Protocol `json:"protocol"`
	// Certificate is the kind of certificate that is presented. It is empty
	// for a plaintext protocol, and "file" for one that a program has read
	// from a file.
	Certificate string `json:"certificate,omitempty"`
}

// ForeignRefused is recorded when a connection of another user of this machine was closed, once for
// each port and user. No check counts it: who connected is no part of the rig.
type ForeignRefused struct {
	// Port is that of the container.
	Port int32 `json:"port"`
	// UID is the number of the user.
	UID uint32 `json:"uid"`
}

// ListenFailed is recorded when a port could not be opened, or a connection not accepted there. Nothing that probes
// of it find says anything about who probes.
type ListenFailed struct {
	Port  int32  `json:"port"`
	Error string `json:"error"`
}

// Connection is recorded once for every accepted connection, when it has
// ended and its last request has been answered.
type Connection struct {
	// ID numbers the connections of a port from 1, in the order in which they
	// were accepted.
	ID       int               `json:"id"`
	Port     int32             `json:"port"`
	Protocol behavior.Protocol `json:"protocol"`
	// Local and Remote are IP address and port of the two ends.
	Local  string `json:"local"`
	Remote string `json:"remote"`
	// Opened is when the connection was accepted, Closed when it ended.
	Opened time.Time `json:"opened"`
	Closed time.Time `json:"closed"`
	// First is what the first bytes are that the client sent, and FirstHex up
	// to 64 of them in hexadecimal.
	First    First  `json:"first"`
	FirstHex string `json:"firstHex,omitempty"`
	// ClientHello is what the client offered, where it began with TLS. It is
	// read on plaintext ports too.
	ClientHello *ClientHello `json:"clientHello,omitempty"`
	// Handshake is how the TLS handshake went. It is unset where the port
	// began none.
	Handshake *Handshake `json:"handshake,omitempty"`
	// HTTP2Preface is set if the client sent the HTTP/2 connection preface
	// (RFC 9113 section 3.4), in plaintext or inside TLS.
	HTTP2Preface bool `json:"http2Preface"`
	// Requests are what the client asked, in the order of arrival; at most
	// 256, and DroppedRequests is how many more there were. A request that the
	// protocol's own server refuses, such as a malformed one, isn't among them.
	Requests        []Request `json:"requests,omitempty"`
	DroppedRequests int       `json:"droppedRequests,omitempty"`
	// BytesIn and BytesOut count what arrived from and was sent to the client,
	// TLS included.
	BytesIn  int64 `json:"bytesIn"`
	BytesOut int64 `json:"bytesOut"`
	// Fault is what the server did wrong on purpose, if anything.
	Fault behavior.Fault `json:"fault,omitempty"`
	// CloseReason is who ended the connection.
	CloseReason CloseReason `json:"closeReason"`
}

// Answered reports whether the server has answered a request.
func (c Connection) Answered() bool {
	return slices.ContainsFunc(c.Requests, func(r Request) bool { return r.Status != 0 || r.GRPCStatus != "" })
}

// GivenUp reports whether the client ended the connection before it had an
// answer.
func (c Connection) GivenUp() bool {
	return !c.Answered() && (c.CloseReason == ClientClosed || c.CloseReason == ClientReset)
}

// CloseReason says who ended a connection. The first cause seen counts.
type CloseReason string

// The reasons for the end of a connection.
const (
	// ClientClosed means that the client closed its side (FIN).
	ClientClosed CloseReason = "client-closed"
	// ClientReset means that the client reset the connection (RST).
	ClientReset CloseReason = "client-reset"
	// ServerClosed means that the server had enough: the response asked for
	// it, or what the client sent made no sense.
	ServerClosed CloseReason = "server-closed"
	// ByFault means that the server played a fault that ends connections.
	ByFault CloseReason = "fault"
	// Shutdown means that the server's process ended.
	Shutdown CloseReason = "shutdown"
)

// ClientHello is what a client offered at the start of TLS.
type ClientHello struct {
	// Versions are the TLS versions offered, such as "1.3" and "1.2", in the
	// client's order of preference.
	Versions []string `json:"versions,omitempty"`
	// ALPN are the application protocols offered (RFC 7301), such as "h2".
	ALPN []string `json:"alpn,omitempty"`
	// ServerName is the host asked for (SNI). A client that dials an IP
	// address sends none.
	ServerName string `json:"serverName,omitempty"`
	// CipherSuites is how many cipher suites were offered.
	CipherSuites int `json:"cipherSuites"`
}

// Handshake is the outcome of a TLS handshake.
type Handshake struct {
	// Version is the version agreed on, such as "1.3".
	Version string `json:"version,omitempty"`
	// ALPN is the application protocol agreed on. Empty if there was none.
	ALPN string `json:"alpn,omitempty"`
	// ClientCertificate is the subject of the client's certificate, if it
	// presented one.
	ClientCertificate string `json:"clientCertificate,omitempty"`
	// Error says why the handshake failed. Empty if it succeeded.
	Error string `json:"error,omitempty"`
}

// Request is an HTTP request or a gRPC call, and its answer. Long values are
// cut off.
type Request struct {
	Method string `json:"method"`
	// Path is the request's target, with its query.
	Path string `json:"path"`
	// Proto is the version: "HTTP/1.1", "HTTP/2.0".
	Proto string `json:"proto"`
	Host  string `json:"host,omitempty"`
	// Headers are the first 64 of the request by name, without the user agent.
	Headers   map[string][]string `json:"headers,omitempty"`
	UserAgent string              `json:"userAgent,omitempty"`
	// Service is the service that a gRPC health check asked for. It is unset
	// for other requests.
	Service *string `json:"service,omitempty"`
	// Status is the HTTP status of the answer: 0 if there was none.
	Status int `json:"status,omitempty"`
	// GRPCStatus is the status code of the answer by name, such as "OK" or
	// "NOT_FOUND", and Health the serving status in it.
	GRPCStatus string                 `json:"grpcStatus,omitempty"`
	Health     behavior.ServingStatus `json:"health,omitempty"`
	// Location is where the answer redirects to, as it says. If unset, nowhere.
	Location string `json:"location,omitempty"`
	// BodyBytes is the size of the body of the answer.
	BodyBytes int64 `json:"bodyBytes,omitempty"`
	// Started is when the request arrived, and Duration how long the server
	// had it.
	Started  time.Time         `json:"started"`
	Duration behavior.Duration `json:"duration"`
}

// OfGRPC reports whether the request is a call of gRPC: a good HTTP status is then no answer to it.
func (r Request) OfGRPC() bool {
	return r.Service != nil || slices.ContainsFunc(r.Headers["Content-Type"], func(of string) bool { return strings.HasPrefix(of, "application/grpc") })
}

// Redirected reports whether the answer is a redirect that clients follow.
func (r Request) Redirected() bool {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	default:
		return false
	}
}
