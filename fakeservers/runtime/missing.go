package runtime

import (
	"context"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// missing lists the CRI methods that the runtime does not have, each with what
// a client misses by it. What a kubelet does about it, as read in
// k8s.io/kubernetes/pkg/kubelet of v1.34 to v1.37, stands beside it.
var missing = map[string]string{
	// The checkpoint endpoints of the kubelet report the error.
	"CheckpointContainer": "no way to save a running program",
	"CheckpointPod":       "no way to save running programs",
	"RestorePod":          "no way to restore running programs",

	// The evented PLEG gives up after five tries and leaves it to the generic
	// one.
	"GetContainerEvents": "no event stream; containers are listed instead",

	// Read only with the gate PodAndContainerStatsFromCRI on, for
	// /metrics/cadvisor.
	"ListMetricDescriptors":   "no metrics of programs",
	"ListPodSandboxMetrics":   "no metrics of programs",
	"StreamPodSandboxMetrics": "no metrics of programs",

	// The kubelet falls back to the list calls.
	"StreamPodSandboxes":    "no streamed lists; ListPodSandbox works",
	"StreamContainers":      "no streamed lists; ListContainers works",
	"StreamContainerStats":  "no streamed lists; ListContainerStats works",
	"StreamPodSandboxStats": "no streamed lists; ListPodSandboxStats works",
	"StreamImages":          "no streamed lists; ListImages works",
}

// explained replaces the error of a method that is not there by one that says
// what is missing.
func explained(fullMethod string, err error) error {
	method := path.Base(fullMethod)
	if what, ok := missing[method]; ok && status.Code(err) == codes.Unimplemented {
		return status.Errorf(codes.Unimplemented, "%s: skewrig's container runtime has %s", method, what)
	}
	return err
}

func explainCall(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	return resp, explained(info.FullMethod, err)
}

func explainStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return explained(info.FullMethod, handler(srv, stream))
}
