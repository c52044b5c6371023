package engine

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func TestFind(t *testing.T) {
	t.Parallel()
	v1 := schema.GroupVersion{Group: "example.com", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1})
	mapper.Add(v1.WithKind("Runner"), meta.RESTScopeNamespace)
	mapper.Add(v1.WithKind("Fleet"), meta.RESTScopeRoot)
	o := objects{mapper: mapper}
	for written, want := range map[string]string{"runners/a": "runners/default/a", "runners/shop/a": "runners/shop/a", "fleets/a": "fleets/a"} {
		ref, err := spec.ParseObjectRef(written)
		if err != nil {
			t.Fatal(err)
		}
		resource, err := o.find(&ref)
		if err != nil || ref.String() != want || resource != v1.WithResource(ref.Resource) {
			t.Errorf("%s is %s of %s, %v, want %s", written, ref, resource, err, want)
		}
	}
	if _, err := o.find(&spec.ObjectRef{Resource: "none"}); err == nil {
		t.Error("it finds a resource that is not there")
	}
}

// jobServer is an API server with the Job a of the namespace shop-1. It sends the requests about Jobs, too.
func jobServer(t *testing.T) (o *objects, requests chan string) {
	t.Helper()
	requests = make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/jobs") {
			warns(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		requests <- strings.TrimSpace(r.Method + " " + r.URL.Path + " " + string(body))
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodDelete:
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Success"}`)
		case strings.HasSuffix(r.URL.Path, "/shop-1/jobs/a"):
			fmt.Fprint(w, `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "shop-1", "uid": "1-2-3"}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		}
	}))
	t.Cleanup(server.Close)
	o, err := newObjects(&rest.Config{Host: server.URL}, "")
	if err != nil {
		t.Fatal(err)
	}
	return o, requests
}

// TestOwned: an owner reference can name an object instead of its UID.
func TestOwned(t *testing.T) {
	t.Parallel()
	owners := func(uids ...any) map[string]any {
		var all []any
		for _, uid := range uids {
			all = append(all, map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": uid})
		}
		return map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "web", "ownerReferences": all}}
	}
	plain := map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "data": map[string]any{"uid": "jobs/shop/a"}}
	for name, test := range map[string]struct {
		body, want map[string]any
		err        string
	}{
		"an object by its name":   {body: owners("jobs/shop/a"), want: owners("1-2-3")},
		"a plain UID":             {body: owners("3-2-1"), want: owners("3-2-1")},
		"several":                 {body: owners("jobs/shop/a", "3-2-1", "jobs/shop/a"), want: owners("1-2-3", "3-2-1", "1-2-3")},
		"no UID":                  {body: owners(nil), want: owners(nil)},
		"no owner":                {body: plain, want: plain},
		"no body":                 {},
		"it is not there":         {body: owners("3-2-1", "jobs/shop/b"), err: "metadata.ownerReferences[1].uid: there is no jobs/shop/b"},
		"it is elsewhere":         {body: owners("jobs/a"), err: "metadata.ownerReferences[0].uid: there is no jobs/default/a"},
		"no name of an object":    {body: owners("jobs/shop/a/b"), err: "metadata.ownerReferences[0].uid: "},
		"a resource that is none": {body: owners("widgets/shop/a"), err: "widgets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := jobServer(t)
			given := runtime.DeepCopyJSON(test.body)
			got, err := o.owned(t.Context(), provider.Names{Suffix: "-1"}, given)
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.body, given); diff != "" {
				t.Errorf("the body that was given has changed:\n%s", diff)
			}
		})
	}
}

// TestDeleteEach: one object is deleted, or all of its resource in a namespace.
func TestDeleteEach(t *testing.T) {
	t.Parallel()
	const options = `{"kind":"DeleteOptions","apiVersion":"v1"`
	o, requests := jobServer(t)
	for _, test := range []struct {
		name        string
		propagation metav1.DeletionPropagation
		want        string
	}{
		{"a", "", "DELETE /apis/batch/v1/namespaces/shop/jobs/a " + options + "}"},
		{"*", "", "DELETE /apis/batch/v1/namespaces/shop/jobs " + options + "}"},
		{"*", metav1.DeletePropagationOrphan, "DELETE /apis/batch/v1/namespaces/shop/jobs " + options + `,"propagationPolicy":"Orphan"}`},
	} {
		answer, err := o.delete(t.Context(), spec.ObjectRef{Resource: "jobs", Namespace: "shop", Name: test.name}, test.propagation)
		if err != nil || answer.Object != "jobs/shop/"+test.name || answer.Code != http.StatusOK {
			t.Fatalf("%s: %+v, %v", test.name, answer, err)
		}
		if got := <-requests; got != test.want || len(requests) > 0 {
			t.Errorf("%s: request %s, and %d more, want %s", test.name, got, len(requests), test.want)
		}
	}
}
