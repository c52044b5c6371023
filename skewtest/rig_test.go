package skewtest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/skewtest"
)

// shared is the rig of all tests of this package that need one.
var shared = skewtest.Shared{Topology: skewtest.Topology{
	ControlPlane: skewtest.ControlPlane{Version: "previous"},
	Nodes:        []skewtest.Node{{Name: "node-a", Version: "previous"}},
	Clients:      []string{"client"},
	Observe:      []string{"widgets"},
}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// onRig is the shared rig, and what a test may take.
func onRig(t *testing.T) (*skewtest.Rig, context.Context) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return shared.Rig(t), ctx
}

// webserver is a pod with a server at port 8080, whose liveness probe asks a port.
func webserver(port int32) *corev1.Pod {
	probe := func(port int32) *corev1.Probe {
		return &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(port)},
		}}
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(1)),
		Containers: []corev1.Container{{
			Name: "app", Image: "registry.k8s.io/e2e-test-images/agnhost:2.53", Args: []string{"netexec"},
			ReadinessProbe: probe(8080), LivenessProbe: probe(port),
		}},
	}}
}

func create(ctx context.Context, t *testing.T, client kubernetes.Interface, namespace string, pod *corev1.Pod) {
	t.Helper()
	if _, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMatchersOnARig(t *testing.T) {
	rig, ctx := onRig(t)
	namespace := rig.Namespace(t)
	pod := rig.Pod(namespace, "web")
	create(ctx, t, rig.Client(), namespace, webserver(8080))
	must(t, rig.Wait(ctx, pod, skewtest.BeReady()))
	must(t, rig.Wait(ctx, pod.Container("app"), skewtest.HaveConnection(skewtest.HTTP1)))
	must(t, rig.Wait(ctx, pod.Container("app"), skewtest.HavePassedProbe(skewtest.Liveness)))
	for _, never := range []skewtest.Matcher{skewtest.HaveRestarted(), skewtest.HaveConnection(skewtest.TLS), skewtest.HaveFailedProbe(skewtest.Liveness)} {
		if is, err := never.Match(pod.Container("app")); is || err != nil {
			t.Error(never.NegatedFailureMessage(pod.Container("app")), err)
		}
	}
}

func TestRestartedContainer(t *testing.T) {
	rig, ctx := onRig(t)
	namespace := rig.Namespace(t)
	create(ctx, t, rig.Client(), namespace, webserver(8081))
	app := rig.Pod(namespace, "web").Container("app")
	must(t, rig.Wait(ctx, app, skewtest.HaveFailedProbe(skewtest.Liveness)))
	must(t, rig.Wait(ctx, app, skewtest.HaveRestarted()))
	if len(app.Exits()) == 0 {
		t.Error("it restarted and did not exit")
	}
}

// TestUpgrade goes through the course of an upgrade on one rig: the control plane, a gate,
// the node, and the way back.
func TestUpgrade(t *testing.T) {
	rig, ctx := onRig(t)
	const gate = "GRPCContainerProbeTLS"
	if err := rig.SetGates(ctx, "control-plane", skewtest.Gates{gate: true}); err == nil {
		t.Fatalf("%s was set on a release that does not have it", gate)
	}
	must(t, rig.Upgrade(ctx, "control-plane", "newest"))
	must(t, rig.SetGates(ctx, "control-plane", skewtest.Gates{gate: true}))
	must(t, rig.Upgrade(ctx, "node-a", "newest"))
	node := rig.Component("node-a")
	if node.Version() != release.Newest || rig.Component("kube-scheduler").Version() != release.Newest {
		t.Errorf("the node runs %s", node.Version())
	}
	must(t, rig.Wait(ctx, node, skewtest.HaveRestarted()))
	must(t, rig.RestartKubelet(ctx, "node-a"))
	must(t, rig.Upgrade(ctx, "node-a", "previous"))
	must(t, rig.Restart(ctx, "control-plane", skewtest.Change{Unset: []string{gate}}))
	must(t, rig.Upgrade(ctx, "control-plane", "previous"))
}

func TestOutageOfAClient(t *testing.T) {
	rig, ctx := onRig(t)
	config, err := rig.ClientConfig("client")
	must(t, err)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	list := func() error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		return err
	}
	must(t, list())
	must(t, rig.Cut("client"))
	if list() == nil {
		t.Error("a link that is cut passed a request")
	}
	must(t, rig.SetLink("client", record.LinkFault{Path: record.AnyPath, Status: 503}))
	if list() == nil {
		t.Error("a link that answers 503 passed a request")
	}
	must(t, rig.Heal("client"))
	must(t, list())
	codes := make(map[int]int)
	for _, r := range rig.Requests("client") {
		codes[r.Code]++
	}
	if codes[200] < 2 || codes[503] == 0 {
		t.Errorf("the requests were answered %v", codes)
	}
}

func TestOutageOfANode(t *testing.T) {
	rig, ctx := onRig(t)
	node := rig.Node("node-a")
	must(t, rig.Wait(ctx, node, skewtest.HaveRenewedSince(time.Time{})))
	must(t, rig.Cut("node-a"))
	cut := time.Now()
	const renewedWithin = 15 * time.Second // a kubelet renews each 10 s
	must(t, rig.Never(ctx, renewedWithin, node, skewtest.HaveRenewedSince(cut)))
	must(t, rig.Heal("node-a"))
	must(t, rig.Wait(ctx, node, skewtest.HaveRenewedSince(cut)))
	must(t, rig.Wait(ctx, node, skewtest.BeReady()))
}

// TestOutageOfTheControlPlane: controllers end before their API server, so that none dies
// of it, and have links that can be cut.
func TestOutageOfTheControlPlane(t *testing.T) {
	rig, ctx := onRig(t)
	must(t, rig.Cut("control-plane"))
	must(t, rig.Heal("control-plane"))
	began := len(rig.Events())
	must(t, rig.Stop(ctx, "control-plane"))
	if rig.Component("kube-apiserver").Running() {
		t.Error("the API server runs")
	}
	var stopped []string
	for _, e := range rig.Events()[began:] {
		if e.Kind == (record.ComponentStopped{}).EventKind() {
			stopped = append(stopped, e.Subject)
		}
	}
	if want := []string{"kube-scheduler", "kube-controller-manager", "kube-apiserver"}; !slices.Equal(stopped, want) {
		t.Errorf("they stopped in the order %q", stopped)
	}
	must(t, rig.Restart(ctx, "control-plane", skewtest.Change{}))
	must(t, rig.Kill("node-a"))
	if rig.Component("node-a").Running() {
		t.Error("the kubelet runs")
	}
	must(t, rig.RestartKubelet(ctx, "node-a"))
	must(t, rig.Wait(ctx, rig.Node("node-a"), skewtest.BeReady()))
}

// TestFilesOfTheRig: others can use the kubeconfig, and the record is in the directory.
func TestFilesOfTheRig(t *testing.T) {
	rig, ctx := onRig(t)
	config, err := clientcmd.BuildConfigFromFlags("", rig.Kubeconfig())
	must(t, err)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	_, err = client.CoreV1().Nodes().Get(ctx, "node-a", metav1.GetOptions{})
	must(t, err)
	saved, err := record.ReadFile(filepath.Join(rig.Dir(), "history.jsonl"))
	if err != nil || len(saved) == 0 {
		t.Errorf("the record has %d events: %v", len(saved), err)
	}
}

// TestObserve: objects of a resource that a test installs are in the record.
func TestObserve(t *testing.T) {
	rig, ctx := onRig(t)
	const definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
		"spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
			"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}`
	create := func(path, object string) error {
		return rig.Client().Discovery().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body([]byte(object)).Do(ctx).Error()
	}
	must(t, create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition))
	for create("/apis/example.com/v1/widgets", `{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}`) != nil {
		select {
		case <-ctx.Done():
			t.Fatal("the resource is not served")
		case <-time.After(50 * time.Millisecond):
		}
	}
	must(t, rig.Observe(ctx))
	for !slices.ContainsFunc(rig.Events(), func(e record.Event) bool { return e.Subject == "widgets/one" }) {
		select {
		case <-ctx.Done():
			t.Fatal("the object is not in the record")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
