package existing

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestGatesOfUnusableNodes: those of a node to which no pod is to come are read if they are asked for.
func TestGatesOfUnusableNodes(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/version": `{"gitVersion": "v1.90.0"}`,
		"/api/v1/nodes": `{"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "node-a"}, "spec": {"taints": [{"effect": "NoSchedule"}]},
			"status": {"conditions": [{"type": "Ready", "status": "True"}]}}]}`,
		"/api/v1/nodes/node-a/proxy/metrics": "# TYPE kubernetes_feature_enabled gauge\nkubernetes_feature_enabled{name=\"A\",stage=\"\"} 1\n",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []bool{true, false} {
		read, err := (&Cluster{client: client}).Read(t.Context(), Wanted{NodeGates: true, Unusable: wanted})
		if err != nil {
			t.Fatal(err)
		}
		if is := read.Nodes[0]; is.Unusable != "tainted" || is.Gates.Set["A"] != wanted {
			t.Errorf("with Unusable=%t: %+v", wanted, is)
		}
	}
}
