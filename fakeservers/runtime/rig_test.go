package runtime

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

// deadline bounds every wait for a condition that is sure to come.
const deadline = 10 * time.Second

// rig is a runtime and a client of it, as a kubelet would be.
type rig struct {
	*Runtime
	cri.RuntimeServiceClient
	images  cri.ImageServiceClient
	history *record.History
	logs    string
	kept    string
	conn    *grpc.ClientConn
}

func newRig(t testing.TB) *rig { return newRigOn(t, "127.77.0.0/16") }

func newRigOn(t testing.TB, cidr string) *rig {
	t.Helper()
	g := &rig{history: record.NewHistory(nil), logs: t.TempDir(), kept: filepath.Join(t.TempDir(), "kept")}
	node := t.TempDir()
	if err := os.Mkdir(filepath.Join(node, "host"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := Start(Config{
		Volumes:  filepath.Join(node, "state"),
		HostRoot: filepath.Join(node, "host"),
		Socket:   filepath.Join(socketDir(t), "cri.sock"),
		Node:     "node-a",
		PodCIDR:  netip.MustParsePrefix(cidr),
		Library:  library{},
		Recorder: g.history,
		Kept:     g.kept,
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Runtime = r
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := g.history.Err(); err != nil {
			t.Error(err)
		}
	})
	g.connect(t)
	return g
}

// connect makes a new client, with the limits of a kubelet's.
func (g *rig) connect(t testing.TB) {
	t.Helper()
	conn, err := grpc.NewClient(g.Endpoint(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	g.conn, g.RuntimeServiceClient, g.images = conn, cri.NewRuntimeServiceClient(conn), cri.NewImageServiceClient(conn)
}

// socketDir returns a directory whose path is short enough for a socket, which
// that of t.TempDir may not be.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func podConfig(g *rig, name string) *cri.PodSandboxConfig {
	return &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: name, Namespace: "default", Uid: "uid-" + name},
		Hostname:     name,
		LogDirectory: filepath.Join(g.logs, name),
		Labels:       map[string]string{"io.kubernetes.pod.uid": "uid-" + name},
		Annotations:  map[string]string{"note": "for " + name},
	}
}

func containerConfig(name string, args ...string) *cri.ContainerConfig {
	return &cri.ContainerConfig{
		Metadata:    &cri.ContainerMetadata{Name: name},
		Image:       &cri.ImageSpec{Image: "test"},
		Args:        args,
		LogPath:     filepath.Join(name, "0.log"),
		Labels:      map[string]string{"io.kubernetes.container.name": name},
		Annotations: map[string]string{"note": "for " + name},
	}
}

// pod runs a sandbox and returns its id.
func (g *rig) pod(t testing.TB, name string) string {
	t.Helper()
	return g.runPod(t, podConfig(g, name))
}

func (g *rig) runPod(t testing.TB, config *cri.PodSandboxConfig) string {
	t.Helper()
	resp, err := g.RunPodSandbox(t.Context(), &cri.RunPodSandboxRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return resp.PodSandboxId
}

// create pulls the image and creates a container, and returns its id.
func (g *rig) create(t testing.TB, pod string, config *cri.ContainerConfig) string {
	t.Helper()
	if _, err := g.images.PullImage(t.Context(), &cri.PullImageRequest{Image: config.Image}); err != nil {
		t.Fatal(err)
	}
	resp, err := g.CreateContainer(t.Context(), &cri.CreateContainerRequest{PodSandboxId: pod, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return resp.ContainerId
}

// start creates a container that runs a test program, starts it and returns
// its id.
func (g *rig) start(t testing.TB, pod string, config *cri.ContainerConfig) string {
	t.Helper()
	id := g.create(t, pod, config)
	if _, err := g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
	return id
}

func (g *rig) stopWithin(t testing.TB, id string, seconds int64) {
	t.Helper()
	if _, err := g.StopContainer(t.Context(), &cri.StopContainerRequest{ContainerId: id, Timeout: seconds}); err != nil {
		t.Fatal(err)
	}
}

func (g *rig) status(t testing.TB, id string) *cri.ContainerStatus {
	t.Helper()
	resp, err := g.ContainerStatus(t.Context(), &cri.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status
}

// exited waits until the container has exited and returns its status.
func (g *rig) exited(t testing.TB, id string) *cri.ContainerStatus {
	t.Helper()
	eventually(t, "the container exits", func() bool {
		return g.status(t, id).State == cri.ContainerState_CONTAINER_EXITED
	})
	return g.status(t, id)
}

// ip returns the address of a pod that the kubelet gets.
func (g *rig) ip(t testing.TB, pod string) string {
	t.Helper()
	resp, err := g.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: pod})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status.Network.Ip
}

// logged returns the container's log, each entry without its time.
func (g *rig) logged(t testing.TB, id string) []string {
	t.Helper()
	return readLog(t, g.status(t, id).LogPath)
}

func readLog(t testing.TB, path string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for line := range strings.Lines(string(content)) {
		at, entry, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
			t.Errorf("log entry %q: %v", line, err)
		}
		entries = append(entries, entry)
	}
	return entries
}

// eventually waits for a condition that becomes true on its own.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	if !await.Until(t.Context(), deadline, done) {
		t.Fatalf("waited %s in vain until %s", deadline, what)
	}
}

func wantCode(t testing.TB, err error, want codes.Code, contains string) {
	t.Helper()
	if status.Code(err) != want || !strings.Contains(fmt.Sprint(err), contains) {
		t.Errorf("error %v, want code %s and %q", err, want, contains)
	}
}

// library knows, under any tag, the image "test", whose programs are in
// programs_test.go; "other", which has the same content; and "bare", which does
// not say what to run.
type library struct{}

func (library) Find(ref string) (*image.Image, error) {
	name, tag, tagged := strings.Cut(strings.TrimPrefix(ref, "registry.test/"), ":")
	if !tagged {
		tag = "latest"
	}
	switch name {
	case "test", "other":
	case "bare":
		return &image.Image{Reference: "registry.test/bare:" + tag, Digest: bareDigest, Run: runTestProgram}, nil
	case "broken":
		return nil, errors.New("the registry is on fire")
	default:
		return nil, fmt.Errorf("%w: %s; there is test", image.ErrUnknown, ref)
	}
	return &image.Image{
		Reference:  "registry.test/" + name + ":" + tag,
		Digest:     testDigest,
		SizeBytes:  1000,
		Entrypoint: []string{"program"},
		Cmd:        []string{"obey", "0"},
		Run:        runTestProgram,
		Exec:       runTestCommand,
	}, nil
}

var (
	testDigest = "sha256:" + strings.Repeat("0a", 32)
	bareDigest = "sha256:" + strings.Repeat("0b", 32)
)

func mustFind(t *testing.T, ref string) *image.Image {
	t.Helper()
	img, err := library{}.Find(ref)
	if err != nil {
		t.Fatal(err)
	}
	return img
}
