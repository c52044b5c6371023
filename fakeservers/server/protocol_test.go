package server_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/harness/record"
)

var anyCertificate = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}

// volatile are the fields of a connection that differ from run to run.
var volatile = cmp.Options{
	cmpopts.IgnoreFields(server.Connection{}, "Port", "Local", "Remote", "Opened", "Closed", "FirstHex", "BytesIn", "BytesOut"),
	cmpopts.IgnoreFields(server.Request{}, "Host", "Headers", "Started", "Duration"),
}

func TestHTTPServersAreHealthy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		protocol behavior.Protocol
		probe    probe
		want     server.Connection
	}{
		"http1": {
			protocol: behavior.HTTP1,
			want:     server.Connection{First: server.FirstHTTP1},
		},
		"h2c": {
			protocol: behavior.H2C, probe: probe{http2: true},
			want: server.Connection{First: server.FirstHTTP2, HTTP2Preface: true, CloseReason: server.ClientClosed},
		},
		"both, HTTP/1.1": {
			protocol: behavior.H2CAndHTTP1,
			want:     server.Connection{First: server.FirstHTTP1},
		},
		"both, HTTP/2": {
			protocol: behavior.H2CAndHTTP1, probe: probe{http2: true},
			want: server.Connection{First: server.FirstHTTP2, HTTP2Preface: true, CloseReason: server.ClientClosed},
		},
		"https": {
			protocol: behavior.HTTPS,
			want: server.Connection{
				First: server.FirstTLS, HTTP2Preface: true, CloseReason: server.ClientClosed,
				ClientHello: &server.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2", "http/1.1"}},
				Handshake:   &server.Handshake{Version: "1.3", ALPN: "h2"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: tc.protocol})
			scheme, proto := "http", "HTTP/1.1"
			if tc.protocol.TLS() {
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
			tc.want.Requests = []server.Request{{
				Method: "GET", Path: "/healthz?full=1", Proto: proto, UserAgent: "kube-probe/1.37", Status: 200, BodyBytes: 2,
			}}
			connection := endedByClient(r.connection())
			if proto == "HTTP/1.1" {
				// The probe asks the server to close, and then both do.
				if got := connection.CloseReason; got != server.ServerClosed && got != server.ClientClosed {
					t.Errorf("close reason %s", got)
				}
				connection.CloseReason = ""
			}
			suites := cmpopts.IgnoreFields(server.ClientHello{}, "CipherSuites")
			if diff := cmp.Diff(tc.want, connection, volatile, suites); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			checkDetails(t, r, connection)
		})
	}
}

// checkDetails checks what differs from run to run.
func checkDetails(t *testing.T, r *rig, c server.Connection) {
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
	call := server.Request{
		Method: "POST", Path: "/grpc.health.v1.Health/Check", Proto: "HTTP/2.0", Service: &empty,
		Status: 200, GRPCStatus: "OK", Health: behavior.Serving,
	}
	for name, tc := range map[string]struct {
		protocol behavior.Protocol
		secure   *tls.Config
		want     server.Connection
	}{
		"plaintext": {
			protocol: behavior.GRPC,
			want:     server.Connection{First: server.FirstHTTP2},
		},
		"TLS": {
			protocol: behavior.GRPCTLS, secure: anyCertificate,
			want: server.Connection{
				First:       server.FirstTLS,
				ClientHello: &server.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2"}},
				Handshake:   &server.Handshake{Version: "1.3", ALPN: "h2"},
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
			want.ID, want.Protocol, want.HTTP2Preface, want.CloseReason = 1, tc.protocol, true, server.ClientClosed
			want.Requests = []server.Request{call}
			got := endedByClient(r.connection())
			ignore := cmp.Options{volatile, cmpopts.IgnoreFields(server.ClientHello{}, "CipherSuites"), cmpopts.IgnoreFields(server.Request{}, "UserAgent")}
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
		if c := r.connection(); c.First != server.FirstNothing || c.CloseReason != server.ClientClosed || c.BytesIn != 0 {
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
		if c := r.connection(); c.BytesOut != 5 || c.CloseReason != server.ServerClosed {
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
		if c := r.connection(); c.First != server.FirstOther || c.FirstHex != "0001" || c.CloseReason != server.ClientReset {
			t.Errorf("recorded %+v", c)
		}
	})
}

func TestAnAnswerHasWhatThePhaseSays(t *testing.T) {
	t.Parallel()
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.H2C} {
		for name, tc := range map[string]struct {
			answer behavior.HTTP
			want   answer
		}{
			"status": {behavior.HTTP{Status: 503}, answer{status: 503}},
			"body":   {behavior.HTTP{Status: 500, Body: "no database"}, answer{status: 500, body: "no database"}},
			"filler": {behavior.HTTP{BodyBytes: 100_000}, answer{status: 200, body: strings.Repeat("x", 100_000)}},
			"redirect": {behavior.HTTP{Location: "http://0.0.0.0/", Headers: map[string]string{"X-A": "b"}},
				answer{status: 302, header: http.Header{"Location": {"http://0.0.0.0/"}, "X-A": {"b"}}}},
			"redirect for good": {behavior.HTTP{Status: 308, Location: "/"}, answer{status: 308}},
		} {
			t.Run(string(protocol)+", "+name, func(t *testing.T) {
				t.Parallel()
				r := serve(t, behavior.Listener{Protocol: protocol, Phases: behavior.Timeline{{HTTP: &tc.answer}}})
				got, err := probe{http2: protocol == behavior.H2C}.get(t, "http://"+r.addr())
				if err != nil {
					t.Fatal(err)
				}
				if got.status != tc.want.status || got.body != tc.want.body {
					t.Errorf("status %d with %d bytes, want %d with %d", got.status, len(got.body), tc.want.status, len(tc.want.body))
				}
				for name := range tc.want.header {
					if got.header.Get(name) != tc.want.header.Get(name) {
						t.Errorf("%s: %q", name, got.header.Get(name))
					}
				}
				request := r.connection().Requests[0]
				if request.Status != tc.want.status || request.BodyBytes != int64(len(tc.want.body)) {
					t.Errorf("recorded %+v", request)
				}
			})
		}
	}
}

func TestProgramsAnswerInsteadOfPhases(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	r := start(t, server.Config{Listener: behavior.Listener{Protocol: behavior.HTTP1}, Handler: handler})
	get := func(want int) {
		t.Helper()
		got, err := probe{}.get(t, "http://"+r.addr())
		if err != nil || got.status != want {
			t.Errorf("status %d, error %v, want %d", got.status, err, want)
		}
	}
	get(http.StatusTeapot)
	if err := r.server.SetPhases(behavior.Timeline{{HTTP: &behavior.HTTP{Status: 500}}}); err != nil {
		t.Fatal(err)
	}
	get(http.StatusInternalServerError)
	if err := r.server.SetPhases(nil); err != nil {
		t.Fatal(err)
	}
	get(http.StatusTeapot)
	if err := r.server.SetPhases(behavior.Timeline{{GRPC: &behavior.Health{}}}); err == nil {
		t.Error("an HTTP server took the phases of a gRPC server")
	}
	var changes int
	for range record.All[server.Changed](r.history.Events()) {
		changes++
	}
	if changes != 2 {
		t.Errorf("%d changes are recorded, want 2", changes)
	}
}

func TestGRPCProgramsAnswerInsteadOfPhases(t *testing.T) {
	t.Parallel()
	r := start(t, server.Config{
		Listener: behavior.Listener{Protocol: behavior.GRPC},
		Health: func(service string) (behavior.ServingStatus, error) {
			if service == "" {
				return behavior.NotServing, nil
			}
			return "", status.Error(codes.PermissionDenied, "not yours")
		},
	})
	if got, err := check(t, r.addr(), "", nil); err != nil || got != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health %v, error %v", got, err)
	}
	if _, err := check(t, r.addr(), "db", nil); status.Code(err) != codes.PermissionDenied {
		t.Errorf("error %v", err)
	}
}

func TestPhasesFollowEachOther(t *testing.T) {
	t.Parallel()
	listener := behavior.Listener{
		Protocol: behavior.HTTP1,
		Phases: behavior.Timeline{
			{For: behavior.Duration(time.Hour), HTTP: &behavior.HTTP{Status: 200}},
			{HTTP: &behavior.HTTP{Status: 500}},
		},
		Routes: []behavior.Route{{Path: "/startup", Phases: behavior.Timeline{
			{For: behavior.Duration(time.Minute), HTTP: &behavior.HTTP{Status: 503}},
			{HTTP: &behavior.HTTP{Status: 204}},
		}}},
	}
	for name, tc := range map[string]struct {
		age             time.Duration
		status, startup int
	}{
		"young": {0, 200, 503}, "grown": {2 * time.Minute, 200, 204}, "old": {2 * time.Hour, 500, 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, server.Config{Listener: listener, Started: time.Now().Add(-tc.age)})
			for path, want := range map[string]int{"/": tc.status, "/startup": tc.startup} {
				got, err := probe{}.get(t, "http://"+r.addr()+path)
				if err != nil || got.status != want {
					t.Errorf("%s: status %d, error %v, want %d", path, got.status, err, want)
				}
			}
		})
	}
}

func TestAnAnswerCanBeSlow(t *testing.T) {
	t.Parallel()
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.GRPC} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			phases := behavior.Timeline{{Delay: behavior.Duration(time.Hour)}}
			r := serve(t, behavior.Listener{Protocol: protocol, Phases: phases})
			var err error
			if protocol == behavior.GRPC {
				_, err = checkImpatiently(t, r.addr(), afterSending)
			} else {
				_, err = probe{givesUp: afterSending}.get(t, "http://"+r.addr())
			}
			if err == nil {
				t.Fatal("the answer came at once")
			}
			c := endedByClient(r.connection())
			if request := c.Requests[0]; request.Status != 0 || request.GRPCStatus != "" {
				t.Errorf("recorded an answer: %+v", request)
			}
			if c.CloseReason != server.ClientClosed {
				t.Errorf("close reason %s", c.CloseReason)
			}
		})
	}
}

func TestABriefDelayIsOnlyADelay(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Millisecond
	r := serve(t, behavior.Listener{Protocol: behavior.H2C, Phases: behavior.Timeline{{Delay: behavior.Duration(delay)}}})
	if got, err := (probe{http2: true}).get(t, "http://"+r.addr()); err != nil || got.status != 200 {
		t.Errorf("status %d, error %v", got.status, err)
	}
	if request := r.connection().Requests[0]; time.Duration(request.Duration) < delay {
		t.Errorf("answered after %v, want at least %v", request.Duration, delay)
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	for kind, want := range map[behavior.Certificate]string{
		behavior.SelfSigned:  "certificate signed by unknown authority",
		behavior.UnknownCA:   "certificate signed by unknown authority",
		behavior.Expired:     "certificate has expired",
		behavior.NotYetValid: "is before",
		behavior.WrongName:   "doesn't contain any IP SANs",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: behavior.GRPCTLS, TLS: &behavior.TLS{Certificate: kind}})
			if got, err := check(t, r.addr(), "", anyCertificate); err != nil || got != healthpb.HealthCheckResponse_SERVING {
				t.Errorf("a client that verifies nothing: health %v, error %v", got, err)
			}
			conn := tls.Client(dial(t, r.addr()), &tls.Config{ServerName: "127.0.0.1"})
			err := conn.HandshakeContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a client that verifies: error %v, want %q", err, want)
			}
			_ = conn.Close()
			if c := r.connections(2)[1]; c.Handshake == nil || !strings.Contains(c.Handshake.Error, "remote error: tls: ") {
				t.Errorf("recorded handshake %+v", c.Handshake)
			}
		})
	}
}

func TestTLSVersionsAndClientCertificates(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tls       behavior.TLS
		client    *tls.Config
		handshake server.Handshake
	}{
		"held to 1.2": {
			tls:       behavior.TLS{MaxVersion: "1.2"},
			handshake: server.Handshake{Version: "1.2", ALPN: "h2"},
		},
		"from 1.3": {
			tls:       behavior.TLS{MinVersion: "1.3"},
			handshake: server.Handshake{Version: "1.3", ALPN: "h2"},
		},
		"no version in common": {
			tls: behavior.TLS{MinVersion: "1.3"}, client: &tls.Config{MaxVersion: tls.VersionTLS12},
			handshake: server.Handshake{Error: "tls: client offered only unsupported versions: [303]"},
		},
		"no certificate where one is required": {
			tls:       behavior.TLS{RequireClientCertificate: true},
			handshake: server.Handshake{Version: "1.3", ALPN: "h2", Error: "tls: client didn't provide a certificate"},
		},
		"a certificate where one is required": {
			tls:       behavior.TLS{RequireClientCertificate: true},
			client:    &tls.Config{Certificates: []tls.Certificate{clientCertificate(t)}},
			handshake: server.Handshake{Version: "1.3", ALPN: "h2", ClientCertificate: "CN=prober"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: behavior.HTTPS, TLS: &tc.tls})
			client := anyCertificate
			if tc.client != nil {
				client = tc.client
				client.InsecureSkipVerify, client.NextProtos = true, anyCertificate.NextProtos
			}
			conn := tls.Client(dial(t, r.addr()), client)
			// Over TLS 1.3 a client learns only with its first read that it
			// isn't welcome.
			if err := conn.HandshakeContext(t.Context()); err == nil {
				_, _ = conn.Read(make([]byte, 1))
			}
			_ = conn.Close()
			if diff := cmp.Diff(&tc.handshake, r.connection().Handshake); diff != "" {
				t.Errorf("handshake (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheHTTP2PrefaceIsSeenInsideTLS(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		alpn   string
		pieces []string
	}{
		"agreed on by ALPN": {"h2", strings.Split(http2.ClientPreface, "")},
		// Not a byte at a time: HTTP/1.1 hangs up after the first line.
		"not agreed on by ALPN": {"http/1.1", []string{http2.ClientPreface}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: behavior.HTTPS})
			conn := tls.Client(dial(t, r.addr()), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{tc.alpn}})
			for _, piece := range tc.pieces {
				send(t, conn, piece)
			}
			_ = conn.CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
			if c := r.connection(); !c.HTTP2Preface || c.First != server.FirstTLS || c.Handshake.ALPN != tc.alpn {
				t.Errorf("recorded %+v", c)
			}
		})
	}
}
