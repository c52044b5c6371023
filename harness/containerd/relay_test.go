package containerd

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

// instant is a container runtime that has started a container as soon as it is asked to.
type instant struct {
	cri.UnimplementedRuntimeServiceServer
	cri.UnimplementedImageServiceServer
	ended atomic.Bool
}

func (*instant) CreateContainer(context.Context, *cri.CreateContainerRequest) (*cri.CreateContainerResponse, error) {
	return &cri.CreateContainerResponse{ContainerId: "abc"}, nil
}

func (*instant) StartContainer(context.Context, *cri.StartContainerRequest) (*cri.StartContainerResponse, error) {
	return &cri.StartContainerResponse{}, nil
}

func (i *instant) ContainerStatus(context.Context, *cri.ContainerStatusRequest) (*cri.ContainerStatusResponse, error) {
	state := cri.ContainerState_CONTAINER_RUNNING
	if i.ended.Load() {
		state = cri.ContainerState_CONTAINER_EXITED
	}
	return &cri.ContainerStatusResponse{Status: &cri.ContainerStatus{Id: "abc", State: state}}, nil
}

func (*instant) ImageStatus(context.Context, *cri.ImageStatusRequest) (*cri.ImageStatusResponse, error) {
	return &cri.ImageStatusResponse{Image: &cri.Image{Id: "sha256:1"}}, nil
}

// serveAt serves with a gRPC server at a socket until the test ends.
func serveAt(t *testing.T, socket string, with *instant) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	cri.RegisterRuntimeServiceServer(server, with)
	cri.RegisterImageServiceServer(server, with)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
}

// relayed is a relay before a container runtime, and a connection to it.
func relayed(t *testing.T, with *instant, up func(ctx context.Context, id, reference string)) (*relay, *grpc.ClientConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	behind, before := filepath.Join(dir, "behind"), filepath.Join(dir, "before")
	serveAt(t, behind, with)
	dial := func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", behind) }
	r, err := newRelay(RelayConfig{Name: "a", Socket: before, Dial: dial, Up: up, Recorder: record.NewHistory(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
	conn, err := grpc.NewClient("unix://"+before, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return r, conn
}

// TestAStartIsAnsweredWhenTheProgramHasComeUp, or has ended.
func TestAStartIsAnsweredWhenTheProgramHasComeUp(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(r *relay, i *instant, comesUp func()){
		"it comes up": func(_ *relay, _ *instant, comesUp func()) { comesUp() },
		"it ends":     func(r *relay, i *instant, _ func()) { i.ended.Store(true); r.exited("abc") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			up, comesUp := context.WithCancel(t.Context())
			asked, waited := make(chan string, 1), make(chan error, 1)
			with := new(instant)
			r, conn := relayed(t, with, func(ctx context.Context, id, reference string) {
				asked <- id + " of " + reference
				select {
				case <-up.Done():
				case <-ctx.Done():
				}
				waited <- ctx.Err()
			})
			const reference = "registry.test/web:1"
			runtime := cri.NewRuntimeServiceClient(conn)
			pulled, err := cri.NewImageServiceClient(conn).PullImage(ctx, &cri.PullImageRequest{Image: &cri.ImageSpec{Image: reference}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := runtime.CreateContainer(ctx, &cri.CreateContainerRequest{Config: &cri.ContainerConfig{
				Metadata: &cri.ContainerMetadata{Name: "app"}, Image: &cri.ImageSpec{Image: pulled.GetImageRef(), UserSpecifiedImage: "web:1"},
			}}); err != nil {
				t.Fatal(err)
			}
			answered := make(chan error, 1)
			go func() {
				_, err := runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: "abc"})
				answered <- err
			}()
			select {
			case got := <-asked:
				if want := "abc of " + reference; got != want {
					t.Errorf("it waits for %s, want %s", got, want)
				}
			case err := <-answered:
				t.Fatalf("the start does not wait for the program; the answer is %v", err)
			}
			happens(r, with, comesUp)
			if err := <-waited; errors.Is(err, context.DeadlineExceeded) {
				t.Error("it has waited for as long as it may")
			}
			if err := <-answered; err != nil {
				t.Error(err)
			}
		})
	}
}
