package engine

import (
	"slices"
	"testing"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// TestRuntimeMethods: the methods that scenarios can name are those of the API.
func TestRuntimeMethods(t *testing.T) {
	t.Parallel()
	var names []string
	for _, service := range []grpc.ServiceDesc{cri.RuntimeService_ServiceDesc, cri.ImageService_ServiceDesc} {
		for _, m := range service.Methods {
			names = append(names, m.MethodName)
		}
		for _, s := range service.Streams {
			names = append(names, s.StreamName)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, spec.RuntimeMethods) {
		t.Errorf("scenarios can name %q, and a container runtime has %q", spec.RuntimeMethods, names)
	}
}
