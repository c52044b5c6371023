package existing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// TestConnectSaysWhatIsWrong: before anything is asked, and about the cluster's answer.
func TestConnectSaysWhatIsWrong(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	unreachable := filepath.Join(t.TempDir(), "config")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts: [{name: here, context: {cluster: here}}]\nclusters: [{name: here, cluster: {server: 'http://127.0.0.1:1'}}]\n"
	if err := os.WriteFile(unreachable, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, config := range map[string]Config{
		"there is no kubeconfig, or it names no cluster":                                              {},
		"reading the kubeconfig: stat /nowhere: no such file":                                         {Kubeconfig: "/nowhere"},
		`reading the kubeconfig: context "there" does not exist`:                                      {Kubeconfig: unreachable, Context: "there"},
		"asking the API server of the kubeconfig for its version: Get \"http://127.0.0.1:1/version\"": {Kubeconfig: unreachable},
	} {
		if _, err := Connect(t.Context(), config); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", config, err, want)
		}
	}
}

// TestGatesOfMetrics: what is there, or why it is not, without the name of a user.
func TestGatesOfMetrics(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "nodes"}
	for name, c := range map[string]struct {
		text string
		err  error
		want facts.Gates
	}{
		"some": {
			text: "# TYPE other counter\nother 1\n# HELP kubernetes_feature_enabled x\n# TYPE kubernetes_feature_enabled gauge\nkubernetes_feature_enabled{name=\"A\",stage=\"\"} 1\nkubernetes_feature_enabled{name=\"B\",stage=\"ALPHA\"} 0\n",
			want: facts.Gates{Set: release.Gates{"A": true, "B": false}},
		},
		"none":       {text: "other 1\n", want: facts.Gates{Unread: "it has no metric kubernetes_feature_enabled"}},
		"no metrics": {text: "kubernetes_feature_enabled{<html>", want: facts.Gates{Unread: "its metrics are not in the format of Prometheus"}},
		"forbidden":  {err: apierrors.NewForbidden(pods, "n", errors.New("user alice")), want: facts.Gates{Unread: "that needs the permission to get nodes/proxy"}},
		"refused":    {err: apierrors.NewBadRequest("address not allowed"), want: facts.Gates{Unread: "its metrics were answered with 400 BadRequest"}},
		"no answer":  {err: errors.New("dial tcp 10.0.0.1:443: no route to host"), want: facts.Gates{Unread: "the request for its metrics got no answer"}},
	} {
		if diff := cmp.Diff(c.want, gatesOf([]byte(c.text), c.err, "get nodes/proxy")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestUnusableNodes: no pod comes to nodes that keep it away.
func TestUnusableNodes(t *testing.T) {
	t.Parallel()
	node := func(change func(*corev1.Node)) corev1.Node {
		n := corev1.Node{Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}, NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux"},
		}}
		change(&n)
		return n
	}
	for want, change := range map[string]func(*corev1.Node){
		"":             func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Effect: corev1.TaintEffectPreferNoSchedule}} },
		"not ready":    func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown },
		"cordoned":     func(n *corev1.Node) { n.Spec.Unschedulable = true },
		"tainted":      func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Effect: corev1.TaintEffectNoExecute}} },
		"not of Linux": func(n *corev1.Node) { n.Status.NodeInfo.OperatingSystem = "windows" },
	} {
		if got := unusable(node(change)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNamespaces: those of the run are deleted, and those of others stay.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "others", Labels: map[string]string{RunLabel: "other"}}})
		c := &Cluster{client: client, run: "mine"}
		withAccount := func(action clienttesting.Action) (bool, runtime.Object, error) {
			made := action.(clienttesting.CreateAction).GetObject().(*corev1.Namespace)
			if made.Name != "no-accounts" {
				account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: made.Name, Name: "default"}}
				return false, nil, client.Tracker().Add(account)
			}
			return false, nil, nil
		}
		client.PrependReactor("create", "namespaces", withAccount)
		if err := c.MakeNamespace(t.Context(), "ours"); err != nil {
			t.Fatal(err)
		}
		made, err := client.CoreV1().Namespaces().Get(t.Context(), "ours", metav1.GetOptions{})
		if err != nil || made.Labels[RunLabel] != "mine" {
			t.Errorf("%v, %v", made.Labels, err)
		}
		if err := c.MakeNamespace(t.Context(), "others"); !apierrors.IsAlreadyExists(err) {
			t.Errorf("one that is there: %v", err)
		}
		if err := c.MakeNamespace(t.Context(), "no-accounts"); err == nil || !strings.Contains(err.Error(), "does the cluster have a controller manager?") {
			t.Errorf("one without an account: %v", err)
		}
		const late = "waiting for the config map kube-root-ca.crt of namespace ours: it is not there after 30s: does the cluster have a controller manager?"
		if err := c.AwaitNamespaces(t.Context(), []string{"ours"}); err == nil || err.Error() != late {
			t.Errorf("one without a root certificate: %v, want %s", err, late)
		}
		if err := c.DeleteNamespaces(t.Context(), []string{"ours", "others", "no-accounts", "never-made"}); err != nil {
			t.Error(err)
		}
		left, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(left.Items) != 1 || left.Items[0].Name != "others" {
			t.Errorf("%v, %v", left.Items, err)
		}
	})
}

// TestANamespaceThatStays: who waits for it hears what holds it up.
func TestANamespaceThatStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stays := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ours", Labels: map[string]string{RunLabel: "mine"}}}
		stays.Status.Conditions = []corev1.NamespaceCondition{{Type: corev1.NamespaceFinalizersRemaining, Status: corev1.ConditionTrue, Message: "a finalizer is left"}}
		client := fake.NewClientset(stays)
		client.PrependReactor("delete", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
		err := (&Cluster{client: client, run: "mine"}).DeleteNamespaces(t.Context(), []string{"ours"})
		want := "namespace ours is still there after 3m0s (a finalizer is left): delete it with kubectl delete namespace ours"
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// TestANamespaceThatMayNotBeDeleted: the error is that of the API server.
func TestANamespaceThatMayNotBeDeleted(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"get", "delete"} {
		synctest.Test(t, func(t *testing.T) {
			client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ours", Labels: map[string]string{RunLabel: "mine"}}})
			client.PrependReactor(verb, "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("a webhook says no")
			})
			err := (&Cluster{client: client, run: "mine"}).DeleteNamespaces(t.Context(), []string{"ours"})
			want := "deleting namespace ours: a webhook says no, also after 3m0s: delete it with kubectl delete namespace ours"
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", verb, err, want)
			}
		})
	}
}

// TestMissingPermissions: all that are not allowed.
func TestMissingPermissions(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		review.Status.Allowed = review.Spec.ResourceAttributes.Verb == "list"
		return true, review, nil
	})
	missing, err := (&Cluster{client: client}).Missing(t.Context(), []Permission{{"list", "apps", "deployments"}, {"watch", "apps", "deployments"}, {"create", "", "pods"}})
	if diff := cmp.Diff([]Permission{{"watch", "apps", "deployments"}, {"create", "", "pods"}}, missing); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestANodeInARecord: it has nothing of its cluster's own.
func TestANodeInARecord(t *testing.T) {
	t.Parallel()
	node := map[string]any{
		"metadata": map[string]any{"name": "n", "labels": map[string]any{"topology.kubernetes.io/zone": "a", "secret": "b"}, "annotations": map[string]any{"c": "d"}},
		"spec":     map[string]any{"providerID": "e"},
		"status": map[string]any{
			"conditions": []any{map[string]any{"type": "Ready"}}, "nodeInfo": map[string]any{"kubeletVersion": "v1.90.1", "machineID": "f"},
			"images": []any{}, "addresses": []any{},
		},
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": "n", "labels": map[string]any{"topology.kubernetes.io/zone": "a"}},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Ready"}}, "nodeInfo": map[string]any{"kubeletVersion": "v1.90.1"}},
	}
	if diff := cmp.Diff(want, ofAnyNode(&unstructured.Unstructured{Object: node}).Object); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestABrokenWatchIsALoss until it goes on, of the objects and of what is made of them.
func TestABrokenWatchIsALoss(t *testing.T) {
	t.Parallel()
	h := record.NewHistory(nil)
	w := &watcher{Watched: Watched{Recorder: h}, containers: newContainers(time.Now())}
	s := w.source(nil, pods, "shop")
	s.Broken(time.Now(), errors.New("forbidden"))
	s.Mended(time.Now(), errors.New("forbidden"))
	var got []string
	for e, l := range record.All[record.ObservationLost](h.Events()) {
		got = append(got, fmt.Sprintf("%s%v%t%s", e.Subject, l.Kinds, l.Resumed, l.Reason))
	}
	want := []string{
		"pods/shop[object.observed]falsewatching pods: forbidden", "shop[container.started container.exited]falsewatching pods: forbidden",
		"pods/shop[object.observed]truewatching pods: forbidden", "shop[container.started container.exited]truewatching pods: forbidden",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
