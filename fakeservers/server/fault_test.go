package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/record"
)

const getRequest = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

func serveFault(t *testing.T, protocol behavior.Protocol, fault behavior.Fault) *rig {
	t.Helper()
	return serve(t, behavior.Listener{Protocol: protocol, Phases: behavior.Timeline{{Fault: fault}}})
}

func TestStallConnectAnswersNoClient(t *testing.T) {
	t.Parallel()
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.GRPCTLS, behavior.TCP} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			r := serveFault(t, protocol, behavior.StallConnect)
			for range 2 {
				conn, err := (&net.Dialer{Timeout: impatience}).DialContext(t.Context(), "tcp", r.addr())
				if err == nil {
					_ = conn.Close()
				}
				if !isTimeout(err) {
					t.Errorf("connecting: %v, want a timeout", err)
				}
			}
			if err := r.server.Close(); err != nil {
				t.Error(err)
			}
			r.connections(0)
			if conn, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", r.addr()); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("connecting to the closed port: %v, %v", conn, err)
			}
		})
	}
}

func TestStallAcceptReadsNothing(t *testing.T) {
	t.Parallel()
	r := serveFault(t, behavior.HTTP1, behavior.StallAccept)
	if _, err := (probe{givesUp: afterSending}).get(t, "http://"+r.addr()); err == nil {
		t.Fatal("a stalled server answered")
	}
	c := r.connection()
	if c.Fault != behavior.StallAccept || c.CloseReason != record.ClientClosed || c.First != record.FirstHTTP1 {
		t.Errorf("recorded %+v", c)
	}
	if c.BytesIn == 0 || c.BytesOut != 0 || len(c.Requests) != 0 {
		t.Errorf("%d bytes in, %d out, %d requests", c.BytesIn, c.BytesOut, len(c.Requests))
	}
}

func TestStallAcceptSeesTheClientHello(t *testing.T) {
	t.Parallel()
	r := serveFault(t, behavior.GRPCTLS, behavior.StallAccept)
	if err := handshakeImpatiently(t, dial(t, r.addr())); !isTimeout(err) {
		t.Errorf("handshake: %v, want a timeout", err)
	}
	c := r.connection()
	if c.ClientHello == nil || c.Handshake != nil {
		t.Errorf("recorded ClientHello %+v, handshake %+v", c.ClientHello, c.Handshake)
	}
}

func TestStallAcceptFillsTheWindow(t *testing.T) {
	t.Parallel()
	r := serveFault(t, behavior.TCP, behavior.StallAccept)
	conn := dial(t, r.addr())
	if err := conn.SetWriteDeadline(time.Now().Add(impatience)); err != nil {
		t.Fatal(err)
	}
	// This is more than the buffers of both ends hold: the server would have to read.
	sent, err := io.Copy(conn, io.LimitReader(zeros{}, 1<<30))
	if err == nil {
		t.Fatalf("sent %d bytes to a server that doesn't read", sent)
	}
	if err := conn.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if c := r.connection(); c.CloseReason != record.ClientReset || c.BytesIn == 0 || c.BytesIn > sent {
		t.Errorf("sent %d, recorded %+v", sent, c)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestStallHandshake(t *testing.T) {
	t.Parallel()
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.HTTPS, behavior.H2C, behavior.GRPC, behavior.GRPCTLS} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			r := serveFault(t, protocol, behavior.StallHandshake)
			conn := dial(t, r.addr())
			if protocol.TLS() {
				if err := handshakeImpatiently(t, conn); !isTimeout(err) {
					t.Errorf("handshake: %v, want a timeout", err)
				}
			} else {
				send(t, conn, getRequest)
			}
			_ = conn.Close()
			c := r.connection()
			if c.Fault != behavior.StallHandshake || c.BytesOut != 0 || c.BytesIn == 0 || c.Handshake != nil || c.CloseReason != record.ClientClosed {
				t.Errorf("recorded %+v", c)
			}
			if protocol.TLS() != (c.ClientHello != nil) {
				t.Errorf("recorded ClientHello %+v", c.ClientHello)
			}
		})
	}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func TestStallAfterHeaders(t *testing.T) {
	t.Parallel()
	for protocol, scheme := range map[behavior.Protocol]string{behavior.HTTP1: "http", behavior.HTTPS: "https", behavior.H2C: "http"} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			r := serveFault(t, protocol, behavior.StallAfterHeaders)
			got, err := probe{http2: protocol == behavior.H2C, givesUp: afterHeaders}.get(t, scheme+"://"+r.addr())
			if got.status != http.StatusOK || err == nil {
				t.Errorf("status %d, error %v, want 200 and no end of the body", got.status, err)
			}
			c := endedByClient(r.connection())
			if c.Fault != behavior.StallAfterHeaders || c.CloseReason != record.ClientClosed || c.Requests[0].Status != http.StatusOK {
				t.Errorf("recorded %+v", c)
			}
		})
	}
	t.Run("grpc", func(t *testing.T) {
		t.Parallel()
		r := serveFault(t, behavior.GRPC, behavior.StallAfterHeaders)
		if _, err := checkImpatiently(t, r.addr(), afterHeaders); err == nil {
			t.Error("a stalled call was answered")
		}
		c := r.connection()
		if c.Fault != behavior.StallAfterHeaders || c.Requests[0].GRPCStatus != "" {
			t.Errorf("recorded %+v", c)
		}
	})
}

func TestResetAndCloseEndAConnectionAfterItsFirstBytes(t *testing.T) {
	t.Parallel()
	for _, protocol := range behavior.Protocols() {
		for _, fault := range []behavior.Fault{behavior.Reset, behavior.Close} {
			t.Run(string(protocol)+", "+string(fault), func(t *testing.T) {
				t.Parallel()
				r := serveFault(t, protocol, fault)
				conn := dial(t, r.addr())
				send(t, conn, getRequest)
				expectEnd(t, conn, fault)
				c := r.connection()
				if c.First != record.FirstHTTP1 || c.Fault != fault || c.CloseReason != record.ByFault || c.BytesOut != 0 {
					t.Errorf("recorded %+v", c)
				}
			})
		}
	}
}

func expectEnd(t *testing.T, conn io.Reader, fault behavior.Fault) {
	t.Helper()
	n, err := conn.Read(make([]byte, 1))
	if fault == behavior.Reset && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %d bytes, error %v, want a reset", n, err)
	}
	if fault == behavior.Close && !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, error %v, want the end", n, err)
	}
}

func TestAConnectionThatSaysNothingIsNotReset(t *testing.T) {
	t.Parallel()
	r := serveFault(t, behavior.HTTP1, behavior.Reset)
	_ = dial(t, r.addr()).Close()
	if c := r.connection(); c.Fault != "" || c.CloseReason != record.ClientClosed {
		t.Errorf("recorded %+v", c)
	}
}

func TestWithRoutesResetAndCloseWaitForTheRequest(t *testing.T) {
	t.Parallel()
	for _, fault := range []behavior.Fault{behavior.Reset, behavior.Close} {
		for path, ends := range map[string]bool{"/": true, "/flaky": true, "/fine": false} {
			t.Run(string(fault)+" "+path, func(t *testing.T) {
				t.Parallel()
				r := serve(t, behavior.Listener{
					Protocol: behavior.HTTPS,
					Phases:   behavior.Timeline{{Fault: fault}},
					Routes: []behavior.Route{
						{Path: "/flaky", Phases: behavior.Timeline{{Fault: fault}}},
						{Path: "/fine"},
					},
				})
				got, err := probe{}.get(t, "https://"+r.addr()+path)
				if ends != (err != nil) {
					t.Errorf("status %d, error %v", got.status, err)
				}
				c := r.first()
				if c.Handshake == nil || c.Handshake.Error != "" || len(c.Requests) != 1 || c.Requests[0].Path != path {
					t.Fatalf("recorded %+v", c)
				}
				if ends && (c.Fault != fault || c.CloseReason != record.ByFault || c.Requests[0].Status != 0) {
					t.Errorf("recorded %+v", c)
				}
			})
		}
	}
}

func TestWrongProtocol(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[behavior.Protocol]string{
		behavior.HTTP1:       "\x15\x03\x01",
		behavior.H2CAndHTTP1: "\x15\x03\x01",
		behavior.HTTPS:       "HTTP/1.1 400 ",
		behavior.H2C:         "HTTP/1.1 400 ",
		behavior.GRPC:        "HTTP/1.1 400 ",
		behavior.GRPCTLS:     "HTTP/1.1 400 ",
	} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			r := serveFault(t, protocol, behavior.WrongProtocol)
			conn := dial(t, r.addr())
			send(t, conn, getRequest)
			if got := receive(t, conn); !strings.HasPrefix(got, want) {
				t.Errorf("received %q, want %q", got, want)
			}
			_ = conn.Close()
			if c := r.connection(); c.Fault != behavior.WrongProtocol || c.CloseReason != record.ByFault {
				t.Errorf("recorded %+v", c)
			}
		})
	}
	t.Run("to real clients", func(t *testing.T) {
		t.Parallel()
		r := serveFault(t, behavior.GRPCTLS, behavior.WrongProtocol)
		if _, err := check(t, r.addr(), "", anyCertificate); err == nil || !strings.Contains(err.Error(), "first record does not look like a TLS handshake") {
			t.Errorf("gRPC over TLS: %v", err)
		}
		r = serveFault(t, behavior.HTTP1, behavior.WrongProtocol)
		if _, err := (probe{}).get(t, "http://"+r.addr()); err == nil || !strings.Contains(err.Error(), "malformed HTTP response") {
			t.Errorf("HTTP/1.1: %v", err)
		}
	})
}

// Faults that befall a connection do so to the requests of one that was open
// before.
func TestAFaultBeginsOnAnOpenConnection(t *testing.T) {
	t.Parallel()
	for fault, want := range map[behavior.Fault]record.CloseReason{
		behavior.StallAccept:       record.ClientClosed,
		behavior.StallHandshake:    record.ClientClosed,
		behavior.StallAfterHeaders: record.ClientClosed,
		behavior.Reset:             record.ByFault,
		behavior.Close:             record.ByFault,
		behavior.WrongProtocol:     record.ByFault,
	} {
		t.Run("http1, "+string(fault), func(t *testing.T) {
			t.Parallel()
			c := openBefore(t, behavior.HTTP1, fault, func(addr string) func() {
				conn := dial(t, addr)
				return func() {
					send(t, conn, getRequest)
					if err := conn.SetReadDeadline(time.Now().Add(impatience)); err != nil {
						t.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, conn)
					_ = conn.Close()
				}
			})
			if c.Fault != fault || c.CloseReason != want || len(c.Requests) != 1 {
				t.Errorf("recorded %+v", c)
			}
		})
		t.Run("grpc, "+string(fault), func(t *testing.T) {
			t.Parallel()
			openBefore(t, behavior.GRPC, fault, func(addr string) func() {
				conn := grpcClient(t, addr, plaintext)
				conn.Connect()
				return func() {
					ctx, cancel := context.WithTimeout(t.Context(), impatience)
					defer cancel()
					if _, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}); err == nil {
						t.Error("the check was answered")
					}
					_ = conn.Close()
				}
			})
		})
	}
}

// openBefore has a client connect to a server, and use the connection once the
// fault has begun. It takes as long as it takes for the connection to be open
// well before the fault.
func openBefore(t *testing.T, protocol behavior.Protocol, fault behavior.Fault, connect func(addr string) (use func())) record.Connection {
	t.Helper()
	for calm := 200 * time.Millisecond; ; calm *= 2 {
		began := time.Now()
		r := start(t, server.Config{Started: began, Listener: behavior.Listener{
			Protocol: protocol, Phases: behavior.Timeline{{For: behavior.Duration(calm)}, {Fault: fault}},
		}})
		use := connect(r.addr())
		<-time.After(time.Until(began.Add(calm)))
		use()
		if c := r.first(); c.Opened.Before(began.Add(calm / 2)) {
			return c
		}
	}
}
