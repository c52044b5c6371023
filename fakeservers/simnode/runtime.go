package simnode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcstatus "google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Labels and annotations by which a node finds its containers again. They are a
// kubelet's.
const (
	podNameKey       = "io.kubernetes.pod.name"
	podNamespaceKey  = "io.kubernetes.pod.namespace"
	podUIDKey        = "io.kubernetes.pod.uid"
	containerNameKey = "io.kubernetes.container.name"
	restartCountKey  = "io.kubernetes.container.restartCount"
	hashKey          = "io.kubernetes.container.hash"
)

const (
	// maxMessageBytes is the limit of a kubelet's client.
	maxMessageBytes = 16 << 20
	// answerWithin is how long is waited for answers of the runtime and the API
	// server to questions that are quickly answered.
	answerWithin = 10 * time.Second
)

// runtime is the container runtime, seen from the node.
type runtime struct {
	conn   *grpc.ClientConn
	tasks  cri.RuntimeServiceClient
	images cri.ImageServiceClient
	name   string

	// containers are those of the last look, by id. Only a look uses them, and
	// there is one at a time.
	containers map[string]*cri.ContainerStatus
}

// connect finds the runtime.
func connect(ctx context.Context, endpoint string) (*runtime, error) {
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)))
	if err != nil {
		return nil, err
	}
	r := &runtime{conn: conn, tasks: cri.NewRuntimeServiceClient(conn), images: cri.NewImageServiceClient(conn)}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	version, err := r.tasks.Version(ctx, &cri.VersionRequest{}, grpc.WaitForReady(true))
	if err != nil {
		_ = conn.Close() // the other error says more
		return nil, fmt.Errorf("asking the container runtime at %s for its version: %w", endpoint, err)
	}
	r.name = version.RuntimeName
	return r, nil
}

// observe looks at what the runtime has of each pod.
func (r *runtime) observe(ctx context.Context) (map[types.UID]observed, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	pods := make(map[types.UID]observed)
	boxes, err := r.tasks.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		return nil, err
	}
	for _, listed := range boxes.Items {
		uid := types.UID(listed.Labels[podUIDKey])
		resp, err := r.tasks.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: listed.Id})
		switch {
		case vanished(err) || uid == "":
			continue
		case err != nil:
			return nil, err
		}
		o := pods[uid]
		o.sandboxes = append(o.sandboxes, resp.Status)
		pods[uid] = o
	}
	if err := r.observeContainers(ctx, pods); err != nil {
		return nil, err
	}
	for _, o := range pods {
		slices.SortFunc(o.sandboxes, func(a, b *cri.PodSandboxStatus) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
		slices.SortFunc(o.containers, func(a, b container) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	}
	return pods, nil
}

// observeContainers adds the containers. It asks only for those whose state has
// changed: what else is told of them stays the same.
func (r *runtime) observeContainers(ctx context.Context, pods map[types.UID]observed) error {
	listed, err := r.tasks.ListContainers(ctx, &cri.ListContainersRequest{})
	if err != nil {
		return err
	}
	layers, err := r.layers(ctx)
	if err != nil {
		return err
	}
	seen := make(map[string]*cri.ContainerStatus)
	for _, c := range listed.Containers {
		uid, s := types.UID(c.Labels[podUIDKey]), r.containers[c.Id]
		if s == nil || s.State != c.State {
			resp, err := r.tasks.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: c.Id})
			if vanished(err) {
				continue
			}
			if err != nil {
				return err
			}
			s = resp.Status
		}
		seen[c.Id] = s
		if o, known := pods[uid]; known {
			o.containers = append(o.containers, container{s, c.PodSandboxId, layers[c.Id]})
			pods[uid] = o
		}
	}
	r.containers = seen
	return nil
}

// layers returns how many bytes of files each container has made that runs.
func (r *runtime) layers(ctx context.Context) (map[string]uint64, error) {
	resp, err := r.tasks.ListContainerStats(ctx, &cri.ListContainerStatsRequest{})
	if err != nil {
		return nil, err
	}
	layers := make(map[string]uint64)
	for _, s := range resp.Stats {
		layers[s.GetAttributes().GetId()] = s.GetWritableLayer().GetUsedBytes().GetValue()
	}
	return layers, nil
}

// vanished reports whether something was removed after it was listed.
func vanished(err error) bool { return grpcstatus.Code(err) == codes.NotFound }
