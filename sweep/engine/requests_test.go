package engine

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/sweep/trial"
)

// TestRequests: each mutation is the request that its name says, before the change as a dry run, and after it.
func TestRequests(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&b, "  %s %s %s %s\n", r.Method, r.URL, r.Header.Get("Content-Type"), strings.TrimSpace(string(body)))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "s0000", "resourceVersion": "7"}, "spec": {"template": {"spec": {"list": [{"mode": "TLS", "port": 1}]}}}}`)
	}))
	t.Cleanup(api.Close)
	client, err := dynamic.NewForConfig(&rest.Config{Host: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	r := &run{server: &server{client, mapper}}
	use := trial.Use{
		Used: trial.Used{Field: "x", Gates: []string{"X"}, Path: "spec.template.spec.list[].mode"}, APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments",
		Namespaced: true, Conditions: true, Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "sweep"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"list": []any{map[string]any{"mode": "TLS"}}}}},
		},
	}
	for _, i := range trial.Items([]trial.Use{use}) {
		for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
			fmt.Fprintf(&b, "%s %v\n", i.Mutations, dryRun)
			if said, err := r.ask(t.Context(), i, i.Mutations[0], dryRun != nil); err != nil || said.Code != 0 {
				t.Errorf("%s: %v, %v", i.Mutations, said, err)
			}
		}
	}
	golden.Check(t, "testdata/requests.txt", b.String())
}
