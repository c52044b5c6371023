package images_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubelet/pkg/types"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/fakeservers/container/images"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

const (
	// realTests is the variable that asks for tests with a real container runtime: "required"
	// fails where there is none.
	realTests = "SKEWRIG_REAL_TESTS"
	// patience is how long a test waits for what must come. It only runs out when
	// something is broken.
	patience = 30 * time.Second
	// pauseImage is that of sandboxes.
	pauseImage = "registry.k8s.io/pause:3.10.1"
)

// node is a containerd with the images, and what its containers have recorded.
type node struct {
	t       *testing.T
	dir     string
	runtime cri.RuntimeServiceClient
	history *record.History
	pods    int
}

// needReal skips a test where there is no real container runtime.
func needReal(t *testing.T) (plugins string) {
	t.Helper()
	asked := os.Getenv(realTests)
	if asked == "" {
		t.Skipf("it runs real containers: make real, which sets %s", realTests)
	}
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("it takes root"))
	}
	for _, program := range []string{"containerd", "runc", "ctr"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, err)
		}
	}
	plugins = "/opt/cni/bin"
	if _, err := os.Stat(plugins + "/ptp"); err != nil {
		plugins = "/usr/lib/cni"
	}
	if _, err := os.Stat(plugins + "/ptp"); err != nil {
		missing = append(missing, err)
	}
	switch err := errors.Join(missing...); {
	case err == nil:
	case asked == "required":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return plugins
}

// newNode starts a containerd, and ends it with all that it runs after the test.
func newNode(t *testing.T, set images.Set) *node {
	t.Helper()
	plugins := needReal(t)
	dir, err := os.MkdirTemp("", "skewrig-real-") //nolint:usetesting // of t, it would be too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, dir: dir, history: record.NewHistory(nil)}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	n.configure(plugins)
	n.start()
	n.load(set)
	collector, err := collect.Listen(collect.Config{
		Dir: n.path("record/node"), Recorder: n.history, Path: n.container,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := collector.Close(); err != nil {
			t.Error(err)
		}
		for _, lost := range record.All[record.ObservationLost](n.history.Events()) {
			t.Errorf("not everything was recorded: %s", lost.Reason)
		}
	})
	t.Cleanup(n.removePods)
	return n
}

// container is the path of the container with an id, by the labels that a kubelet gives it.
func (n *node) container(ctx context.Context, id string) (string, error) {
	answer, err := n.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		return "", err
	}
	labels := answer.GetStatus().GetLabels()
	return strings.Join([]string{labels[types.KubernetesPodNamespaceLabel], labels[types.KubernetesPodNameLabel], labels[types.KubernetesContainerNameLabel]}, "/"), nil
}

// cgroup is that of all pods.
func cgroup() string { return "/skewrig-real-" + strconv.Itoa(os.Getpid()) }

func (n *node) path(name string) string { return filepath.Join(n.dir, name) }

func (n *node) configure(plugins string) {
	n.t.Helper()
	for _, dir := range []string{"record", "net.d", "logs"} {
		if err := os.Mkdir(n.path(dir), 0o700); err != nil {
			n.t.Fatal(err)
		}
	}
	spec, err := exec.CommandContext(n.t.Context(), "ctr", "oci", "spec").Output()
	if err != nil {
		n.t.Fatal(err)
	}
	mount := fmt.Sprintf(`"mounts": [{"destination": %q, "type": "bind", "source": %q, "options": ["rbind", "ro", "nosuid", "nodev", "noexec"]},`,
		container.RecordDir, n.path("record/node"))
	golden.Write(n.t, n.path("spec.json"), strings.Replace(string(spec), `"mounts": [`, mount, 1))
	var of unix.Statfs_t
	snapshotter := "overlayfs"
	if unix.Statfs(n.dir, &of) == nil && of.Type == unix.OVERLAYFS_SUPER_MAGIC { // which can't be layers of another one
		snapshotter = "native"
	}
	golden.Write(n.t, n.path("config.toml"), fmt.Sprintf(`version = 2
root = "%[1]s/root"
state = "%[1]s/state"
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "%[1]s/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[2]q
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = %[3]q
  conf_dir = "%[1]s/net.d"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = %[4]q
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  base_runtime_spec = "%[1]s/spec.json"
`, n.dir, pauseImage, plugins, snapshotter))
	golden.Write(n.t, n.path("net.d/10-test.conflist"), fmt.Sprintf(`{"cniVersion": "0.4.0", "name": "skewrig-test", "plugins": [{"type": "ptp", "ipMasq": false,
"ipam": {"type": "host-local", "dataDir": "%s/cni", "ranges": [[{"subnet": "198.18.%d.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}`, n.dir, os.Getpid()%250))
}

// start starts containerd, and waits until its runtime and network are ready.
func (n *node) start() {
	n.t.Helper()
	log, err := os.Create(n.path("containerd.log"))
	if err != nil {
		n.t.Fatal(err)
	}
	cmd := exec.Command("containerd", "--config", n.path("config.toml"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	conn, err := grpc.NewClient("unix://"+n.path("containerd.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		n.t.Fatal(err)
	}
	n.runtime = cri.NewRuntimeServiceClient(conn)
	n.t.Cleanup(func() {
		for _, pattern := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
			left, _ := filepath.Glob(pattern + cgroup())
			for _, dir := range left {
				if err := os.Remove(dir); err != nil {
					n.t.Error(err)
				}
			}
		}
		_ = conn.Close()
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait()
		if text, err := os.ReadFile(n.path("containerd.log")); err == nil && n.t.Failed() {
			n.t.Logf("containerd: %s", text[max(0, len(text)-3000):])
		}
		_ = log.Close()
	})
	n.until("containerd is ready", func() bool {
		answer, err := n.runtime.Status(n.t.Context(), &cri.StatusRequest{})
		for _, c := range answer.GetStatus().GetConditions() {
			if !c.Status {
				return false
			}
		}
		return err == nil
	})
}

// removePods ends every pod, with its processes and mounts.
func (n *node) removePods() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pods, err := n.runtime.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		n.t.Error(err)
	}
	for _, pod := range pods.GetItems() {
		_, stop := n.runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: pod.Id})
		_, remove := n.runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: pod.Id})
		if err := errors.Join(stop, remove); err != nil {
			n.t.Error(err)
		}
	}
}

func (n *node) load(set images.Set) {
	n.t.Helper()
	program, err := new(build.Builder).ContainerProgram(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	set.Program = program.Path
	set.HealthProbes = make(map[release.Version]string)
	for _, v := range set.Library.HealthProbes() {
		probe, err := new(build.Builder).Binary(n.t.Context(), build.Target{Component: build.HealthProbe, Version: v})
		if err != nil {
			n.t.Fatal(err)
		}
		set.HealthProbes[v] = probe.Path
	}
	began := time.Now()
	if err := set.Write(n.path("images.tar")); err != nil {
		n.t.Fatal(err)
	}
	n.t.Logf("%d images were made in %s", len(set.Images), time.Since(began))
	began = time.Now()
	out, err := exec.CommandContext(n.t.Context(), "ctr", "--address", n.path("containerd.sock"), "--namespace", "k8s.io", "images", "import", n.path("images.tar")).CombinedOutput()
	if err != nil {
		n.t.Fatalf("importing the images: %v: %s", err, out)
	}
	n.t.Logf("they were imported in %s", time.Since(began))
}

func (n *node) until(what string, is func() bool) {
	n.t.Helper()
	if !await.Until(n.t.Context(), patience, is) {
		n.t.Fatalf("it never came to be that %s", what)
	}
}

// pod is one with a single container.
type pod struct {
	*node
	name, sandbox, id string
	ip                netip.Addr
	logs              string
}

// run starts a pod in which a container called app runs.
func (n *node) run(name string, config *cri.ContainerConfig) *pod {
	n.t.Helper()
	n.pods++
	ctx := n.t.Context()
	labels := map[string]string{types.KubernetesPodNamespaceLabel: "default", types.KubernetesPodNameLabel: name}
	sandbox := &cri.PodSandboxConfig{
		Metadata: &cri.PodSandboxMetadata{Name: name, Uid: strconv.Itoa(n.pods), Namespace: "default"},
		Hostname: name + "-host", LogDirectory: n.path("logs"), Labels: labels,
		Linux: &cri.LinuxPodSandboxConfig{CgroupParent: cgroup()},
	}
	started, err := n.runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: sandbox})
	if err != nil {
		n.t.Fatal(err)
	}
	p := &pod{node: n, name: name, sandbox: started.PodSandboxId, logs: n.path("logs/" + name)}
	status, err := n.runtime.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: p.sandbox})
	if err != nil {
		n.t.Fatal(err)
	}
	p.ip = netip.MustParseAddr(status.Status.Network.Ip)
	if config.Linux == nil {
		config.Linux = &cri.LinuxContainerConfig{}
	}
	if config.Linux.SecurityContext == nil { // as a kubelet has it
		config.Linux.SecurityContext = &cri.LinuxContainerSecurityContext{NamespaceOptions: &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER}}
	}
	config.Metadata, config.LogPath = &cri.ContainerMetadata{Name: "app"}, name
	config.Labels = map[string]string{types.KubernetesContainerNameLabel: "app"}
	maps.Copy(config.Labels, labels)
	created, err := n.runtime.CreateContainer(ctx, &cri.CreateContainerRequest{PodSandboxId: p.sandbox, Config: config, SandboxConfig: sandbox})
	if err != nil {
		n.t.Fatal(err)
	}
	p.id = created.ContainerId
	if _, err := n.runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: p.id}); err != nil {
		n.t.Fatal(err)
	}
	return p
}

func (p *pod) addr(port uint16) string { return netip.AddrPortFrom(p.ip, port).String() }

// subject is that of the container in a record.
func (p *pod) subject() string { return "default/" + p.name + "/app" }

// listens waits until the container has recorded that it listens.
func (p *pod) listens(port int32) record.Listening {
	p.t.Helper()
	var found record.Listening
	p.until(fmt.Sprintf("%s listens on port %d (%s)", p.subject(), port, p.log()), func() bool {
		for e, listening := range record.All[record.Listening](p.history.Events()) {
			if e.Subject == p.subject() && e.Source == "server/"+p.subject() && listening.Port == port {
				found = listening
			}
		}
		return found.Port != 0
	})
	return found
}

// connection waits until a connection is recorded that the function wants.
func (p *pod) connection(what string, want func(record.Connection) bool) (found record.Connection) {
	p.t.Helper()
	p.until(what, func() bool {
		for e, c := range record.All[record.Connection](p.history.Events()) {
			if e.Subject == p.subject() && want(c) {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

func (p *pod) log() string {
	text, _ := os.ReadFile(p.logs)
	return string(text)
}

// exec runs a command in the container, and returns its exit code and output.
func (p *pod) exec(args ...string) (code int32, output string) {
	p.t.Helper()
	answer, err := p.runtime.ExecSync(p.t.Context(), &cri.ExecSyncRequest{ContainerId: p.id, Cmd: args, Timeout: int64(patience.Seconds())})
	if err != nil {
		p.t.Fatalf("%q: %v", args, err)
	}
	return answer.ExitCode, string(answer.Stdout) + string(answer.Stderr)
}

// stop stops the container as a kubelet does.
func (p *pod) stop(grace time.Duration) {
	p.t.Helper()
	if _, err := p.runtime.StopContainer(p.t.Context(), &cri.StopContainerRequest{ContainerId: p.id, Timeout: int64(grace.Seconds())}); err != nil {
		p.t.Fatal(err)
	}
}

// exited waits until the container has, and returns its exit code.
func (p *pod) exited() int32 {
	p.t.Helper()
	var code int32
	p.until(p.subject()+" has exited", func() bool {
		answer, err := p.runtime.ContainerStatus(p.t.Context(), &cri.ContainerStatusRequest{ContainerId: p.id})
		if err != nil {
			p.t.Fatal(err)
		}
		code = answer.Status.ExitCode
		return answer.Status.State == cri.ContainerState_CONTAINER_EXITED
	})
	return code
}

// of is the configuration of a container of an image.
func of(ref string, args ...string) *cri.ContainerConfig {
	return &cri.ContainerConfig{Image: &cri.ImageSpec{Image: ref}, Args: args}
}

// listener is one of the protocol, which is healthy.
func listener(port int32, protocol behavior.Protocol) behavior.Listener {
	return behavior.Listener{Port: port, Protocol: protocol}
}
