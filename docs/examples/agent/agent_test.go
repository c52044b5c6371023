package agent

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/skewtest"
)

// shared is one rig for the tests that leave it as it is: two nodes, of which only one serves the Pods API.
var shared = skewtest.Shared{Topology: skewtest.Topology{
	Nodes: []skewtest.Node{
		{Name: "node-a", Version: "newest", Gates: skewtest.Gates{"PodsAPI": true}},
		{Name: "node-b", Version: "previous"},
	},
}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

func TestListsThePodsOfBothNodes(t *testing.T) {
	rig, ctx := start(t)
	namespace := rig.Namespace(t)
	for node, want := range map[string]Source{"node-a": PodsAPI, "node-b": Endpoint} {
		run(ctx, t, rig, namespace, node)
		expect(ctx, t, agentOf(t, rig, node), namespace, want)
	}
}

func TestGoesOnAfterAKubeletRestart(t *testing.T) {
	rig, ctx := start(t)
	namespace := rig.Namespace(t)
	run(ctx, t, rig, namespace, "node-a")
	if err := rig.RestartKubelet(ctx, "node-a"); err != nil {
		t.Fatal(err)
	}
	expect(ctx, t, agentOf(t, rig, "node-a"), namespace, PodsAPI)
}

// On a rig of its own, because its node stays upgraded: a kubelet that goes back to a
// release without the Pods API leaves the socket.
func TestUsesThePodsAPIAfterAnUpgrade(t *testing.T) {
	ctx := limited(t)
	rig := skewtest.Start(t, skewtest.Topology{Nodes: []skewtest.Node{{Name: "node-b", Version: "previous"}}})
	namespace := rig.Namespace(t)
	run(ctx, t, rig, namespace, "node-b")
	expect(ctx, t, agentOf(t, rig, "node-b"), namespace, Endpoint)
	newest := skewtest.Change{Version: "newest", Gates: skewtest.Gates{"PodsAPI": true}}
	if err := rig.Restart(ctx, "node-b", newest); err != nil {
		t.Fatal(err)
	}
	expect(ctx, t, agentOf(t, rig, "node-b"), namespace, PodsAPI)
}

// start is the shared rig, and a context for what a test does with it.
func start(t *testing.T) (*skewtest.Rig, context.Context) {
	t.Helper()
	ctx := limited(t)
	return shared.Rig(t), ctx
}

func limited(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// agentOf is an agent as it would run on a node.
func agentOf(t *testing.T, rig *skewtest.Rig, node string) Agent {
	t.Helper()
	config, err := rig.KubeletConfig(node)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := rig.KubeletDir(node)
	if err != nil {
		t.Fatal(err)
	}
	return Agent{Socket: filepath.Join(dir, "pods-api", "pods-api.sock"), Kubelet: config}
}

// run runs a pod on a node, called as the node.
func run(ctx context.Context, t *testing.T, rig *skewtest.Rig, namespace, node string) {
	t.Helper()
	_, err := rig.Client().CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "on-" + node},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "app", Image: "registry.k8s.io/e2e-test-images/agnhost:2.53", Args: []string{"pause"}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Wait(ctx, rig.Pod(namespace, "on-"+node), skewtest.BeReady()); err != nil {
		t.Fatal(err)
	}
}

// expect waits until an agent has one pod of a namespace, from a source. A kubelet that
// has just started may not answer yet.
func expect(ctx context.Context, t *testing.T, agent Agent, namespace string, want Source) {
	t.Helper()
	for {
		pods, from, err := agent.Pods(ctx)
		count := 0
		for _, p := range pods {
			if p.Namespace == namespace {
				count++
			}
		}
		if err == nil && count == 1 && from == want {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the agent has %d pods from the %s, want 1 from the %s: %v", count, from, want, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
