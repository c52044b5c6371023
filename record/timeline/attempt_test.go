package timeline

import (
	"testing"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

func TestGood(t *testing.T) {
	service, grpc := "", map[string][]string{"Content-Type": {"application/grpc"}}
	for _, tc := range []struct {
		name string
		of   record.Request
		want bool
	}{
		{"HTTP 200", record.Request{Status: 200}, true},
		{"a redirect", record.Request{Status: 302}, true},
		{"HTTP 500", record.Request{Status: 500}, false},
		{"no answer", record.Request{}, false},
		{"gRPC, serving", record.Request{Service: &service, Status: 200, GRPCStatus: "OK", Health: behavior.Serving, Headers: grpc}, true},
		{"gRPC, not serving", record.Request{Service: &service, Status: 200, GRPCStatus: "OK", Health: behavior.NotServing, Headers: grpc}, false},
		{"a call of gRPC that a server of HTTP answers", record.Request{Status: 200, Headers: grpc}, false},
	} {
		if got := Good(tc.of); got != tc.want {
			t.Errorf("%s: good is %v", tc.name, got)
		}
	}
}
