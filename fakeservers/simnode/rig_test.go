package simnode

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/skewrig/skewrig/fakeservers/image"
	fakeruntime "github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/harness/await"
)

// patience bounds every wait for what is sure to come.
const patience = 60 * time.Second

// shown is a Pods that remembers what it was told.
type shown struct {
	// dawdle is how long it takes to show something. Who does not wait for it is
	// found out.
	dawdle time.Duration

	mu    sync.Mutex
	ready bool
	pods  map[types.UID]*corev1.Pod
	all   []*corev1.Pod // every version of every pod
	first []*corev1.Pod // those that were there when it was ready
}

func (s *shown) Set(pods ...*corev1.Pod) {
	<-time.After(s.dawdle)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pods {
		s.pods[p.UID] = p
		s.all = append(s.all, p)
	}
}

func (s *shown) Remove(uids ...types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uid := range uids {
		delete(s.pods, uid)
	}
}

func (s *shown) SetReady(ready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = ready
	if ready {
		s.first = append([]*corev1.Pod(nil), s.all...)
	}
}

func (s *shown) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// pod returns the pod as it is shown now, or an empty one.
func (s *shown) pod(name string) corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
		if p.Name == name {
			return *p.DeepCopy()
		}
	}
	return corev1.Pod{}
}

// versions returns what was shown of a pod, the oldest first.
func (s *shown) versions(name string) []*corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*corev1.Pod
	for _, p := range s.all {
		if p.Name == name {
			all = append(all, p)
		}
	}
	return all
}

// rig is a node with a container runtime and an API server of its own.
type rig struct {
	*shown
	t       *testing.T
	runtime *fakeruntime.Runtime
	client  *fake.Clientset // nil: standalone
	node    *Node
	cfg     Config
	dawdle  time.Duration
	away    atomic.Bool  // the API server
	count   atomic.Int32 // of UIDs and versions
	writing sync.Mutex   // pods, at the API server
}

func newRig(t *testing.T) *rig {
	t.Helper()
	g := newStandalone(t)
	g.client = fake.NewClientset()
	g.client.PrependReactor("create", "*", func(a clienttesting.Action) (bool, kuberuntime.Object, error) {
		object := a.(clienttesting.CreateAction).GetObject().(metav1.Object)
		object.SetUID(types.UID(fmt.Sprint(object.GetName(), "-", g.count.Add(1))))
		return false, nil, nil
	})
	g.client.PrependReactor("update", "pods", g.setStatus)
	g.client.PrependReactor("*", "*", func(clienttesting.Action) (bool, kuberuntime.Object, error) {
		if g.away.Load() {
			return true, nil, errors.New("the API server is away")
		}
		return false, nil, nil
	})
	return g
}

// setStatus changes the status of a pod and nothing else, as an API server does
// and the fake one does not. It fails the test if the status was not shown before.
func (g *rig) setStatus(a clienttesting.Action) (bool, kuberuntime.Object, error) {
	if a.GetSubresource() != "status" {
		return false, nil, nil
	}
	reported := a.(clienttesting.UpdateAction).GetObject().(*corev1.Pod)
	mine := func(p *corev1.Pod) corev1.PodStatus { return merged(p.Status, corev1.PodStatus{}) }
	if !slices.ContainsFunc(g.versions(reported.Name), func(p *corev1.Pod) bool {
		return equality.Semantic.DeepEqual(mine(p), mine(reported))
	}) {
		g.t.Errorf("pod %s: its status %+v was reported and not shown", reported.Name, reported.Status)
	}
	p, err := g.write(reported.Name, func(p *corev1.Pod) error {
		if p.ResourceVersion != reported.ResourceVersion {
			return apierrors.NewConflict(corev1.Resource("pods"), p.Name, errors.New("somebody else was faster"))
		}
		p.Status = reported.Status
		return nil
	})
	return true, p, err
}

// write changes a pod at the API server, and gives it a version, which the fake one
// does not.
func (g *rig) write(name string, to func(*corev1.Pod) error) (*corev1.Pod, error) {
	g.writing.Lock()
	defer g.writing.Unlock()
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	object, err := g.client.Tracker().Get(resource, "default", name)
	if err != nil {
		return nil, err
	}
	p := object.(*corev1.Pod)
	if err := to(p); err != nil {
		return nil, err
	}
	p.ResourceVersion = fmt.Sprint(g.count.Add(1))
	return p.DeepCopy(), g.client.Tracker().Update(resource, p, "default")
}

func newStandalone(t *testing.T) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "simnode") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	r, err := fakeruntime.Start(fakeruntime.Config{
		Socket: filepath.Join(dir, "cri.sock"), Node: "node-a", PodCIDR: netip.MustParsePrefix("127.78.0.0/16"), Library: library{},
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{t: t, runtime: r, cfg: Config{
		Name: "node-a", Address: netip.MustParseAddr("127.0.0.9"), Runtime: r.Endpoint(), StaticPods: t.TempDir(),
	}}
	t.Cleanup(func() {
		g.stop()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return g
}

// start starts the node, with nothing shown before.
func (g *rig) start() {
	g.t.Helper()
	g.shown = &shown{dawdle: g.dawdle, pods: make(map[types.UID]*corev1.Pod)}
	g.cfg.Pods = g.shown
	var client kubernetes.Interface
	if g.client != nil {
		client = g.client
	}
	node, err := start(g.t.Context(), g.cfg, client)
	if err != nil {
		g.t.Fatal(err)
	}
	g.node = node
}

func (g *rig) stop() {
	if g.node == nil {
		return
	}
	if err := g.node.Close(); err != nil {
		g.t.Error(err)
	}
	g.node = nil
}

// await waits for a condition that becomes true on its own.
func (g *rig) await(what string, so func() bool) {
	g.t.Helper()
	if !await.Until(g.t.Context(), patience, so) {
		g.t.Fatalf("it never came true that %s; shown is %+v", what, g.all)
	}
}

// reported returns the pod as the API server has it, or an empty one.
func (g *rig) reported(name string) corev1.Pod {
	g.t.Helper()
	object, err := g.client.Tracker().Get(corev1.SchemeGroupVersion.WithResource("pods"), "default", name)
	if err != nil {
		return corev1.Pod{}
	}
	return *object.(*corev1.Pod)
}

// create binds a pod to the node. It can be done while the API server is away.
func (g *rig) create(p *corev1.Pod) {
	g.t.Helper()
	if err := g.client.Tracker().Add(p); err != nil {
		g.t.Fatal(err)
	}
}

// change changes a pod at the API server, whether that is away or not.
func (g *rig) change(name string, to func(*corev1.Pod)) {
	g.t.Helper()
	if _, err := g.write(name, func(p *corev1.Pod) error { to(p); return nil }); err != nil {
		g.t.Fatal(err)
	}
}

// manifest writes a manifest, at once.
func (g *rig) manifest(name, text string) {
	g.t.Helper()
	draft := filepath.Join(g.cfg.StaticPods, "."+name)
	if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Rename(draft, filepath.Join(g.cfg.StaticPods, name)); err != nil {
		g.t.Fatal(err)
	}
}

// runs returns the containers of a pod that the runtime has.
func (g *rig) runs(path string) (all []fakeruntime.Container) {
	for _, c := range g.runtime.Containers() {
		if c.Path == path {
			all = append(all, c)
		}
	}
	return all
}

func isReady(p corev1.Pod) bool {
	return conditionOf(p.Status, corev1.PodReady).Status == corev1.ConditionTrue
}

// boundPod is a pod that the scheduler has bound to the node.
func boundPod(name string, args ...string) *corev1.Pod {
	grace := int64(30)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{
			NodeName: "node-a", RestartPolicy: corev1.RestartPolicyAlways, TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{Name: "main", Image: "test:1", Args: args}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort},
	}
}

// library has an image "test", whose programs do what their first argument says.
type library struct{}

func (library) Find(ref string) (*image.Image, error) {
	parsed, err := image.Parse(ref)
	if err != nil || parsed.Name != "docker.io/library/test" {
		return nil, fmt.Errorf("%w: %s", image.ErrUnknown, ref)
	}
	return &image.Image{
		Reference: parsed.String(), Digest: fmt.Sprintf("sha256:%064x", len(parsed.Tag)), Entrypoint: []string{"program"}, Run: program,
	}, nil
}

// program runs until it is asked to end; with "exit CODE", it ends at once, and with
// "linger" some time after it was asked. With "fill", it makes a file of 2 MiB first.
func program(ctx context.Context, p *image.Process) int {
	p.SayUp()
	if p.Args[len(p.Args)-1] == "fill" && p.WriteFile("/big", make([]byte, 2<<20)) != nil {
		return 1
	}
	if len(p.Args) == 3 && p.Args[1] == "exit" {
		code, _ := strconv.Atoi(p.Args[2])
		return code
	}
	select {
	case <-ctx.Done():
	case <-p.Signals:
		if p.Args[len(p.Args)-1] == "linger" {
			<-time.After(time.Second)
		}
	}
	return 0
}
