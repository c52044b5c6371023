package model

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var (
	mode     = Field{Probe: "grpc.mode", Gate: "Mode", Wire: &Wire{Value: "TLS", First: record.FirstTLS}}
	protocol = Field{Probe: "httpGet.protocol", Gate: "Protocol", Default: "HTTP1", Wire: &Wire{Value: "HTTP2", First: record.FirstHTTP2}}
	users    = Field{Path: "hostUsers", Gate: "Users"}
	policy   = Field{Path: "containers[].resizePolicy.restart", Gate: "Users"}
	traffic  = Field{Path: "spec.traffic", Resource: "services", Gate: "Traffic"}

	// rules have invented releases: v1.90 is without the gates, and v1.92 has one of
	// them on by default.
	rules = Rules{
		Fields: []Field{mode, protocol, users, policy, traffic},
		Gates: release.Tables{
			"v1.90": {},
			"v1.91": {{Name: "Mode", Stage: release.Alpha}, {Name: "Protocol", Stage: release.Alpha}},
			"v1.92": {{Name: "Mode", Stage: release.Beta, Default: true, Versions: []release.GateVersion{
				{Since: "v1.91", Stage: release.Alpha}, {Since: "v1.92", Stage: release.Beta, Default: true},
			}}, {Name: "Protocol", Stage: release.Alpha}},
		},
	}
	on      = Component{Effective: release.Effective{Version: "v1.91.1"}, Gates: release.Gates{"Mode": true, "Protocol": true}}
	off     = Component{Effective: release.Effective{Version: "v1.91.1"}}
	old     = Component{Effective: release.Effective{Version: "v1.90.3"}}
	beta    = Component{Effective: release.Effective{Version: "v1.92.0"}}
	emulate = Component{Effective: release.Effective{Version: "v1.92.0", Emulated: "v1.90"}}
	betaOff = Component{Effective: release.Effective{Version: "v1.92.0"}, Gates: release.Gates{"Mode": false}}
)

func with(name, value string) map[string]string { return map[string]string{name: value} }

func TestWire(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		handler Handler
		kubelet Component
		want    record.First
	}{
		{"TLS, gate on", Handler{Kind: timeline.GRPC, Values: with("grpc.mode", "TLS")}, on, record.FirstTLS},
		{"TLS, gate off", Handler{Kind: timeline.GRPC, Values: with("grpc.mode", "TLS")}, off, record.FirstHTTP2},
		{"TLS, old kubelet", Handler{Kind: timeline.GRPC, Values: with("grpc.mode", "TLS")}, old, record.FirstHTTP2},
		{"TLS, gate on by default", Handler{Kind: timeline.GRPC, Values: with("grpc.mode", "TLS")}, beta, record.FirstTLS},
		{"TLS, gate on by default, but not in what is emulated", Handler{Kind: timeline.GRPC, Values: with("grpc.mode", "TLS")}, emulate, record.FirstHTTP2},
		{"TLS, gate set off", Handler{Kind: timeline.GRPC, Values: with("grpc.mode", "TLS")}, betaOff, record.FirstHTTP2},
		{"HTTP2, gate off by default", Handler{Kind: timeline.HTTPGet, Values: with("httpGet.protocol", "HTTP2")}, beta, record.FirstHTTP1},
		{"Plaintext", Handler{Kind: timeline.GRPC, Values: with("grpc.mode", "Plaintext")}, on, record.FirstHTTP2},
		{"no mode", Handler{Kind: timeline.GRPC}, on, record.FirstHTTP2},
		{"HTTP2, gate on", Handler{Kind: timeline.HTTPGet, Values: with("httpGet.protocol", "HTTP2")}, on, record.FirstHTTP2},
		{"HTTP2, gate off", Handler{Kind: timeline.HTTPGet, Values: with("httpGet.protocol", "HTTP2")}, off, record.FirstHTTP1},
		{"HTTP2, old kubelet", Handler{Kind: timeline.HTTPGet, Values: with("httpGet.protocol", "HTTP2")}, old, record.FirstHTTP1},
		{"HTTP2 hook", Handler{Kind: timeline.HTTPGet, Values: with("httpGet.protocol", "HTTP2"), Hook: true}, on, record.FirstHTTP1},
		{"HTTP1", Handler{Kind: timeline.HTTPGet, Values: with("httpGet.protocol", "HTTP1")}, on, record.FirstHTTP1},
		{"no protocol", Handler{Kind: timeline.HTTPGet}, on, record.FirstHTTP1},
		{"HTTPS", Handler{Kind: timeline.HTTPGet, Scheme: "HTTPS", Values: with("httpGet.protocol", "HTTP1")}, on, record.FirstTLS},
		{"tcpSocket", Handler{Kind: timeline.TCPSocket}, on, record.FirstNothing},
	} {
		if got := rules.Wire(tc.handler, tc.kubelet); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestCanSucceed(t *testing.T) {
	t.Parallel()
	firsts := []record.First{record.FirstTLS, record.FirstHTTP2, record.FirstHTTP1, record.FirstNothing}
	want := map[behavior.Protocol][]bool{
		behavior.HTTP1:         {false, false, true, false},
		behavior.HTTPS:         {true, false, false, false},
		behavior.H2C:           {false, true, false, false},
		behavior.H2CAndHTTP1:   {false, true, true, false},
		behavior.HTTP1AndHTTPS: {true, false, true, false},
		behavior.GRPC:          {false, true, false, false},
		behavior.GRPCTLS:       {true, false, false, false},
		behavior.GRPCAndTLS:    {true, true, false, false},
		behavior.TCP:           {false, false, false, false},
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
	set := Values{"containers/app/livenessProbe": "TLS"}
	more := Values{"containers/app/livenessProbe": "TLS", "containers/app/startupProbe": "TLS"}
	probe := Places{"containers/app/livenessProbe"}
	http1, http2 := Values{probe[0]: "HTTP1"}, Values{probe[0]: "HTTP2"}
	for name, tc := range map[string]struct{ got, want Values }{
		"created, gate on":                  {rules.Created(mode, on, set, nil), set},
		"created, gate on by default":       {rules.Created(mode, beta, set, nil), set},
		"created, gate of no emulated one":  {rules.Created(mode, emulate, set, nil), nil},
		"carried along while emulating":     {rules.Updated(mode, emulate, set, set, nil), set},
		"created, gate off":                 {rules.Created(mode, off, set, nil), nil},
		"created, old API server":           {rules.Created(mode, old, set, nil), nil},
		"updated, gate on":                  {rules.Updated(mode, on, nil, set, nil), set},
		"removed, gate on":                  {rules.Updated(mode, on, set, nil, nil), nil},
		"added, gate off":                   {rules.Updated(mode, off, nil, set, nil), nil},
		"more of it, gate off":              {rules.Updated(mode, off, set, more, nil), more},
		"written again, gate off":           {rules.Updated(mode, off, set, set, nil), set},
		"written again, old API server":     {rules.Updated(mode, old, set, set, nil), nil},
		"shown by one that knows, gate off": {rules.Shown(mode, off, set, nil), set},
		"shown by an old one":               {rules.Shown(mode, old, set, nil), nil},
		"created without, gate on":          {rules.Created(protocol, on, nil, probe), http1},
		"created with, gate on":             {rules.Created(protocol, on, http2, probe), http2},
		"created without, gate off":         {rules.Created(protocol, off, nil, probe), nil},
		"updated without, gate on":          {rules.Updated(protocol, on, nil, nil, probe), http1},
		"updated without, gate off":         {rules.Updated(protocol, off, nil, nil, probe), nil},
		"shown without, gate on":            {rules.Shown(protocol, on, nil, probe), http1},
		"shown without, gate off":           {rules.Shown(protocol, off, nil, probe), nil},
		"shown without, old API server":     {rules.Shown(protocol, old, nil, probe), nil},
		"filled in while on, gate off":      {rules.Shown(protocol, off, http1, probe), http1},
	} {
		if !maps.Equal(tc.got, tc.want) {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
	if protocol.Used("pods", http1) || !protocol.Used("pods", http2) || !protocol.Used("deployments", http1) || !mode.Used("pods", http1) {
		t.Error("HTTP1 is what a pod without a protocol has, and what has HTTP2, or a template with HTTP1, uses the field")
	}
}

func TestWhereADefaultIsFilledIn(t *testing.T) {
	t.Parallel()
	const spec = `{"containers": [{"name": "a", "livenessProbe": {"httpGet": {"port": 1}}, "readinessProbe": {"grpc": {"port": 1}},
		"lifecycle": {"preStop": {"httpGet": {"protocol": "HTTP2"}}}}], "initContainers": [{"name": "b", "startupProbe": {"httpGet": {}}}]}`
	var pod, template map[string]any
	for text, object := range map[string]*map[string]any{`{"spec": ` + spec + `}`: &pod, `{"spec": {"template": {"spec": ` + spec + `}}}`: &template} {
		if err := json.Unmarshal([]byte(text), object); err != nil {
			t.Fatal(err)
		}
	}
	want := Places{"initContainers/b/startupProbe", "containers/a/livenessProbe", "containers/a/preStop"}
	if diff := cmp.Diff(want, protocol.Fills("pods", pod)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if in := protocol.Fills("deployments", template); len(in) > 0 || len(mode.Fills("pods", pod)) > 0 {
		t.Errorf("a default is filled in at %v of a template", in)
	}
}

func TestValuesOfAField(t *testing.T) {
	t.Parallel()
	const spec = `{"hostUsers": false, "traffic": "local", "containers": [{"name": "app", "resizePolicy": {"restart": "Never"},
		"livenessProbe": {"grpc": {"mode": "TLS"}}, "lifecycle": {"preStop": {"httpGet": {"protocol": "HTTP1"}}}}, {"name": "other"}]}`
	decode := func(text string) (object map[string]any) {
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	pod, template := decode(`{"spec": `+spec+`}`), decode(`{"spec": {"template": {"spec": `+spec+`}}}`)
	for _, tc := range []struct {
		field    Field
		resource string
		object   map[string]any
		want     Values
	}{
		{mode, "pods", pod, Values{"containers/app/livenessProbe": "TLS"}},
		{mode, "deployments", template, Values{"containers/app/livenessProbe": "TLS"}},
		{mode, "nodes", decode(`{"spec": {}}`), Values{}},
		{protocol, "pods", pod, Values{"containers/app/preStop": "HTTP1"}},
		{users, "pods", pod, Values{"hostUsers": "false"}},
		{policy, "daemonsets", template, Values{"containers/app/resizePolicy/restart": "Never"}},
		{traffic, "services", pod, Values{"spec/traffic": "local"}},
		{traffic, "pods", pod, Values{}},
	} {
		if diff := cmp.Diff(tc.want, tc.field.In(tc.resource, tc.object)); diff != "" {
			t.Errorf("%s in %s (-want +got):\n%s", tc.field.Name(), tc.resource, diff)
		}
	}
	protocol.WithoutDefault("pods", pod)
	if left := protocol.In("pods", pod); len(left) > 0 {
		t.Errorf("the default is left: %v", left)
	}
	for patch, want := range map[string]Values{
		`{}`:                            {"containers/app/resizePolicy/restart": "Never"},
		`{"spec": {"hostUsers": true}}`: {"containers/app/resizePolicy/restart": "Never"},
		`{"spec": {"containers": [{"name": "x"}]}}`: {},
	} {
		if diff := cmp.Diff(want, policy.Patched("pods", decode(patch), policy.In("pods", pod))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", patch, diff)
		}
	}
}

func BenchmarkWire(b *testing.B) {
	handlers := []Handler{{Kind: timeline.GRPC, Values: with("grpc.mode", "TLS")}, {Kind: timeline.GRPC}, {Kind: timeline.HTTPGet, Values: with("httpGet.protocol", "HTTP2")}, {Kind: timeline.HTTPGet, Scheme: "HTTPS"}}
	kubelets := []Component{on, off, old}
	n := 0
	for b.Loop() {
		rules.Wire(handlers[n%len(handlers)], kubelets[n%len(kubelets)])
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "predictions/s")
}
