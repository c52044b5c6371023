package model

import (
	"testing"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

var (
	on  = Component{Version: "v1.37.1", Gates: map[string]bool{GRPCMode.Gate: true, HTTPProtocol.Gate: true}}
	off = Component{Version: "v1.37.1"}
	old = Component{Version: "v1.36.3"}
)

func TestWire(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		handler Handler
		kubelet Component
		want    record.First
	}{
		{"TLS, gate on", Handler{Kind: GRPC, Mode: "TLS"}, on, record.FirstTLS},
		{"TLS, gate off", Handler{Kind: GRPC, Mode: "TLS"}, off, record.FirstHTTP2},
		{"TLS, old kubelet", Handler{Kind: GRPC, Mode: "TLS"}, old, record.FirstHTTP2},
		{"Plaintext", Handler{Kind: GRPC, Mode: "Plaintext"}, on, record.FirstHTTP2},
		{"no mode", Handler{Kind: GRPC}, on, record.FirstHTTP2},
		{"HTTP2, gate on", Handler{Kind: HTTPGet, Protocol: "HTTP2"}, on, record.FirstHTTP2},
		{"HTTP2, gate off", Handler{Kind: HTTPGet, Protocol: "HTTP2"}, off, record.FirstHTTP1},
		{"HTTP2, old kubelet", Handler{Kind: HTTPGet, Protocol: "HTTP2"}, old, record.FirstHTTP1},
		{"HTTP2 hook", Handler{Kind: HTTPGet, Protocol: "HTTP2", Hook: true}, on, record.FirstHTTP1},
		{"HTTP1", Handler{Kind: HTTPGet, Protocol: "HTTP1"}, on, record.FirstHTTP1},
		{"no protocol", Handler{Kind: HTTPGet}, on, record.FirstHTTP1},
		{"HTTPS", Handler{Kind: HTTPGet, Scheme: "HTTPS", Protocol: "HTTP1"}, on, record.FirstTLS},
		{"tcpSocket", Handler{Kind: TCPSocket}, on, record.FirstNothing},
	} {
		if got := Wire(tc.handler, tc.kubelet); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestCanSucceed(t *testing.T) {
	t.Parallel()
	firsts := []record.First{record.FirstTLS, record.FirstHTTP2, record.FirstHTTP1, record.FirstNothing}
	want := map[behavior.Protocol][]bool{
		behavior.HTTP1:       {false, false, true, false},
		behavior.HTTPS:       {true, false, false, false},
		behavior.H2C:         {false, true, false, false},
		behavior.H2CAndHTTP1: {false, true, true, false},
		behavior.GRPC:        {false, true, false, false},
		behavior.GRPCTLS:     {true, false, false, false},
		behavior.TCP:         {false, false, false, false},
	}
	for _, protocol := range behavior.Protocols() {
		for i, first := range firsts {
			if got := CanSucceed(first, protocol); got != want[protocol][i] {
				t.Errorf("%s to %s: %t", first, protocol, got)
			}
		}
	}
}

func TestStored(t *testing.T) {
	t.Parallel()
	with := Fields{"containers/app/livenessProbe": "TLS"}
	more := Fields{"containers/app/livenessProbe": "TLS", "containers/app/startupProbe": "TLS"}
	for name, tc := range map[string]struct{ got, want Fields }{
		"created, gate on":                  {Created(GRPCMode, on, with), with},
		"created, gate off":                 {Created(GRPCMode, off, with), nil},
		"created, old API server":           {Created(GRPCMode, old, with), nil},
		"updated, gate on":                  {Updated(GRPCMode, on, nil, with), with},
		"removed, gate on":                  {Updated(GRPCMode, on, with, nil), nil},
		"added, gate off":                   {Updated(GRPCMode, off, nil, with), nil},
		"more of it, gate off":              {Updated(GRPCMode, off, with, more), more},
		"written again, gate off":           {Updated(GRPCMode, off, with, with), with},
		"written again, old API server":     {Updated(GRPCMode, old, with, with), nil},
		"shown by one that knows, gate off": {Shown(GRPCMode, off, with), with},
		"shown by an old one":               {Shown(GRPCMode, old, with), nil},
	} {
		if !tc.got.Same(tc.want) {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
	if !(Fields{"a": "HTTP1"}).Same(nil) || (Fields{"a": "HTTP2"}).Same(nil) {
		t.Error("HTTP1 is what a probe without a protocol has, and HTTP2 is not")
	}
}

func BenchmarkWire(b *testing.B) {
	handlers := []Handler{{Kind: GRPC, Mode: "TLS"}, {Kind: GRPC}, {Kind: HTTPGet, Protocol: "HTTP2"}, {Kind: HTTPGet, Scheme: "HTTPS"}}
	kubelets := []Component{on, off, old}
	n := 0
	for b.Loop() {
		Wire(handlers[n%len(handlers)], kubelets[n%len(kubelets)])
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "predictions/s")
}
