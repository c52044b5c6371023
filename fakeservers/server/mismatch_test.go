package server_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// A client that speaks the wrong protocol must fail, and the record must show
// what it spoke.
func TestHTTPProbesOfTheWrongProtocol(t *testing.T) {
	t.Parallel()
	hello := &record.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2", "http/1.1"}}
	for name, tc := range map[string]struct {
		protocol behavior.Protocol
		scheme   string
		probe    probe
		// fails is part of the client's error; status is its answer if it
		// doesn't notice that anything is wrong.
		fails  string
		status int
		// speaksFirst is set for a server that sends its SETTINGS at once, so
		// that the client may hang up before it has sent anything.
		speaksFirst bool
		want        record.Connection
	}{
		"HTTP/2 to http1": {
			protocol: behavior.HTTP1, scheme: "http", probe: probe{http2: true},
			fails: "http2: ",
			want:  record.Connection{First: record.FirstHTTP2, HTTP2Preface: true},
		},
		"HTTP/1.1 to h2c": {
			protocol: behavior.H2C, scheme: "http", fails: "Get ", speaksFirst: true,
			want: record.Connection{First: record.FirstHTTP1},
		},
		"TLS to http1": {
			protocol: behavior.HTTP1, scheme: "https", fails: "server gave HTTP response to HTTPS client",
			want: record.Connection{First: record.FirstTLS, ClientHello: hello},
		},
		"TLS to h2c": {
			protocol: behavior.H2C, scheme: "https", fails: "Get ",
			want: record.Connection{First: record.FirstTLS, ClientHello: hello},
		},
		"HTTP/1.1 to https": {
			protocol: behavior.HTTPS, scheme: "http", status: http.StatusBadRequest,
			want: record.Connection{First: record.FirstHTTP1, Handshake: &record.Handshake{
				Error: "tls: first record does not look like a TLS handshake",
			}},
		},
		"HTTP/2 to https": {
			protocol: behavior.HTTPS, scheme: "http", probe: probe{http2: true}, fails: "Get ",
			want: record.Connection{First: record.FirstHTTP2, HTTP2Preface: true, Handshake: &record.Handshake{
				Error: "tls: first record does not look like a TLS handshake",
			}},
		},
		"HTTP/1.1 to grpc": {
			protocol: behavior.GRPC, scheme: "http", fails: "Get ", speaksFirst: true,
			want: record.Connection{First: record.FirstHTTP1},
		},
		"HTTP/1.1 to grpc-tls": {
			protocol: behavior.GRPCTLS, scheme: "http", fails: "Get ",
			want: record.Connection{First: record.FirstHTTP1, Handshake: &record.Handshake{
				Error: "tls: first record does not look like a TLS handshake",
			}},
		},
		// The probe of KEP-5999 on a gRPC port: grpc-go answers itself.
		"HTTP/2 to grpc": {
			protocol: behavior.GRPC, scheme: "http", probe: probe{http2: true}, status: http.StatusUnsupportedMediaType,
			want: record.Connection{First: record.FirstHTTP2, HTTP2Preface: true},
		},
		"HTTP/1.1 to tcp": {
			protocol: behavior.TCP, scheme: "http", probe: probe{givesUp: afterSending}, fails: "context canceled",
			want: record.Connection{First: record.FirstHTTP1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: tc.protocol})
			got, err := tc.probe.get(t, tc.scheme+"://"+r.addr()+"/healthz")
			if tc.fails != "" && (err == nil || !strings.Contains(err.Error(), tc.fails)) {
				t.Errorf("answered %+v, error %v, want an error with %q", got, err, tc.fails)
			}
			if tc.fails == "" && got.status != tc.status {
				t.Errorf("answered %+v, error %v, want status %d", got, err, tc.status)
			}
			connection := r.connection()
			for _, request := range connection.Requests {
				if request.Status == http.StatusOK {
					t.Errorf("a request was answered: %+v", request)
				}
			}
			if tc.speaksFirst && connection.First == record.FirstNothing {
				return
			}
			compareWire(t, tc.want, connection)
		})
	}
}

// compareWire compares what the client sent and what TLS made of it.
func compareWire(t *testing.T, want, got record.Connection) {
	t.Helper()
	got = record.Connection{First: got.First, HTTP2Preface: got.HTTP2Preface, ClientHello: got.ClientHello, Handshake: got.Handshake}
	if got.ClientHello != nil {
		got.ClientHello.CipherSuites = 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
}

func TestGRPCProbesOfTheWrongProtocol(t *testing.T) {
	t.Parallel()
	hello := &record.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2"}}
	for name, tc := range map[string]struct {
		protocol behavior.Protocol
		secure   *tls.Config
		want     record.Connection
	}{
		"TLS to grpc": {
			protocol: behavior.GRPC, secure: anyCertificate,
			want: record.Connection{First: record.FirstTLS, ClientHello: hello},
		},
		"plaintext to grpc-tls": {
			protocol: behavior.GRPCTLS,
			want: record.Connection{First: record.FirstHTTP2, HTTP2Preface: true, Handshake: &record.Handshake{
				Error: "tls: first record does not look like a TLS handshake",
			}},
		},
		"plaintext to http1": {
			protocol: behavior.HTTP1,
			want:     record.Connection{First: record.FirstHTTP2, HTTP2Preface: true},
		},
		"plaintext to h2c": {
			protocol: behavior.H2C,
			want:     record.Connection{First: record.FirstHTTP2, HTTP2Preface: true},
		},
		"TLS to https": {
			protocol: behavior.HTTPS, secure: anyCertificate,
			want: record.Connection{
				First: record.FirstTLS, HTTP2Preface: true, ClientHello: hello, Handshake: &record.Handshake{Version: "1.3", ALPN: "h2"},
			},
		},
		"TLS to http1": {
			protocol: behavior.HTTP1, secure: anyCertificate,
			want: record.Connection{First: record.FirstTLS, ClientHello: hello},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: tc.protocol})
			if health, err := check(t, r.addr(), "", tc.secure); err == nil {
				t.Errorf("health %v, want an error", health)
			}
			compareWire(t, tc.want, r.first())
		})
	}
}

func TestGRPCOverTLSInsistsOnALPN(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.GRPCTLS})
	conn := tls.Client(dial(t, r.addr()), &tls.Config{InsecureSkipVerify: true})
	send(t, conn, http2.ClientPreface)
	if got := receive(t, conn); got != "" {
		t.Errorf("received %q", got)
	}
	want := &record.Handshake{Version: "1.3", Error: "the client offers no ALPN protocol, and gRPC requires h2"}
	if diff := cmp.Diff(want, r.connection().Handshake); diff != "" {
		t.Errorf("handshake (-want +got):\n%s", diff)
	}
}

func TestHTTP1AnswersThePrefaceAsNetHTTPDoes(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.HTTP1})
	conn := dial(t, r.addr())
	send(t, conn, http2.ClientPreface)
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, conn); !strings.HasPrefix(got, "HTTP/1.1 400 Bad Request\r\n") {
		t.Errorf("answered %q", got)
	}
	c := r.connection()
	if len(c.Requests) != 1 || c.Requests[0].Method != "PRI" || c.Requests[0].Status != 400 || !c.HTTP2Preface {
		t.Errorf("recorded %+v", c)
	}
}

func TestH2CRefusesHTTP1(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.H2C})
	conn := dial(t, r.addr())
	// As many bytes as the preface has, so that none is left unread, which
	// would reset the connection.
	send(t, conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"[:len(http2.ClientPreface)])
	// The server's SETTINGS may or may not make it out before it hangs up.
	if got := receive(t, conn); got != "" {
		frame, err := http2.NewFramer(nil, strings.NewReader(got)).ReadFrame()
		if err != nil || frame.Header().Type != http2.FrameSettings {
			t.Errorf("answered %q", got)
		}
	}
	if c := r.connection(); c.First != record.FirstHTTP1 || c.CloseReason != record.ServerClosed || len(c.Requests) != 0 {
		t.Errorf("recorded %+v", c)
	}
}
