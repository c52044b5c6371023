package containerd_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

const (
	pause  = "registry.k8s.io/pause:3.10"
	server = "registry.test/server:1"
)

// images writes an archive with the images of a test.
func images(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "server")
	compile := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./testdata/server")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	err = w.WriteHeader(&tar.Header{Name: "server", Mode: 0o755, Size: int64(len(text))})
	_, writeErr := w.Write(text)
	for _, link := range []string{"pause", "true"} {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: "server"}))
	}
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[name.Reference]v1.Image)
	for ref, command := range map[string]string{pause: "/pause", server: "/server"} {
		image, err := mutate.AppendLayers(empty.Image, layer)
		if err == nil {
			image, err = mutate.ConfigFile(image, &v1.ConfigFile{Architecture: "amd64", OS: "linux", RootFS: must(image.ConfigFile()).RootFS, Config: v1.Config{Entrypoint: []string{command}}})
		}
		tag, tagErr := name.NewTag(ref)
		if err := errors.Join(err, tagErr); err != nil {
			t.Fatal(err)
		}
		all[tag] = image
	}
	archive := filepath.Join(dir, "images.tar")
	if err := tarball.MultiRefWriteToFile(archive, all); err != nil {
		t.Fatal(err)
	}
	return archive
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// rig starts a rig whose nodes have real containers, or skips the test where none can be.
func rig(t *testing.T, nodes ...record.Node) (*cluster.Cluster, *record.History) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds components")
	}
	found := containerd.LookUp(os.TempDir())
	if err := found.Check(); err != nil {
		t.Skip(err)
	}
	archive, history := images(t), record.NewHistory(io.Discard)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	c, err := cluster.New(ctx, cluster.Config{
		Topology: record.Topology{Version: release.Newest, ControllerManager: true, Scheduler: true, Nodes: nodes},
		Binary:   new(build.Builder).Binary,
		Runtime: func(info cluster.NodeInfo) (cluster.Runtime, error) {
			return containerd.Start(ctx, containerd.Config{
				Name: info.Name, Dir: info.Dir, Socket: info.Socket, Recorder: history, Output: info.Output, Cgroup: info.Cgroup, Pods: info.Pods, BootID: info.BootID, Log: info.Log,
				Image: func(context.Context, string) (string, error) { return archive, nil }, Sandbox: pause, Found: found,
			})
		},
		LogDir: logs(t), Purpose: "test", Recorder: history,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dir := filepath.Dir(filepath.Dir(c.Kubeconfig()))
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		nothingIsLeft(t, dir)
	})
	return c, history
}

// logs is a directory for the logs of a test, which stays if it fails.
func logs(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "containerd-test-logs-") //nolint:usetesting // it may stay
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// nothingIsLeft fails a test if this machine has anything of a rig.
func nothingIsLeft(t *testing.T, dir string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), dir) {
		t.Errorf("mounts of %s are left", dir)
	}
	if left, err := filepath.Glob("/sys/fs/cgroup/*/" + filepath.Base(dir)); err != nil || len(left) > 0 {
		t.Errorf("cgroups are left: %v, %v", left, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left", dir)
	}
}

// pod is a pod of a node that runs the server, with a probe of it.
func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "server", Image: server, ImagePullPolicy: corev1.PullIfNotPresent,
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}}},
			LivenessProbe:  &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/true"}}}},
		}}},
	}
}

// run creates a pod, and returns it once it is ready.
func run(t *testing.T, c *cluster.Cluster, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	pods := c.Client().CoreV1().Pods("default")
	if _, err := pods.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return await(t, c, p.Name, ready)
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// await returns a pod once it is as it should be.
func await(t *testing.T, c *cluster.Cluster, pod string, is func(*corev1.Pod) bool) (last *corev1.Pod) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w, err := c.Client().CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", pod).String()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = watchtools.UntilWithoutRetry(ctx, w, func(e watch.Event) (bool, error) {
		last, _ = e.Object.(*corev1.Pod)
		return last != nil && is(last), nil
	})
	if err != nil {
		t.Fatalf("pod %s: %v; it is %+v", pod, err, last)
	}
	return last
}

// TestTwoReleases: pods of two kubelets of different releases answer probes over the network and
// by commands.
func TestTwoReleases(t *testing.T) {
	c, _ := rig(t, record.Node{Name: "a", Version: release.Newest, Runtime: record.Containerd}, record.Node{Name: "b", Version: release.Previous, Runtime: record.Containerd})
	for _, node := range []string{"a", "b"} {
		p := run(t, c, pod("pod-"+node, node))
		if !strings.HasPrefix(p.Status.PodIP, "240.") || !strings.HasPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://") {
			t.Errorf("%s has address %s and container %s", p.Name, p.Status.PodIP, p.Status.ContainerStatuses[0].ContainerID)
		}
	}
}

// TestPrivileged: a privileged pod runs, also where this machine lacks a capability.
func TestPrivileged(t *testing.T) {
	c, _ := rig(t, record.Node{Name: "a", Version: release.Newest, Runtime: record.Containerd})
	p := pod("privileged", "a")
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	run(t, c, p)
}

// TestARecord: what happens to containers is in the record, as of simulated nodes.
func TestARecord(t *testing.T) {
	c, history := rig(t, record.Node{Name: "a", Version: release.Newest, Runtime: record.Containerd})
	p := run(t, c, pod("web", "a"))
	id := strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
	grace := int64(20)
	if err := c.Client().CoreV1().Pods("default").Delete(t.Context(), "web", metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stopped := func(events []record.Event) bool {
		for range record.All[record.SandboxStopped](events) {
			return true
		}
		return false
	}
	if err := history.Wait(ctx, stopped); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range history.Events() {
		if e.Source == "runtime/a" {
			got = append(got, e.Subject+": "+said(e))
		}
	}
	exec := "default/web/server: Exec [/true] 0"
	if n := len(got); !slices.Contains(got, exec) {
		t.Errorf("of %d events, none is of a probe", n)
	}
	got = slices.DeleteFunc(got, func(s string) bool { return s == exec })
	want := []string{
		"default/web: SandboxStarted " + p.Status.PodIP,
		"default/web: ImagePulled " + server,
		"default/web/server: ContainerCreated " + id,
		"default/web/server: ContainerStarted " + id + " [/server]",
		"default/web/server: ContainerExited " + id + " 0 Completed SIGTERM",
		"default/web: sandbox.stopped",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	output, err := os.ReadFile(filepath.Join(c.LogDir(), cluster.OutputDir, "default_web", "server", "0.log"))
	if err != nil || !strings.Contains(string(output), "listening") {
		t.Errorf("the output is %q, %v", output, err)
	}
}

// said is what an event of a container runtime says that is the same each time.
func said(e record.Event) string {
	if of, is := record.As[record.SandboxStarted](e); is {
		return "SandboxStarted " + of.IP
	}
	if of, is := record.As[record.ImagePulled](e); is {
		return "ImagePulled " + of.Ref
	}
	if of, is := record.As[record.ContainerCreated](e); is {
		return "ContainerCreated " + of.ID
	}
	if of, is := record.As[record.ContainerStarted](e); is {
		return fmt.Sprint("ContainerStarted ", of.ID, " ", of.Args)
	}
	if of, is := record.As[record.ContainerExited](e); is && of.RanForSeconds > 0 {
		return fmt.Sprint("ContainerExited ", of.ID, " ", of.ExitCode, " ", of.Reason, " ", of.Signal)
	}
	if of, is := record.As[record.Exec](e); is {
		return fmt.Sprint("Exec ", of.Args, " ", of.ExitCode)
	}
	return e.Kind
}

// TestSteps: a container lives on while its kubelet is restarted as another release, stopped and
// killed, and while containerd is dead. A reboot ends it.
func TestSteps(t *testing.T) {
	c, history := rig(t, record.Node{Name: "a", Version: release.Previous, Runtime: record.Containerd})
	before := run(t, c, pod("web", "a"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	const kubelet = "kubelet/a"
	steps := []struct {
		what string
		do   func() error
	}{
		{"upgraded", func() error { return c.Restart(ctx, kubelet, cluster.Change{Version: release.Newest}) }},
		{"with a gate", func() error {
			return c.Restart(ctx, kubelet, cluster.Change{Gates: release.Gates{"GRPCContainerProbeTLS": true}})
		}},
		{"rolled back", func() error {
			return c.Restart(ctx, kubelet, cluster.Change{Version: release.Previous, Unset: []string{"GRPCContainerProbeTLS"}})
		}},
		{"stopped", func() error { return errors.Join(c.Stop(ctx, kubelet), c.Start(ctx, kubelet, cluster.Change{})) }},
		{"killed", func() error { return errors.Join(c.Kill(kubelet), c.Start(ctx, kubelet, cluster.Change{})) }},
		{"without containerd", func() error {
			node, _ := c.Runtime("a").(*containerd.Node)
			return errors.Join(node.SetFault(ctx, record.LinkFault{Cut: record.CutReset}), c.Kill(kubelet), node.SetFault(ctx, record.LinkFault{}), c.Start(ctx, kubelet, cluster.Change{}))
		}},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		after := await(t, c, "web", ready)
		if a, b := after.Status.ContainerStatuses[0], before.Status.ContainerStatuses[0]; a.ContainerID != b.ContainerID || a.RestartCount != 0 {
			t.Errorf("%s, the container is another one: %+v, %+v", step.what, a, b)
		}
	}
	exits := func(events []record.Event) (n int) {
		for range record.All[record.ContainerExited](events) {
			n++
		}
		return n
	}
	if n := exits(history.Events()); n != 0 {
		t.Errorf("%d containers ended", n)
	}
	if err := c.Reboot(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	await(t, c, "web", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	if n := exits(history.Events()); n != 1 {
		t.Errorf("after a reboot, %d containers ended", n)
	}
}
