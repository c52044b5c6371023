package narrate_test

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/narrate"
)

// probed is a pod whose probes go to two ports.
const probed = `{"metadata": {"uid": "u"}, "spec": {"nodeName": "a", "containers": [{"name": "app",
	"livenessProbe": {"grpc": {"port": 5000, "mode": "TLS"}}, "readinessProbe": {"grpc": {"port": 5000, "mode": "TLS"}},
	"startupProbe": {"httpGet": {"port": 8080, "path": "/up"}}}]}}`

func first(bytes string) string { return hex.EncodeToString([]byte(bytes)) }

// connection is one that lasts a tenth of a second.
func connection(at float64, c record.Connection) record.Connection {
	c.Local, c.Remote, c.Opened, c.Closed = "127.9.0.2:1", "127.0.0.1:2", when(at), when(at+0.1)
	return c
}

func beginning(version string) *history {
	h := new(history)
	h.start(0, "kube-apiserver", "v1.90.1", nil)
	h.at(1, "kubelet/a", record.ComponentStarted{Version: "v1.90.1", Gates: map[string]bool{"GRPCContainerProbeTLS": version == "on"}})
	h.show(1, "pods/default/web", "added", probed)
	return h
}

func complaint(message string) string {
	return `{"involvedObject": {"kind": "Pod", "namespace": "default", "name": "web", "fieldPath": "spec.containers{app}"}, "type": "Warning", "reason": "Unhealthy", "message": ` + message + `}`
}

// TestAttempts: the wire of each kind of connection, decoded, with what the model
// expects and what kubelet event.
func TestAttempts(t *testing.T) {
	t.Parallel()
	h := beginning("on")
	settings := "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00\x00\x00\x00\x04\x01\x00\x00\x00\x00\x00\x00\x7d\x01\x04\x00\x00\x00\x01abc"
	call := record.Request{
		Method: "POST", Path: "/grpc.health.v1.Health/Check", Proto: "HTTP/2.0", Host: "127.9.0.2:1", Service: new(string), Status: 200,
		GRPCStatus: "OK", Health: behavior.Serving, UserAgent: "kube-probe/1.37", Headers: map[string][]string{"te": {"x", "y"}, "a": {"b"}},
		Started: when(2.05), Duration: behavior.Duration(10 * time.Millisecond),
	}
	h.at(2.1, "default/web/app", connection(2, record.Connection{
		Port: 5000, Protocol: behavior.GRPCTLS, First: record.FirstTLS, FirstHex: hex.EncodeToString([]byte{22, 3, 1, 1, 0, 1}),
		ClientHello: &record.ClientHello{Versions: []string{"1.3", "1.2"}, ALPN: []string{"h2"}, CipherSuites: 9},
		Handshake:   &record.Handshake{Version: "1.3", ALPN: "h2"}, HTTP2Preface: true, Requests: []record.Request{call},
		BytesIn: 10, BytesOut: 20, CloseReason: record.ClientClosed,
	}))
	h.at(3.1, "default/web/app", connection(3, record.Connection{
		Port: 5000, Protocol: behavior.GRPCTLS, First: record.FirstHTTP2, FirstHex: first(http2.ClientPreface + settings), HTTP2Preface: true,
		Handshake: &record.Handshake{Error: "tls: first record does not look like a TLS handshake"}, CloseReason: record.ServerClosed,
	}))
	h.show(3.2, "events/default/e1", "added", complaint(`"Readiness probe failed: no"`))
	h.at(4.1, "default/web/app", connection(4, record.Connection{
		Port: 8080, Protocol: behavior.H2C, First: record.FirstHTTP1, FirstHex: first("GET /up HTTP/1.1\r\nHost"), CloseReason: record.ByFault, Fault: "reset",
	}))
	h.at(5.1, "default/web/app", connection(5, record.Connection{Port: 8080, Protocol: behavior.HTTP1, First: record.FirstNothing, CloseReason: record.ClientClosed}))
	h.at(6.1, "default/web/app", connection(6, record.Connection{
		Port: 9, Protocol: behavior.HTTP1, First: record.FirstOther, FirstHex: first("\x00<b>"), CloseReason: record.ClientReset,
	}))
	h.show(7, "events/default/e2", "added", complaint(`"Startup probe failed: dial tcp 1.2.3.4:8080: connect: connection refused"`))
	h.at(8.5, "default/web/app", record.Exec{Args: []string{"grpc_health_probe", "-x"}, ExitCode: 2, DurationSeconds: 0.5})
	h.step(8.5, 1, "1", "wait")

	both, startup := "liveness or readiness grpc mode=TLS :5000", "startup httpGet :8080"
	connected := func(at float64, speaks string) narrate.Line {
		return narrate.Line{At: at, What: "connected", Text: "127.0.0.1:2 to 127.9.0.2:1, which speaks " + speaks}
	}
	app := "default/web/app"
	s := of(narrate.Input{Events: *h})
	want(t, []narrate.Attempt{
		{At: 2, Took: 0.1, Container: app, By: both, Expected: "TLS ClientHello (v1.90.1 gate on)", Observed: "TLS ClientHello: gRPC OK, SERVING", Tone: narrate.Good, Wire: []narrate.Line{
			connected(2, "grpc-tls"),
			{What: "TLS ClientHello", Text: "offers TLS 1.3, 1.2; ALPN h2; no server name; 9 cipher suites; record version 3.1 of 256 bytes"},
			{What: "TLS handshake", Text: "TLS 1.3, ALPN h2", Tone: narrate.Good},
			{What: "HTTP/2 preface", Text: "inside TLS"},
			{At: 2.05, What: "gRPC call", Text: `POST /grpc.health.v1.Health/Check HTTP/2.0, service ""`},
			{What: "headers", Text: "host 127.9.0.2:1; user agent kube-probe/1.37; a: b; te: x, y"},
			{At: 2.06, What: "answer", Text: "gRPC OK, SERVING", Tone: narrate.Good},
			{At: 2.1, What: "closed", Text: "by the client; 10 bytes came in, 20 went out"},
		}},
		{At: 3, Took: 0.1, Container: app, By: both, Expected: "TLS ClientHello (v1.90.1 gate on)",
			Observed: "HTTP/2 preface: no TLS, first record does not look like a TLS handshake; the model does not expect it to begin so", Tone: narrate.Bad, Wire: []narrate.Line{
				connected(3, "grpc-tls"),
				{What: "HTTP/2 preface", Text: "in plaintext"},
				{What: "HTTP/2 frame", Text: "SETTINGS MAX_FRAME_SIZE=16384"},
				{What: "HTTP/2 frame", Text: "SETTINGS, acknowledged"},
				{What: "HTTP/2 frame", Text: "HEADERS, stream 1, 125 bytes, of which the record has 3"},
				{What: "TLS handshake", Text: "tls: first record does not look like a TLS handshake", Tone: narrate.Bad},
				{At: 3.1, What: "closed", Text: "by the server; 0 bytes came in, 0 went out", Tone: narrate.Bad},
				{At: 3.2, What: "seen: kubelet event", Text: "Readiness probe failed: no", Tone: narrate.Bad},
			}},
		{At: 4, Took: 0.1, Container: app, By: startup, Expected: "HTTP/1.1 request (v1.90.1), cannot succeed against a server of h2c", Observed: "HTTP/1.1 request, ended by the fault", Tone: narrate.Bad, Wire: []narrate.Line{
			connected(4, "h2c"), {What: "HTTP request", Text: `"GET /up HTTP/1.1"`},
			{What: "fault", Text: "reset, as the server was set to", Tone: narrate.Faulty},
			{At: 4.1, What: "closed", Text: "by the fault; 0 bytes came in, 0 went out", Tone: narrate.Bad},
		}},
		{At: 5, Took: 0.1, Container: app, By: startup, Expected: "HTTP/1.1 request (v1.90.1)", Observed: "nothing, ended by the client", Tone: narrate.Bad, Wire: []narrate.Line{
			connected(5, "http1"), {What: "sent", Text: "nothing"}, {At: 5.1, What: "closed", Text: "by the client; 0 bytes came in, 0 went out", Tone: narrate.Bad},
			{At: 7, What: "seen: kubelet event", Text: "Startup probe failed: dial tcp 1.2.3.4:8080: connect: connection refused", Tone: narrate.Bad},
		}},
		{At: 6, Took: 0.1, Container: app, By: "unknown client :9", Observed: "bytes of no known protocol, ended reset by the client", Tone: narrate.Bad, Wire: []narrate.Line{
			connected(6, "http1"), {What: "sent", Text: `"\x00<b>"`, Tone: narrate.Bad},
			{At: 6.1, What: "closed", Text: "reset by the client; 0 bytes came in, 0 went out", Tone: narrate.Bad},
		}},
		{At: 8, Took: 0.5, Container: app, By: "exec grpc_health_probe -x", Observed: "exit 2", Tone: narrate.Bad},
	}, s.Attempts)
	want(t, []narrate.Lane{
		{Name: app + " " + both, Kind: narrate.Probe, Group: "default/web on a", Marks: []narrate.Mark{
			{At: 2, Label: s.Attempts[0].Observed, Tone: narrate.Good, Attempt: 1}, {At: 3, Label: s.Attempts[1].Observed, Tone: narrate.Bad, Attempt: 2},
		}},
		{Name: app + " " + startup, Kind: narrate.Probe, Group: "default/web on a", Marks: []narrate.Mark{
			{At: 4, Label: s.Attempts[2].Observed, Tone: narrate.Bad, Attempt: 3}, {At: 5, Label: s.Attempts[3].Observed, Tone: narrate.Bad, Attempt: 4},
		}},
		{Name: app + " unknown client :9", Kind: narrate.Probe, Group: "default/web on a", Marks: []narrate.Mark{{At: 6, Label: s.Attempts[4].Observed, Tone: narrate.Bad, Attempt: 5}}},
		{Name: app + " exec grpc_health_probe -x", Kind: narrate.Probe, Group: "default/web on a", Marks: []narrate.Mark{{At: 8, Label: "exit 2", Tone: narrate.Bad, Attempt: 6}}},
	}, lanesOf(narrate.Input{Events: *h}, narrate.Probe))
}

// TestNeverConnected checks that a kubelet event about an attempt that reached no server
// is an attempt, too.
func TestNeverConnected(t *testing.T) {
	t.Parallel()
	h := beginning("off")
	h.at(2, "default/web/app", record.ContainerStarted{})
	h.show(9, "events/default/e", "added", complaint(`"Startup probe failed: dial tcp 127.0.0.1:77->1.2.3.4:8080: connect: connection refused"`))
	h.step(9, 1, "1", "wait")
	want(t, []narrate.Attempt{{
		At: 9, Container: "default/web/app", By: "startup", Observed: "no connection in the record: dial tcp 127.0.0.1->1.2.3.4:8080: connect: connection refused", Tone: narrate.Bad,
		Wire: []narrate.Line{{At: 9, What: "seen: kubelet event", Text: "Startup probe failed: dial tcp 127.0.0.1:77->1.2.3.4:8080: connect: connection refused", Tone: narrate.Bad}},
	}}, of(narrate.Input{Events: *h}).Attempts)
}

// TestCutOff: an attempt that ended with its kubelet, or with the rig, says
// nothing of the server.
func TestCutOff(t *testing.T) {
	t.Parallel()
	h := beginning("off")
	unanswered := func(at float64) {
		h.at(at+0.1, "default/web/app", connection(at, record.Connection{
			Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, FirstHex: first("GET /up HTTP/1.1\r\n"), CloseReason: record.ClientClosed,
		}))
	}
	unanswered(2)
	unanswered(3.95)
	h.at(4, "kubelet/a", record.ComponentStopped{Asked: true})
	h.at(9, "kubelet/a", record.ComponentStarted{Version: "v1.90.1"})
	unanswered(12)
	h.step(11, 1, "1", "wait")
	unanswered(13)
	var got []string
	for _, a := range of(narrate.Input{Events: *h}).Attempts {
		got = append(got, a.Observed+" "+string(a.Tone))
	}
	want(t, []string{
		"HTTP/1.1 request, ended by the client bad",
		"HTTP/1.1 request, ended by the client, because its kubelet ended ",
		"HTTP/1.1 request, ended by the client, because the rig ended ",
		"HTTP/1.1 request, ended by the client, because the rig ended ",
	}, got)
}

// TestAlike: an attempt over whose wire the same went as over an earlier one's
// says so.
func TestAlike(t *testing.T) {
	t.Parallel()
	h := beginning("off")
	for i, path := range []string{"/up", "/up", "/elsewhere", "/up"} {
		at := float64(2 + i)
		h.at(at+0.1, "default/web/app", connection(at, record.Connection{
			Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, BytesIn: int64(i), CloseReason: []record.CloseReason{record.ClientClosed, record.ServerClosed}[i%2],
			Requests: []record.Request{{Method: "GET", Path: path, Proto: "HTTP/1.1", Status: 200, UserAgent: "kube-probe/1.37", Started: when(at)}},
		}))
	}
	var got []string
	for _, a := range of(narrate.Input{Events: *h}).Attempts {
		got = append(got, strings.Repeat("w", len(a.Wire))+strings.Repeat("l", a.Like))
	}
	want(t, []string{"wwwww", "wwl", "wwwww", "wwl"}, got)
	s := of(narrate.Input{Events: *h})
	want(t, []narrate.Line{
		{At: 3, What: "connected", Text: "127.0.0.1:2 to 127.9.0.2:1, which speaks http1"},
		{What: "HTTP request", Text: "GET /up HTTP/1.1"}, {What: "headers", Text: "host ; user agent kube-probe/1.37"},
		{What: "answer", Text: "HTTP 200, 0 bytes", Tone: narrate.Good},
		{At: 3.1, What: "closed", Text: "by the server; 1 byte came in, 0 went out"},
	}, s.WireOf(s.Attempts[1]))
}

// TestEventsAreLate: an event belongs to the attempt that ended in the second that it names,
// not to the one that ended last before it was seen.
func TestEventsAreLate(t *testing.T) {
	t.Parallel()
	h := beginning("off")
	for at := 2.0; at < 5; at++ {
		h.at(at+0.1, "default/web/app", connection(at, record.Connection{
			Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, FirstHex: first("GET /up HTTP/1.1\r\n"), CloseReason: record.ClientClosed,
		}))
	}
	stamp := when(2).UTC().Truncate(time.Second).Format(time.RFC3339)
	h.show(4.5, "events/default/e1", "added", `{"lastTimestamp": "`+stamp+`", `+strings.TrimPrefix(complaint(`"Startup probe failed: EOF"`), "{"))
	h.step(9, 1, "1", "wait")
	var got []float64
	for _, a := range of(narrate.Input{Events: *h}).Attempts {
		if slices.ContainsFunc(a.Wire, func(l narrate.Line) bool { return strings.HasPrefix(l.What, "seen: ") }) {
			got = append(got, a.At)
		}
	}
	want(t, []float64{2}, got)
}

// TestRefusedCertificate: whoever ends a handshake is named.
func TestRefusedCertificate(t *testing.T) {
	t.Parallel()
	h := beginning("off")
	h.at(2.1, "default/web/app", connection(2, record.Connection{
		Port: 8080, Protocol: behavior.HTTPS, First: record.FirstTLS, Handshake: &record.Handshake{Version: "1.3", Error: "remote error: tls: bad certificate"}, CloseReason: record.ServerClosed,
	}))
	h.step(9, 1, "1", "wait")
	got := of(narrate.Input{Events: *h}).Attempts[0].Observed
	if wanted := "TLS ClientHello: handshake failed: the kubelet refused the server's certificate (bad certificate)"; !strings.HasPrefix(got, wanted) {
		t.Error(got)
	}
}

// stalls has a connection whose answer is headers without a body.
func (h *history) stalls(at float64) {
	c := connection(at, record.Connection{
		Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, Fault: behavior.StallAfterHeaders, CloseReason: record.ClientClosed,
		Requests: []record.Request{{Method: "GET", Path: "/up", Proto: "HTTP/1.1", Status: 200, UserAgent: "kube-probe/1.37", Started: when(at), Duration: behavior.Duration(time.Second)}},
	})
	c.Closed = when(at + 1)
	h.at(at+1, "default/web/app", c)
}

// TestAskedAgain: an attempt after which the same probe asked at once did not end with
// its kubelet, which has ended soon after.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	h := beginning("off")
	h.stalls(2)
	h.at(3.101, "default/web/app", connection(3.001, record.Connection{
		Port: 8080, Protocol: behavior.HTTP1, First: record.FirstHTTP1, FirstHex: first("GET /up HTTP/1.1\r\n"), CloseReason: record.ClientClosed,
	}))
	h.at(3.2, "kubelet/a", record.ComponentStopped{Asked: true})
	h.step(9, 1, "1", "wait")
	var got []string
	for _, a := range of(narrate.Input{Events: *h}).Attempts {
		got = append(got, a.Observed)
	}
	want(t, []string{"HTTP/1.1 request: HTTP 200, and its body never ended", "HTTP/1.1 request, ended by the client, because its kubelet ended"}, got)
}

// TestStalled checks that an answer whose body never ends is a failed attempt, with the kubelet
// event about it: a kubelet that takes a probe for an error connects three times, and writes
// the event when the last connection has ended.
func TestStalled(t *testing.T) {
	t.Parallel()
	h := beginning("off")
	h.stalls(2)
	h.stalls(4) // of the next probe, not of the same one
	h.stalls(5)
	h.stalls(6.002)
	h.show(7.1, "events/default/e", "added", complaint(`"Startup probe errored and resulted in failure state: context deadline exceeded (while reading body)"`))
	h.stalls(7.05) // had begun when the kubelet spoke
	h.stalls(9)
	h.step(8.5, 1, "1", "wait")
	body := "HTTP/1.1 request: HTTP 200, and its body never ended"
	var got []string
	attempts := of(narrate.Input{Events: *h}).Attempts
	for _, a := range attempts {
		got = append(got, string(a.Tone)+" "+a.Observed)
	}
	want(t, []string{
		"bad " + body,
		"bad " + body + "; an error to its kubelet, which asked again",
		"bad " + body + "; an error to its kubelet, which asked again",
		"bad " + body + "; an error to its kubelet, which gave up and counted neither a failure nor a success",
		"bad " + body,
		" " + body + ", because the rig ended",
	}, got)
	want(t, []narrate.Line{
		{At: 7.002, What: "answer", Text: "HTTP 200, and its body never ended", Tone: narrate.Bad},
		{What: "fault", Text: "stall-after-headers, as the server was set to", Tone: narrate.Faulty},
		{At: 7.002, What: "closed", Text: "by the client; 0 bytes came in, 0 went out", Tone: narrate.Bad},
		{At: 7.1, What: "seen: kubelet event", Text: "Startup probe errored and resulted in failure state: context deadline exceeded (while reading body)", Tone: narrate.Bad},
	}, attempts[3].Wire[3:])
}

// TestWhoseComplaint: what a kubelet says of several probes at once names the
// container of the first. Whose it is says the port; where nothing does, that is
// said, and no probe is called bad.
func TestWhoseComplaint(t *testing.T) {
	t.Parallel()
	h := new(history)
	h.at(1, "kubelet/a", record.ComponentStarted{Version: "v1.90.1"})
	h.show(1, "pods/default/web", "added", `{"metadata": {"uid": "u"}, "spec": {"nodeName": "a", "containers": [
		{"name": "app", "readinessProbe": {"httpGet": {"port": 8084, "path": "/"}}}, {"name": "b", "readinessProbe": {"tcpSocket": {"port": 8085}}},
		{"name": "c", "readinessProbe": {"httpGet": {"port": 8086, "path": "/c"}}}, {"name": "d", "readinessProbe": {"httpGet": {"port": 8086, "path": "/d"}}}]}}`)
	asks := func(at float64, port int32, paths ...string) {
		c := record.Connection{Port: port, Protocol: behavior.HTTP1, First: record.FirstNothing, CloseReason: record.ClientClosed}
		for _, path := range paths {
			c.First = record.FirstHTTP1
			c.Requests = append(c.Requests, record.Request{Method: "GET", Path: path, Status: 500, UserAgent: "kube-probe/1.37", Started: when(at)})
		}
		h.at(at+0.1, "default/web/app", connection(at, c))
	}
	says := func(at float64, id, container, message string) {
		body := strings.Replace(complaint(strconv.Quote(message)), "{app}", "{"+container+"}", 1)
		h.show(at, "events/default/"+id, "added", body)
	}
	asks(2, 8084)
	asks(2.1, 8085) // with which its probe is content
	says(2.5, "e1", "b", "(combined from similar events): Readiness probe failed: Get \"http://127.0.0.3:8084/\": unexpected EOF")
	asks(7, 8086, "/c")
	asks(7.1, 8086, "/d")
	says(7.5, "e2", "b", "(combined from similar events): Readiness probe failed: HTTP probe failed with statuscode: 500")
	asks(12, 8086)
	asks(17, 8086)
	says(17.5, "e3", "d", "Readiness probe failed: read tcp 127.0.0.1:5->127.0.0.3:8086: read: connection reset by peer")
	says(22, "e4", "b", "(combined from similar events): Readiness probe failed: dial tcp 127.0.0.3:8086: connect: connection refused")
	says(22.5, "e5", "b", "(combined from similar events): Readiness probe failed: dial tcp 127.0.0.3:99: connect: connection refused")
	h.step(30, 1, "1", "wait")
	var got []string
	attempts := of(narrate.Input{Events: *h}).Attempts
	for _, a := range attempts {
		wire := a.Wire
		if a.Like > 0 {
			wire = attempts[a.Like-1].Wire
		}
		what := wire[max(0, len(wire)-1)].What
		got = append(got, strings.Join([]string{string(a.Tone), a.Container, a.By, what}, "; "))
	}
	want(t, []string{
		"bad; default/web/app; readiness httpGet :8084; seen: kubelet event",
		"good; default/web/app; readiness of b tcpSocket :8085; closed",
		"bad; default/web/app; readiness of c httpGet :8086; closed",
		"bad; default/web/app; readiness of d httpGet :8086; seen: kubelet event of one of: readiness of c, readiness of d httpGet :8086",
		"; default/web/app; one of: readiness of c, readiness of d httpGet :8086; closed",
		"bad; default/web/app; readiness of d httpGet :8086; seen: kubelet event",
		"changed; default/web/c; one of: readiness of c, readiness of d httpGet :8086; seen: kubelet event",
		"changed; default/web/b; readiness of one of the pod's containers; seen: kubelet event",
	}, got)
}
