package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/podsapi/mask"
)

// maxProblems is how many problems of a mask an answer names: it goes into a
// header, and clients limit theirs.
const maxProblems = 20

// requested returns the mask that a call was made with. The error is that of the
// call.
func requested(ctx context.Context) (masking, error) {
	text := strings.Join(metadata.ValueFromIncomingContext(ctx, mask.MetadataKey), ",")
	keep, err := mask.Parse(text)
	if err == nil {
		return newMasking(keep), nil
	}
	why := err.Error()
	if problems := (mask.Problems)(nil); errors.As(err, &problems) {
		why = problems.Brief(maxProblems)
	}
	return masking{}, status.Errorf(codes.InvalidArgument, "the field mask in the metadata %q: %s", mask.MetadataKey, why)
}

// service answers the calls.
type service struct {
	pods.UnimplementedPodsServer
	*Server
}

// GetPod returns the pod with a UID.
func (s *service) GetPod(ctx context.Context, in *pods.GetPodRequest) (*pods.GetPodResponse, error) {
	by, err := requested(ctx)
	if err != nil {
		return nil, err
	}
	uid := in.GetPodUID()
	if uid == "" {
		return nil, status.Error(codes.InvalidArgument, `the podUID is "": set it to the UID of a pod, its metadata.uid`)
	}
	found, err := s.store.get(types.UID(uid))
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, status.Errorf(codes.NotFound, "there is no pod with the UID %s on this node", brief(uid))
	}
	state, err := found.under(by)
	if err != nil {
		return nil, err
	}
	return &pods.GetPodResponse{Pod: state.masked}, nil
}

// brief returns a UID for an error, quoted, and cut if it is long.
func brief(uid string) string {
	const most = 80 // UIDs have 36 bytes.
	if len(uid) <= most {
		return fmt.Sprintf("%q", uid)
	}
	return fmt.Sprintf("%q… (%d bytes)", uid[:most], len(uid))
}

// ListPods returns all pods, in the order of their UIDs.
func (s *service) ListPods(ctx context.Context, _ *pods.ListPodsRequest) (*pods.ListPodsResponse, error) {
	by, err := requested(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.store.list()
	if err != nil {
		return nil, err
	}
	masked, given := make([][]byte, len(all)), view{by: by, sent: make(map[types.UID]uint64, len(all))}
	for i, p := range all {
		state, err := p.under(by)
		if err != nil {
			return nil, err
		}
		masked[i], given.sent[p.uid] = state.masked, state.hash
	}
	list := &pods.ListPodsResponse{Pods: masked}
	clientOf(ctx).listed(given, proto.Size(list))
	return list, nil
}

// WatchPods sends all pods, and then each change.
func (s *service) WatchPods(_ *pods.WatchPodsRequest, stream grpc.ServerStreamingServer[pods.WatchPodsEvent]) error {
	ctx := stream.Context()
	by, err := requested(ctx)
	if err != nil {
		return err
	}
	w, err := s.store.watch(by)
	if err != nil {
		return err
	}
	from := clientOf(ctx)
	from.watches(w)
	defer func() { from.left(w, s.store.leave(w)) }()
	s.clients.opened(ctx)
	for sent := 0; ; sent++ {
		event, err := s.wait(ctx, w, sent)
		if err != nil {
			return err
		}
		if err := stream.Send(event); err != nil {
			return err
		}
		from.wasSent()
	}
}

// wait waits for the next event of a watch. The error is the end of the watch.
func (s *service) wait(ctx context.Context, w *watcher, sent int) (*pods.WatchPodsEvent, error) {
	for {
		if err := s.disturb.Load().breaks(sent); err != nil {
			return nil, err
		}
		if err := s.delay(ctx); err != nil {
			return nil, err
		}
		event, err := s.store.next(w)
		if event != nil || err != nil {
			return event, err
		}
		select {
		case <-w.woken:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
}
