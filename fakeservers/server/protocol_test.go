package server_test

import (
	"crypto/tls"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

var anyCertificate = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}

// volatile are the fields of a connection that differ from run to run.
var volatile = cmp.Options{
	cmpopts.IgnoreFields(record.Connection{}, "Port", "Local", "Remote", "Opened", "Closed", "FirstHex", "BytesIn", "BytesOut"),
	cmpopts.IgnoreFields(record.Request{}, "Host", "Headers", "Started", "Duration"),
}

func TestHTTPServersAreHealthy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		protocol behavior.Protocol
		probe    probe
		want     record.Connection
	}{
		"http1": {
			protocol: behavior.HTTP1,
			want:     record.Connection{First: record.FirstHTTP1},
		},
		"h2c": {
			protocol: behavior.H2C, probe: probe{http2: true},
			want: record.Connection{First: record.FirstHTTP2, HTTP2Preface: true, CloseReason: record.ClientClosed},
		},
		"both, HTTP/1.1": {
			protocol: behavior.H2CAndHTTP1,
			want:     record.Connection{First: record.FirstHTTP1},
		},
		"both, HTTP/2": {
			protocol: behavior.H2CAndHTTP1, probe: probe{http2: true},
			want: record.Connection{First: record.FirstHTTP2, HTTP2Preface: true, CloseReason: record.ClientClosed},
		},
		"https": {
			protocol: behavior.HTTPS,
			want: record.Connection{
				First: record.FirstTLS, HTTP2Preface: true, CloseReason: record.ClientClosed,
				ClientHello: &record.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2", "http/1.1"}},
				Handshake:   &record.Handshake{Version: "1.3", ALPN: "h2"},
			},
		},
		"either, HTTP": {
			protocol: behavior.HTTP1AndHTTPS,
			want:     record.Connection{First: record.FirstHTTP1},
		},
		"either, HTTPS": {
			protocol: behavior.HTTP1AndHTTPS,
			want: record.Connection{
				First: record.FirstTLS, HTTP2Preface: true, CloseReason: record.ClientClosed,
				ClientHello: &record.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2", "http/1.1"}},
				Handshake:   &record.Handshake{Version: "1.3", ALPN: "h2"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: tc.protocol})
			scheme, proto := "http", "HTTP/1.1"
			if tc.want.First == record.FirstTLS {
				scheme = "https"
			}
			if tc.want.HTTP2Preface {
				proto = "HTTP/2.0"
			}
			got, err := tc.probe.get(t, scheme+"://"+r.addr()+"/healthz?full=1")
			if err != nil {
				t.Fatal(err)
			}
			if got.status != 200 || got.body != "ok" || got.proto != proto {
				t.Errorf("answered %+v, want 200 ok over %s", got, proto)
			}
			tc.want.ID, tc.want.Protocol = 1, tc.protocol
			tc.want.Requests = []record.Request{{
				Method: "GET", Path: "/healthz?full=1", Proto: proto, UserAgent: "kube-probe/1.37", Status: 200, BodyBytes: 2,
			}}
			connection := endedByClient(r.connection())
			if proto == "HTTP/1.1" {
				// The probe asks the server to close, and then both do.
				if got := connection.CloseReason; got != record.ServerClosed && got != record.ClientClosed {
					t.Errorf("close reason %s", got)
				}
				connection.CloseReason = ""
			}
			suites := cmpopts.IgnoreFields(record.ClientHello{}, "CipherSuites")
			if diff := cmp.Diff(tc.want, connection, volatile, suites); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			checkDetails(t, r, connection)
		})
	}
}

// checkDetails checks what differs from run to run.
func checkDetails(t *testing.T, r *rig, c record.Connection) {
	t.Helper()
	if c.Local != r.addr() || c.Port != int32(r.server.Addr().Port()) {
		t.Errorf("local end %s, port %d, want those of %s", c.Local, c.Port, r.addr())
	}
	if !strings.HasPrefix(c.Remote, "127.0.0.1:") {
		t.Errorf("remote end %s", c.Remote)
	}
	if c.BytesIn == 0 || c.BytesOut == 0 || len(c.FirstHex) != 128 {
		t.Errorf("%d bytes in, %d out, first %q", c.BytesIn, c.BytesOut, c.FirstHex)
	}
	if c.Opened.IsZero() || c.Closed.Before(c.Opened) {
		t.Errorf("opened %v, closed %v", c.Opened, c.Closed)
	}
	if c.ClientHello != nil && c.ClientHello.CipherSuites == 0 {
		t.Error("the ClientHello has no cipher suites")
	}
	for _, request := range c.Requests {
		if request.Host != r.addr() || request.Started.Before(c.Opened) || request.Duration <= 0 {
			t.Errorf("request for host %s started %v, took %v", request.Host, request.Started, request.Duration)
		}
	}
}

func TestHTTPSWithoutALPNSpeaksHTTP1(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.HTTPS})
	conn := tls.Client(dial(t, r.addr()), &tls.Config{InsecureSkipVerify: true, ServerName: "web.example"})
	send(t, conn, "GET / HTTP/1.0\r\n\r\n")
	if got := receive(t, conn); !strings.HasPrefix(got, "HTTP/1.0 200 OK\r\n") || !strings.HasSuffix(got, "\r\n\r\nok") {
		t.Errorf("answered %q", got)
	}
	c := r.connection()
	if c.Handshake == nil || c.Handshake.ALPN != "" || c.ClientHello.ServerName != "web.example" || len(c.Requests) != 1 {
		t.Errorf("recorded %+v with %+v and %+v", c, c.Handshake, c.ClientHello)
	}
}

func TestGRPCServersAreHealthy(t *testing.T) {
	t.Parallel()
	empty := ""
	call := record.Request{
		Method: "POST", Path: "/grpc.health.v1.Health/Check", Proto: "HTTP/2.0", Service: &empty,
		Status: 200, GRPCStatus: "OK", Health: behavior.Serving,
	}
	for name, tc := range map[string]struct {
		protocol behavior.Protocol
		secure   *tls.Config
		want     record.Connection
	}{
		"plaintext": {
			protocol: behavior.GRPC,
			want:     record.Connection{First: record.FirstHTTP2},
		},
		"TLS": {
			protocol: behavior.GRPCTLS, secure: anyCertificate,
			want: record.Connection{
				First:       record.FirstTLS,
				ClientHello: &record.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2"}},
				Handshake:   &record.Handshake{Version: "1.3", ALPN: "h2"},
			},
		},
		"either, plaintext": {
			protocol: behavior.GRPCAndTLS,
			want:     record.Connection{First: record.FirstHTTP2},
		},
		"either, TLS": {
			protocol: behavior.GRPCAndTLS, secure: anyCertificate,
			want: record.Connection{
				First:       record.FirstTLS,
				ClientHello: &record.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2"}},
				Handshake:   &record.Handshake{Version: "1.3", ALPN: "h2"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: tc.protocol})
			if got, err := check(t, r.addr(), "", tc.secure); err != nil || got != healthpb.HealthCheckResponse_SERVING {
				t.Fatalf("health %v, error %v, want SERVING", got, err)
			}
			want := tc.want
			want.ID, want.Protocol, want.HTTP2Preface, want.CloseReason = 1, tc.protocol, true, record.ClientClosed
			want.Requests = []record.Request{call}
			got := endedByClient(r.connection())
			ignore := cmp.Options{volatile, cmpopts.IgnoreFields(record.ClientHello{}, "CipherSuites"), cmpopts.IgnoreFields(record.Request{}, "UserAgent")}
			if diff := cmp.Diff(want, got, ignore); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			if agent := got.Requests[0].UserAgent; !strings.HasPrefix(agent, "kube-probe/1.37 grpc-go/") {
				t.Errorf("user agent %q", agent)
			}
			checkDetails(t, r, got)
		})
	}
}

func TestGRPCHealth(t *testing.T) {
	t.Parallel()
	services := map[string]behavior.ServingStatus{
		"": behavior.Serving, "db": behavior.NotServing, "q": behavior.Unknown, "gone": behavior.ServiceUnknown,
	}
	for name, tc := range map[string]struct {
		health     *behavior.Health
		service    string
		grpcStatus string
		want       behavior.ServingStatus
	}{
		"unset":                    {nil, "", "OK", behavior.Serving},
		"unset, a service":         {nil, "db", "NOT_FOUND", ""},
		"services, the whole":      {&behavior.Health{Services: services}, "", "OK", behavior.Serving},
		"services, not serving":    {&behavior.Health{Services: services}, "db", "OK", behavior.NotServing},
		"services, unknown":        {&behavior.Health{Services: services}, "q", "OK", behavior.Unknown},
		"services, its own answer": {&behavior.Health{Services: services}, "gone", "OK", behavior.ServiceUnknown},
		"services, absent":         {&behavior.Health{Services: services}, "mail", "NOT_FOUND", ""},
		"unimplemented":            {&behavior.Health{Unimplemented: true}, "", "UNIMPLEMENTED", ""},
		"code":                     {&behavior.Health{Code: "UNAVAILABLE", Message: "later"}, "", "UNAVAILABLE", ""},
		"last code":                {&behavior.Health{Code: "UNAUTHENTICATED"}, "", "UNAUTHENTICATED", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: behavior.GRPC, Phases: behavior.Timeline{{GRPC: tc.health}}})
			got, err := check(t, r.addr(), tc.service, nil)
			if tc.want != "" && (err != nil || got.String() != string(tc.want)) {
				t.Errorf("health %v, error %v, want %v", got, err, tc.want)
			}
			if tc.want == "" && strings.ToUpper(status.Code(err).String()) != strings.ReplaceAll(tc.grpcStatus, "_", "") {
				t.Errorf("error %v, want code %s", err, tc.grpcStatus)
			}
			request := r.connection().Requests[0]
			if request.GRPCStatus != tc.grpcStatus || request.Health != tc.want || *request.Service != tc.service {
				t.Errorf("recorded %+v for service %q", request, *request.Service)
			}
		})
	}
}

func TestGRPCAnswersOtherCallsAsUnimplemented(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.GRPC})
	conn := grpcClient(t, r.addr(), plaintext)
	err := conn.Invoke(t.Context(), "/shop.Cart/Add", &healthpb.HealthCheckRequest{}, &healthpb.HealthCheckResponse{})
	if got := status.Convert(err); got.Code() != codes.Unimplemented || got.Message() != "unknown service shop.Cart" {
		t.Errorf("error %v", err)
	}
	stream, err := healthpb.NewHealthClient(conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unimplemented {
		t.Errorf("Watch: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, request := range r.connection().Requests {
		paths = append(paths, request.Path+" "+request.GRPCStatus)
	}
	want := []string{"/shop.Cart/Add UNIMPLEMENTED", "/grpc.health.v1.Health/Watch UNIMPLEMENTED"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestTCP(t *testing.T) {
	t.Parallel()
	t.Run("a probe that only connects", func(t *testing.T) {
		t.Parallel()
		r := serve(t, behavior.Listener{Protocol: behavior.TCP})
		_ = dial(t, r.addr()).Close()
		if c := r.connection(); c.First != record.FirstNothing || c.CloseReason != record.ClientClosed || c.BytesIn != 0 {
			t.Errorf("recorded %+v", c)
		}
	})
	t.Run("a server that speaks first and hangs up", func(t *testing.T) {
		t.Parallel()
		r := serve(t, behavior.Listener{Protocol: behavior.TCP, Phases: behavior.Timeline{
			{Delay: behavior.Duration(time.Millisecond), TCP: &behavior.Stream{Send: "web-0", Close: true}},
		}})
		if got := receive(t, dial(t, r.addr())); got != "web-0" {
			t.Errorf("received %q", got)
		}
		if c := r.connection(); c.BytesOut != 5 || c.CloseReason != record.ServerClosed {
			t.Errorf("recorded %+v", c)
		}
	})
	t.Run("a client that talks and resets", func(t *testing.T) {
		t.Parallel()
		r := serve(t, behavior.Listener{Protocol: behavior.TCP, Phases: behavior.Timeline{{TCP: &behavior.Stream{Send: "x"}}}})
		conn := dial(t, r.addr())
		send(t, conn, "\x00\x01")
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if c := r.connection(); c.First != record.FirstOther || c.FirstHex != "0001" || c.CloseReason != record.ClientReset {
			t.Errorf("recorded %+v", c)
		}
	})
}
