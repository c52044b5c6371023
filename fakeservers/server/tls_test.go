package server_test

import (
	"crypto/tls"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

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
		handshake record.Handshake
	}{
		"held to 1.2": {
			tls:       behavior.TLS{MaxVersion: "1.2"},
			handshake: record.Handshake{Version: "1.2", ALPN: "h2"},
		},
		"from 1.3": {
			tls:       behavior.TLS{MinVersion: "1.3"},
			handshake: record.Handshake{Version: "1.3", ALPN: "h2"},
		},
		"no version in common": {
			tls: behavior.TLS{MinVersion: "1.3"}, client: &tls.Config{MaxVersion: tls.VersionTLS12},
			handshake: record.Handshake{Error: "tls: client offered only unsupported versions: [303]"},
		},
		"no certificate where one is required": {
			tls:       behavior.TLS{RequireClientCertificate: true},
			handshake: record.Handshake{Version: "1.3", ALPN: "h2", Error: "tls: client didn't provide a certificate"},
		},
		"a certificate where one is required": {
			tls:       behavior.TLS{RequireClientCertificate: true},
			client:    &tls.Config{Certificates: []tls.Certificate{clientCertificate(t)}},
			handshake: record.Handshake{Version: "1.3", ALPN: "h2", ClientCertificate: "CN=prober"},
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
			if c := r.connection(); !c.HTTP2Preface || c.First != record.FirstTLS || c.Handshake.ALPN != tc.alpn {
				t.Errorf("recorded %+v", c)
			}
		})
	}
}

// TestTLSDelay: the server has the first bytes, and lets the client wait.
func TestTLSDelay(t *testing.T) {
	t.Parallel()
	const delay = 50 * time.Millisecond
	for _, protocol := range []behavior.Protocol{behavior.GRPCTLS, behavior.GRPCAndTLS} {
		r := serve(t, behavior.Listener{Protocol: protocol, TLS: &behavior.TLS{Delay: behavior.Duration(delay)}})
		began := time.Now()
		if got, err := check(t, r.addr(), "", anyCertificate); err != nil || got != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("%s: health %v, error %v", protocol, got, err)
		}
		if took := time.Since(began); took < delay {
			t.Errorf("%s: it took %s only", protocol, took)
		}
	}
	r := serve(t, behavior.Listener{Protocol: behavior.HTTP1AndHTTPS, TLS: &behavior.TLS{Delay: behavior.Duration(time.Hour)}})
	conn := dial(t, r.addr())
	send(t, conn, "\x16\x03\x01")
	_ = dial(t, r.addr()).Close()
	r.connections(1) // The one that left at once: the server has accepted the one before it too.
	if err := r.server.Close(); err != nil {
		t.Error(err)
	}
	if c := r.connections(2)[0]; c.CloseReason != record.Shutdown {
		t.Errorf("recorded %+v", c)
	}
}

// TestAClientThatDoesNotDecide leaves before the server knows whether it wants TLS.
func TestAClientThatDoesNotDecide(t *testing.T) {
	t.Parallel()
	for _, protocol := range []behavior.Protocol{behavior.GRPCAndTLS, behavior.HTTP1AndHTTPS} {
		r := serve(t, behavior.Listener{Protocol: protocol})
		_ = dial(t, r.addr()).Close()
		if c := r.connection(); c.First != record.FirstNothing || c.CloseReason != record.ClientClosed || c.Handshake != nil {
			t.Errorf("%s: recorded %+v", protocol, c)
		}
	}
}
