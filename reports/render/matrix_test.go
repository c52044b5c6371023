package render_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

func TestMatrix(t *testing.T) {
	t.Parallel()
	seen := func(apiserver, kubelet, probe, wire string, succeeds bool) reports.Observation {
		return reports.Observation{Probe: probe, Server: "grpc-tls", APIServer: apiserver, Kubelet: kubelet, Wire: wire, Succeeds: succeeds}
	}
	report := reports.Report{Cells: []reports.Cell{
		{Observed: []reports.Observation{
			seen("v2 gate on", "v2 gate on", "grpc mode=TLS", "tls-client-hello", true),
			seen("v2 gate on", "v1", "grpc mode=TLS", "http2-preface", false),
		}},
		{Observed: []reports.Observation{
			seen("v2 gate on", "v1", "grpc mode=TLS", "http2-preface", false),
			seen("v2 gate on", "v1", "grpc mode=a|b", "other", false),
			seen("v2 gate on", "v2 gate on", "httpGet", "http1-request", true),
			seen("v2 gate on", "v2 gate on", "httpGet", "http2-preface", true),
		}},
	}}
	for name, tc := range map[string]struct {
		write func(io.Writer, reports.Report) error
		want  string
	}{
		"terminal": {render.Matrix, `grpc

API SERVER  KUBELET     grpc mode=TLS to grpc-tls  grpc mode=a|b to grpc-tls
v2 gate on  v1          HTTP/2 fails               other fails
v2 gate on  v2 gate on  TLS ok                     -

httpGet

API SERVER  KUBELET     httpGet to grpc-tls
v2 gate on  v2 gate on  HTTP/1.1 ok, HTTP/2 ok

`},
		"Markdown": {render.MatrixMarkdown, `# Bytes of probes

## grpc

| API server | kubelet | grpc mode=TLS to grpc-tls | grpc mode=a&#124;b to grpc-tls |
| --- | --- | --- | --- |
| v2 gate on | v1 | HTTP/2 fails | other fails |
| v2 gate on | v2 gate on | TLS ok | - |

## httpGet

| API server | kubelet | httpGet to grpc-tls |
| --- | --- | --- |
| v2 gate on | v2 gate on | HTTP/1.1 ok, HTTP/2 ok |

`},
	} {
		var got bytes.Buffer
		if err := tc.write(&got, report); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got.String()); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
	}
}
