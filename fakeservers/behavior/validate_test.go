package behavior_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

const second = behavior.Duration(time.Second)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		listener behavior.Listener
		want     []string
	}{
		"healthy for good": {
			listener: behavior.Listener{Port: 8080, Protocol: behavior.HTTP1},
		},
		"everything at once": {
			listener: behavior.Listener{
				Port:     8443,
				Protocol: behavior.HTTPS,
				TLS:      &behavior.TLS{Certificate: behavior.WrongName, MinVersion: "1.2", MaxVersion: "1.3", RequireClientCertificate: true},
				Phases: behavior.Timeline{
					{For: second, HTTP: &behavior.HTTP{Status: 302, Location: "/", Headers: map[string]string{"X-A": "b"}}},
					{Delay: second, Fault: behavior.StallAfterHeaders},
				},
				Routes: []behavior.Route{{Path: "/healthz", Phases: behavior.Timeline{{HTTP: &behavior.HTTP{BodyBytes: 20000}}}}},
			},
		},
		"nothing set": {
			want: []string{
				"port: 0 is not a TCP port, 1 to 65535",
				"protocol: unset: use http1, https, h2c, h2c+http1, http1+https, grpc, grpc-tls, grpc+grpc-tls, tcp",
			},
		},
		"unknown names": {
			listener: behavior.Listener{
				Port: 70000, Protocol: "quic",
				TLS: &behavior.TLS{Certificate: "lost", MinVersion: "1.1", MaxVersion: "2"},
				Phases: behavior.Timeline{{
					Fault: "melt",
					GRPC:  &behavior.Health{Code: "OK"},
				}},
			},
			want: []string{
				"port: 70000 is not a TCP port, 1 to 65535",
				`protocol: "quic" is unknown: use http1, https, h2c, h2c+http1, http1+https, grpc, grpc-tls, grpc+grpc-tls, tcp`,
				`tls.certificate: "lost" is unknown: use self-signed, expired, not-yet-valid, wrong-name, unknown-ca`,
				`tls.minVersion: "1.1" is unknown: use 1.2, 1.3`,
				`tls.maxVersion: "2" is unknown: use 1.2, 1.3`,
				`phases[0].grpc.code: "OK" is unknown: use CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED`,
				`phases[0].fault: "melt" is unknown: use stall-connect, stall-accept, stall-handshake, stall-after-headers, reset, close, wrong-protocol`,
			},
		},
		"TLS on a plaintext protocol": {
			listener: behavior.Listener{Port: 80, Protocol: behavior.H2C, TLS: &behavior.TLS{MinVersion: "1.3", MaxVersion: "1.2", Delay: -second}},
			want: []string{
				"tls: protocol h2c is plaintext: use https or grpc-tls, or leave tls out",
				"tls.minVersion: 1.3 is above maxVersion, 1.2",
				"tls.delay: -1s is negative",
			},
		},
		"phases out of order": {
			listener: behavior.Listener{Port: 80, Protocol: behavior.HTTP1, Phases: behavior.Timeline{
				{For: -second, Delay: -second}, {}, {For: second},
			}},
			want: []string{
				"phases[0].for: -1s is negative",
				"phases[0].delay: -1s is negative",
				"phases[1].for: unset, so this phase never ends and the phases after it never begin",
				"phases[2].for: 1s, but no phase follows: leave it unset, the last phase does not end",
			},
		},
		"requests that can't be counted": {
			listener: behavior.Listener{Port: 80, Protocol: behavior.HTTP1, Phases: behavior.Timeline{{Requests: 1}, {}}, Routes: []behavior.Route{
				{Path: "/", Phases: behavior.Timeline{{Requests: -1}, {Requests: 1, For: second}, {Requests: 3}}},
			}},
			want: []string{
				"phases[0].requests: only the phases of a route count requests",
				"routes[0].phases[0].requests: -1 is negative",
				"routes[0].phases[1].requests: the phase lasts for 1s already",
				"routes[0].phases[2].requests: 3, but no phase follows: leave it unset, the last phase does not end",
			},
		},
		"an HTTP answer that can't be": {
			listener: behavior.Listener{Port: 80, Protocol: behavior.HTTP1, Phases: behavior.Timeline{{HTTP: &behavior.HTTP{
				Status: 101, Body: "a", BodyBytes: -1, Location: "/\r\n", Headers: map[string]string{"": "", "a b": "", "X": "1\n2"},
			}}}},
			want: []string{
				"phases[0].http.status: 101 is not the status of an answer, 200 to 599",
				"phases[0].http.bodyBytes: -1 is not between 0 and 1073741824",
				"phases[0].http.bodyBytes: there is a body already",
				`phases[0].http.headers: "" is not the name of a header`,
				"phases[0].http.headers: the value of X is more than one line",
				`phases[0].http.headers: "a b" is not the name of a header`,
				"phases[0].http.location: is more than one line",
				"phases[0].http.location: status 101 doesn't redirect, 3xx does",
			},
		},
		"a port that is full for a while": {
			listener: behavior.Listener{Port: 80, Protocol: behavior.TCP, Phases: behavior.Timeline{
				{For: second}, {Fault: behavior.StallConnect},
			}},
			want: []string{"phases[1].fault: stall-connect befalls a port for good: make it the only phase"},
		},
		"a health that contradicts itself": {
			listener: behavior.Listener{Port: 80, Protocol: behavior.GRPC, Phases: behavior.Timeline{
				{For: second, GRPC: &behavior.Health{
					Services:      map[string]behavior.ServingStatus{"b": "FINE", "a": ""},
					Unimplemented: true, Code: "UNAVAILABLE",
				}},
				{GRPC: &behavior.Health{Message: "gone"}},
			}},
			want: []string{
				`phases[0].grpc.services["a"]: unset: use SERVING, NOT_SERVING, UNKNOWN, SERVICE_UNKNOWN`,
				`phases[0].grpc.services["b"]: "FINE" is unknown: use SERVING, NOT_SERVING, UNKNOWN, SERVICE_UNKNOWN`,
				"phases[0].grpc: services and unimplemented and code contradict each other: use one",
				"phases[1].grpc.message: needs code, which is unset",
			},
		},
		"answers of another protocol": {
			listener: behavior.Listener{
				Port: 80, Protocol: behavior.TCP,
				Phases: behavior.Timeline{{HTTP: &behavior.HTTP{}, GRPC: &behavior.Health{}, Fault: behavior.WrongProtocol}},
				Routes: []behavior.Route{{Path: "/"}},
			},
			want: []string{
				"phases[0].http: a listener with protocol tcp doesn't answer this way",
				"phases[0].grpc: a listener with protocol tcp doesn't answer this way",
				"phases[0].fault: protocol tcp has no headers and no answer to get wrong",
				"routes: protocol tcp has no paths",
			},
		},
		"routes": {
			listener: behavior.Listener{Port: 80, Protocol: behavior.HTTP1, Routes: []behavior.Route{
				{Path: "healthz"},
				{Path: "/a?b"},
				{Path: "/c", Phases: behavior.Timeline{{Fault: behavior.StallAccept, TCP: &behavior.Stream{}}}},
				{Path: "/c"},
			}},
			want: []string{
				`routes[0].path: "healthz" is not a path, which begins with / and has no query`,
				`routes[1].path: "/a?b" is not a path, which begins with / and has no query`,
				"routes[2].phases[0].tcp: a listener with protocol http1 doesn't answer this way",
				"routes[2].phases[0].fault: stall-accept befalls a connection before its path is known: put it in the listener's own phases",
				`routes[3].path: "/c" has a route already`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, problem := range tc.listener.Validate() {
				got = append(got, problem.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
