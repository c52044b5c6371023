package behavior

// Phase is what a server does for a while. The zero value is healthy: 200 over
// HTTP, SERVING over gRPC, an open connection over TCP.
type Phase struct {
	// For is how long the phase lasts. Only the last phase of a timeline may leave both
	// it and Requests unset, and must: it lasts for good.
	For Duration `json:"for,omitempty"`
	// Requests is how many requests the phase answers until the next one begins. Only
	// phases of a route have it.
	Requests int `json:"requests,omitempty"`
	// Delay is how long the server waits with each answer. If unset, it
	// answers at once.
	Delay Duration `json:"delay,omitempty"`
	// HTTP is the answer to an HTTP request. If unset, status 200 and "ok".
	HTTP *HTTP `json:"http,omitempty"`
	// GRPC is the answer to a gRPC health check. If unset, the empty service,
	// which stands for the whole server, is SERVING.
	GRPC *Health `json:"grpc,omitempty"`
	// TCP is what a plain TCP server sends. If unset, nothing.
	TCP *Stream `json:"tcp,omitempty"`
	// Fault is what goes wrong instead of a proper answer. If unset, nothing.
	Fault Fault `json:"fault,omitempty"`
}

// HTTP is an answer to an HTTP request.
type HTTP struct {
	// Status is the status code, 200 to 599. If unset, 200, or 302 if there
	// is a Location.
	Status int `json:"status,omitempty"`
	// Body is the body. If unset, "ok" with status 200 and empty otherwise.
	Body string `json:"body,omitempty"`
	// BodyBytes makes the body that many bytes of filler instead, at most
	// MaxBodyBytes. The kubelet's HTTP probe reads 10 KiB of a body.
	BodyBytes int64 `json:"bodyBytes,omitempty"`
	// Headers are added to the response.
	Headers map[string]string `json:"headers,omitempty"`
	// Location is where the response redirects to. If set, Status is 3xx. One
	// that begins with https://: has no host, and gets that of the request.
	Location string `json:"location,omitempty"`
}

// MaxBodyBytes bounds the filler body of an HTTP answer: 1 GiB.
const MaxBodyBytes = 1 << 30

// Health is an answer to a gRPC health check, in the terms of
// https://github.com/grpc/grpc/blob/master/doc/health-checking.md. At most one
// of its fields is set, other than Message.
type Health struct {
	// Services holds the status of each service by name; "" is the whole
	// server. A service that isn't there is answered with the code NOT_FOUND.
	Services map[string]ServingStatus `json:"services,omitempty"`
	// Unimplemented takes the health service away: a check is answered with
	// the code UNIMPLEMENTED.
	Unimplemented bool `json:"unimplemented,omitempty"`
	// Code is the gRPC status code with which every check fails, by name, such
	// as "UNAVAILABLE".
	Code Code `json:"code,omitempty"`
	// Message is the status message that goes with Code.
	Message string `json:"message,omitempty"`
}

// ServingStatus is the health of a gRPC service, as
// grpc.health.v1.HealthCheckResponse.ServingStatus names it.
type ServingStatus string

// The statuses a health check can return. Only SERVING makes a probe succeed.
const (
	Serving        ServingStatus = "SERVING"
	NotServing     ServingStatus = "NOT_SERVING"
	Unknown        ServingStatus = "UNKNOWN"
	ServiceUnknown ServingStatus = "SERVICE_UNKNOWN"
)

// ServingStatuses returns every serving status.
func ServingStatuses() []ServingStatus {
	return []ServingStatus{Serving, NotServing, Unknown, ServiceUnknown}
}

// Code is a gRPC status code other than OK, by its canonical name.
type Code string

// Codes returns the names of the gRPC status codes that mean failure, by
// number: the first is code 1. Source:
// https://github.com/grpc/grpc/blob/master/doc/statuscodes.md.
func Codes() []Code {
	return []Code{
		"CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED",
		"NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
		"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
	}
}

// Stream is what a plain TCP server does with a connection.
type Stream struct {
	// Send is written to each new connection.
	Send string `json:"send,omitempty"`
	// Close closes the connection afterwards. If unset, the server reads until
	// the client closes it.
	Close bool `json:"close,omitempty"`
}

// Fault is what goes wrong with a connection.
type Fault string

// The faults a server can play.
const (
	// StallConnect leaves clients without an answer to their first packet: the
	// kernel's queue of connections is full. It befalls a port for good.
	StallConnect Fault = "stall-connect"
	// StallAccept leaves a connection in the kernel's hands: the client is
	// connected, but its bytes are never read.
	StallAccept Fault = "stall-accept"
	// StallHandshake reads what the client sends first, a TLS ClientHello or a
	// request, and never answers it.
	StallHandshake Fault = "stall-handshake"
	// StallAfterHeaders answers a request with the headers of a response, and
	// never sends the rest.
	StallAfterHeaders Fault = "stall-after-headers"
	// Reset ends a connection with a TCP reset (RST) as soon as its first
	// bytes have arrived: in a listener with routes, its first request.
	Reset Fault = "reset"
	// Close ends a connection properly (FIN) where Reset would reset it.
	Close Fault = "close"
	// WrongProtocol answers the first bytes as a server of another protocol
	// would: plaintext HTTP/1.1 where TLS or HTTP/2 is expected, a TLS alert
	// where HTTP/1.1 is.
	WrongProtocol Fault = "wrong-protocol"
)

// Faults returns every fault, in the order of their documentation.
func Faults() []Fault {
	return []Fault{StallConnect, StallAccept, StallHandshake, StallAfterHeaders, Reset, Close, WrongProtocol}
}

// PerRequest reports whether a fault can befall a single request. The others
// befall a connection before its first request is read.
func (f Fault) PerRequest() bool {
	return f == StallAfterHeaders || f == Reset || f == Close
}
