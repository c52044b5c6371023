package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
)

func TestContainersOutliveTheirClient(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	id := g.start(t, pod, containerConfig("app", "obey", "3"))
	before := g.status(t, id)
	if err := g.conn.Close(); err != nil {
		t.Fatal(err)
	}

	g.connect(t)
	after := g.status(t, id)
	if after.String() != before.String() {
		t.Errorf("the new client sees %v, the old one saw %v", after, before)
	}
	if ip := g.ip(t, pod); ip != "127.77.0.2" {
		t.Errorf("address %s after the reconnect", ip)
	}
	g.stopWithin(t, id, 30)
	if got := g.status(t, id); got.ExitCode != 3 {
		t.Errorf("exit code %d, want 3", got.ExitCode)
	}
}

// Not parallel: it counts goroutines.
func TestCloseLeavesNothing(t *testing.T) {
	before := goruntime.NumGoroutine()
	g := newRig(t)
	socket := strings.TrimPrefix(g.Endpoint(), "unix://")
	pod := g.pod(t, "web")
	serving := g.start(t, pod, containerConfig("serve", "serve", "18080"))
	stubborn := g.start(t, pod, containerConfig("ignore", "ignore"))
	eventually(t, "the server listens", func() bool { return slices.Contains(g.logged(t, serving), "stdout F listening") })
	pending := make(chan error, 2)
	go func() {
		_, err := g.StopContainer(context.Background(), &cri.StopContainerRequest{ContainerId: stubborn, Timeout: 600})
		pending <- err
	}()
	go func() {
		_, err := g.ExecSync(context.Background(), &cri.ExecSyncRequest{ContainerId: serving, Cmd: []string{"hang"}})
		pending <- err
	}()
	eventually(t, "the calls are under way", func() bool {
		return slices.Contains(g.logged(t, stubborn), "stdout F got 15") && slices.Contains(g.logged(t, serving), "stdout F hanging")
	})

	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	<-pending
	<-pending
	for _, c := range g.Containers() {
		if c.State != "exited" || c.ExitCode != 137 {
			t.Errorf("container %+v, want it killed", c)
		}
	}
	if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	listener, err := net.Listen("tcp", "127.77.0.2:18080")
	if err != nil {
		t.Errorf("the pod's port is still taken: %v", err)
	} else {
		listener.Close()
	}
	g.conn.Close()
	eventually(t, "no goroutine is left", func() bool { return goruntime.NumGoroutine() <= before })
	if err := g.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

type stuckLibrary struct{ release chan struct{} }

func (l stuckLibrary) Find(string) (*image.Image, error) {
	return &image.Image{Reference: "stuck", Digest: testDigest, Entrypoint: []string{"stuck"}, Run: func(context.Context, *image.Process) int {
		<-l.release
		return 0
	}}, nil
}

func TestCloseNamesAProgramThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	stuck := stuckLibrary{make(chan struct{})}
	config := configOn(filepath.Join(socketDir(t), "cri.sock"))
	config.Library = stuck
	r, err := Start(config)
	if err != nil {
		t.Fatal(err)
	}
	r.patience = 20 * time.Millisecond
	g := &rig{Runtime: r, logs: t.TempDir()}
	g.connect(t)
	g.start(t, g.pod(t, "web"), containerConfig("app"))

	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "still running: default/web/app") {
		t.Errorf("error %v, want one that names the container", err)
	}
	close(stuck.release)
	if !r.wait(deadline) {
		t.Error("a goroutine is left")
	}
}

func TestAClosedRuntimeStartsNothing(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.create(t, g.pod(t, "web"), containerConfig("app", "exit", "0"))
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := runtimeService{Runtime: g.Runtime}.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: id})
	wantCode(t, err, codes.Unavailable, "closing")
}

func TestConcurrentPods(t *testing.T) {
	t.Parallel()
	g := newRigOn(t, "127.77.16.0/20")
	var pods, polls sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 {
		polls.Go(func() { poll(ctx, g) })
	}
	for n := range 24 {
		pods.Go(func() { runOnce(t, g, fmt.Sprint("pod-", n)) })
	}
	pods.Wait()
	cancel()
	polls.Wait()
	if left := g.Containers(); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	if got := g.ip(t, g.pod(t, "after")); got != "127.77.16.2" {
		t.Errorf("address %s after all pods are gone, want the first", got)
	}
}

// poll lists everything until ctx is done, as a kubelet does.
func poll(ctx context.Context, g *rig) {
	for ctx.Err() == nil {
		g.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
		g.ListContainers(ctx, &cri.ListContainersRequest{})
		g.ListPodSandboxStats(ctx, &cri.ListPodSandboxStatsRequest{})
		g.images.ImageFsInfo(ctx, &cri.ImageFsInfoRequest{})
		g.Containers()
	}
}

// runOnce takes a pod through its life. Its sandbox is removed by two calls at
// once while a container is being started.
func runOnce(t *testing.T, g *rig, name string) {
	ctx := t.Context()
	resp, err := g.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: podConfig(g, name)})
	if err != nil {
		t.Error(err)
		return
	}
	spec := &cri.ImageSpec{Image: "test"}
	if _, err := g.images.PullImage(ctx, &cri.PullImageRequest{Image: spec}); err != nil {
		t.Error(err)
	}
	create := func(name string) string {
		c, err := g.CreateContainer(ctx, &cri.CreateContainerRequest{PodSandboxId: resp.PodSandboxId, Config: containerConfig(name, "obey", "0")})
		if err != nil {
			t.Error(err)
		}
		return c.GetContainerId()
	}
	first, second := create("first"), create("second")
	if _, err := g.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: first}); err != nil {
		t.Error(err)
	}
	if _, err := g.ExecSync(ctx, &cri.ExecSyncRequest{ContainerId: first, Cmd: []string{"echo"}}); err != nil {
		t.Error(err)
	}
	var group sync.WaitGroup
	group.Go(func() { g.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: second}) }) // may come too late
	for range 2 {
		group.Go(func() {
			if _, err := g.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: resp.PodSandboxId}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestCallsThatChangeNothingAreNotRecorded(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for range 3 {
		g.ListContainers(t.Context(), &cri.ListContainersRequest{})
	}
	g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: "unknown"})
	g.images.ListImages(t.Context(), &cri.ListImagesRequest{})
	events, err := g.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
	if err == nil {
		_, err = events.Recv()
	}
	wantCode(t, err, codes.Unimplemented, "")
	if n := len(g.history.Events()); n != 0 {
		t.Errorf("%d events were recorded of calls that changed nothing", n)
	}
}

// Every method of the CRI either works or says what is missing.
func TestMissingMethodsSaySo(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	left := map[string]bool{}
	for method := range missing {
		left[method] = true
	}
	check := func(method string, err error) {
		what, isMissing := missing[method]
		delete(left, method)
		if isMissing {
			wantCode(t, err, codes.Unimplemented, method+": skewrig's container runtime has "+what)
		} else if status.Code(err) == codes.Unimplemented {
			t.Errorf("%s is not there, and nothing says why: %v", method, err)
		}
	}
	for _, service := range []struct{ name string }{{"runtime.v1.RuntimeService"}, {"runtime.v1.ImageService"}} {
		info := g.server.GetServiceInfo()[service.name]
		if len(info.Methods) == 0 {
			t.Fatalf("%s is not served", service.name)
		}
		for _, m := range info.Methods {
			path := "/" + service.name + "/" + m.Name
			// An empty message is one of any type.
			if !m.IsServerStream {
				check(m.Name, g.conn.Invoke(t.Context(), path, &cri.VersionRequest{}, &cri.VersionResponse{}))
				continue
			}
			check(m.Name, invokeStream(t, g, path))
		}
	}
	if len(left) > 0 {
		t.Errorf("the CRI has no such methods: %v", left)
	}
}

func invokeStream(t *testing.T, g *rig, path string) error {
	t.Helper()
	stream, err := g.conn.NewStream(t.Context(), &cri.RuntimeService_ServiceDesc.Streams[0], path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.SendMsg(&cri.VersionRequest{}), stream.CloseSend()); err != nil {
		t.Fatal(err)
	}
	return stream.RecvMsg(&cri.VersionResponse{})
}

func TestNode(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	version, err := g.Version(t.Context(), &cri.VersionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if version.Version != "0.1.0" || version.RuntimeName != "skewrig" || version.RuntimeVersion == "" || version.RuntimeApiVersion != "v1" {
		t.Errorf("version %v", version)
	}
	resp, err := g.Status(t.Context(), &cri.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ready := map[string]bool{}
	for _, c := range resp.Status.Conditions {
		ready[c.Type] = c.Status
	}
	if !ready["RuntimeReady"] || !ready["NetworkReady"] || len(resp.RuntimeHandlers) != 1 || resp.RuntimeHandlers[0].Name != "" {
		t.Errorf("status %v", resp)
	}
	config, err := g.RuntimeConfig(t.Context(), &cri.RuntimeConfigRequest{})
	if err != nil || config.Linux.CgroupDriver != cri.CgroupDriver_CGROUPFS {
		t.Errorf("runtime config %v, error %v", config, err)
	}
	_, err = g.UpdateRuntimeConfig(t.Context(), &cri.UpdateRuntimeConfigRequest{
		RuntimeConfig: &cri.RuntimeConfig{NetworkConfig: &cri.NetworkConfig{PodCidr: "10.244.0.0/24"}},
	})
	if err != nil {
		t.Error(err)
	}
	if got := netip.MustParseAddr(g.ip(t, g.pod(t, "web"))); !got.IsLoopback() {
		t.Errorf("a pod got address %s", got)
	}
}

// BenchmarkContainerStart measures what the runtime adds to the start of a
// container: the two calls of a kubelet, through the socket, with a log file.
func BenchmarkContainerStart(b *testing.B) {
	g := newRig(b)
	pod := g.pod(b, "web")
	g.start(b, pod, containerConfig("warm-up", "exit", "0"))
	n := 0
	for b.Loop() {
		config := containerConfig("app", "obey", "0")
		config.Metadata.Attempt = uint32(n)
		config.LogPath = fmt.Sprintf("app/%d.log", n)
		n++
		resp, err := g.CreateContainer(b.Context(), &cri.CreateContainerRequest{PodSandboxId: pod, Config: config})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := g.StartContainer(b.Context(), &cri.StartContainerRequest{ContainerId: resp.ContainerId}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if _, err := g.RemoveContainer(b.Context(), &cri.RemoveContainerRequest{ContainerId: resp.ContainerId}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
