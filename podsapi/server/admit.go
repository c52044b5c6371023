package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// admit returns why a call isn't taken, if so.
func (s *Server) admit() error {
	if s.limiter.Allow() {
		return nil
	}
	return status.Errorf(codes.ResourceExhausted,
		"there are more than %v calls a second to this node's Pods API, and more than %d at once: call less often, or watch",
		s.limiter.Limit(), s.limiter.Burst())
}

// admitCall answers a call with one answer, unless there are too many.
func (s *Server) admitCall(ctx context.Context, in any, _ *grpc.UnaryServerInfo, answer grpc.UnaryHandler) (any, error) {
	if err := s.admit(); err != nil {
		return nil, err
	}
	if err := s.delay(ctx); err != nil {
		return nil, err
	}
	return answer(ctx, in)
}

// admitStream opens a stream, unless there are too many calls.
func (s *Server) admitStream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, answer grpc.StreamHandler) error {
	if err := s.admit(); err != nil {
		return err
	}
	return answer(service, stream)
}

// unknown answers calls of methods that don't exist. They count against the limit.
func (s *Server) unknown(_ any, stream grpc.ServerStream) error {
	if s.config.Disabled {
		return status.Error(codes.Unimplemented, "the Pods API is turned off on this node")
	}
	method, _ := grpc.MethodFromServerStream(stream)
	return status.Errorf(codes.Unimplemented, "there is no method %s: there are %s, %s and %s",
		brief(method), pods.Pods_ListPods_FullMethodName, pods.Pods_GetPod_FullMethodName, pods.Pods_WatchPods_FullMethodName)
}
