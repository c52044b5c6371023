package server_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// What scenarios assert about the wire names these fields: they are not to
// change by accident.
func TestPayloadsAsJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	service := ""
	for want, payload := range map[string]record.Payload{
		`wire.listening {"address":"127.0.0.1:80","port":80,"protocol":"https","certificate":"expired"}`: record.Listening{
			Address: "127.0.0.1:80", Port: 80, Protocol: behavior.HTTPS, Certificate: "expired",
		},
		`wire.connection {"id":1,"port":5000,"protocol":"grpc-tls","local":"127.0.0.1:5000","remote":"127.0.0.1:4","opened":"2026-11-21T10:00:00Z","closed":"2026-11-21T10:00:01Z",` +
			`"first":"tls-client-hello","firstHex":"1603","clientHello":{"versions":["1.3"],"alpn":["h2"],"serverName":"a","cipherSuites":3},` +
			`"handshake":{"version":"1.3","alpn":"h2"},"http2Preface":true,` +
			`"requests":[{"method":"POST","path":"/grpc.health.v1.Health/Check","proto":"HTTP/2.0","userAgent":"kube-probe/1.37","service":"","status":200,"grpcStatus":"OK","health":"SERVING","started":"2026-11-21T10:00:00Z","duration":"1ms"}],` +
			`"bytesIn":5,"bytesOut":6,"fault":"close","closeReason":"fault"}`: record.Connection{
			ID: 1, Port: 5000, Protocol: behavior.GRPCTLS, Local: "127.0.0.1:5000", Remote: "127.0.0.1:4",
			Opened: at, Closed: at.Add(time.Second), First: record.FirstTLS, FirstHex: "1603",
			ClientHello: &record.ClientHello{Versions: []string{"1.3"}, ALPN: []string{"h2"}, ServerName: "a", CipherSuites: 3},
			Handshake:   &record.Handshake{Version: "1.3", ALPN: "h2"}, HTTP2Preface: true,
			Requests: []record.Request{{
				Method: "POST", Path: "/grpc.health.v1.Health/Check", Proto: "HTTP/2.0", UserAgent: "kube-probe/1.37", Service: &service,
				Status: 200, GRPCStatus: "OK", Health: behavior.Serving, Started: at, Duration: behavior.Duration(time.Millisecond),
			}},
			BytesIn: 5, BytesOut: 6, Fault: behavior.Close, CloseReason: record.ByFault,
		},
	} {
		data, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, payload.EventKind()+" "+string(data)); diff != "" {
			t.Errorf("payload (-want +got):\n%s", diff)
		}
	}
}
