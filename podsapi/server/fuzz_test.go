package server

import (
	"bytes"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/podsapi/internal/samples"
	"github.com/skewrig/skewrig/podsapi/mask"
)

// Whatever a client sends, the answer is a pod or one of three codes.
func FuzzGetPod(f *testing.F) {
	known, err := proto.Marshal(&pods.GetPodRequest{PodUID: string(uidOf(1))})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(known, "")
	f.Add(known, "metadata.name,status.phase")
	f.Add(known, "metadata.nam")
	f.Add([]byte{}, "*")
	f.Add([]byte{0x0a, 0xff}, "spec")
	f.Add([]byte("\x0a\x03abc"), "spec.containers.name")
	s := &service{Server: &Server{store: newStore(), clients: newClients(nil)}}
	s.SetReady(true)
	if err := s.Set(samples.Pod(1)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte, fields string) {
		var request pods.GetPodRequest
		if proto.Unmarshal(raw, &request) != nil {
			return // gRPC answers that itself.
		}
		ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs(mask.MetadataKey, fields))
		answer, err := s.GetPod(ctx, &request)
		switch code := status.Code(err); code {
		case codes.OK:
			if err := new(corev1.Pod).Unmarshal(answer.Pod); err != nil {
				t.Errorf("the pod under the mask %q: %v", fields, err)
			}
		case codes.NotFound, codes.InvalidArgument:
			if len(err.Error()) > 16<<10 || bytes.IndexByte([]byte(err.Error()), 0) >= 0 {
				t.Errorf("an answer of %d bytes: %v", len(err.Error()), err)
			}
		default:
			t.Errorf("code %s: %v", code, err)
		}
	})
}
