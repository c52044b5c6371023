package engine

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// warns is an API server with Jobs that warns of each request by its method.
func warns(w http.ResponseWriter, r *http.Request) {
	const job = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "default"}}`
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api":
		fmt.Fprint(w, `{"kind": "APIVersions", "versions": []}`)
	case "/apis":
		fmt.Fprint(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "batch", "versions": [{"groupVersion": "batch/v1", "version": "v1"}]}]}`)
	case "/apis/batch/v1":
		fmt.Fprint(w, `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "batch/v1", "resources": [{"name": "jobs", "singularName": "job", "namespaced": true, "kind": "Job"}]}`)
	default:
		w.Header().Set("Warning", fmt.Sprintf("299 - %q", "of "+r.Method))
		switch r.Method {
		case http.MethodPost:
			w.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			w.WriteHeader(http.StatusAccepted)
		}
		fmt.Fprint(w, job)
	}
}

// TestWarningsAreOfTheRequest: a warning is in the answer to the request that got it, and in no other.
func TestWarningsAreOfTheRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(warns))
	defer server.Close()
	o, err := newObjects(&rest.Config{Host: server.URL}, "")
	if err != nil {
		t.Fatal(err)
	}
	history := record.NewHistory(nil)
	r := &run{session: new(fakeSession), history: history, objects: map[string]*objects{spec.APIServer: o}}
	r.cell.Topology.Members = []record.Component{{Name: spec.APIServer}}
	ref := spec.ObjectRef{Resource: "jobs", Namespace: "default", Name: "a"}
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a"}}
	r.current.Name = "delete"
	if err := r.Delete(t.Context(), action.Delete{Object: ref}); err != nil {
		t.Fatal(err)
	}
	r.current.Name = "create"
	created, err := o.write(t.Context(), action.Write{Verb: action.Creates, Body: job})
	if _, err := r.answered(created, false, err); err != nil {
		t.Fatal(err)
	}
	r.current.Name = "put" // which reads first
	put, err := o.write(t.Context(), action.Write{Verb: action.Puts, Ref: ref})
	if _, err := r.answered(put, false, err); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, a := range record.All[record.APIAnswer](history.Events()) {
		got = append(got, fmt.Sprint(e.Subject, " ", a.Code, " ", a.Warning))
	}
	want := []string{"delete 202 [of DELETE]", "create 201 [of POST]", "put 200 [of PUT]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAnEvictionThatABudgetRefuses is an answer, where it is judged. That an API server is busy is none.
func TestAnEvictionThatABudgetRefuses(t *testing.T) {
	t.Parallel()
	r := &run{session: new(fakeSession), history: record.NewHistory(nil)}
	r.cell.Topology.Members = []record.Component{{Name: spec.APIServer}}
	busy := record.APIAnswer{Object: "pods/default/a", Code: http.StatusTooManyRequests, Reason: "TooManyRequests"}
	if _, err := r.answered(busy, true, nil); err == nil {
		t.Error("a busy API server has answered")
	}
	refused := busy
	refused.Causes = []record.APICause{{Reason: "DisruptionBudget", Message: "The disruption budget a needs 1 healthy pods and has 1 currently"}}
	if code, err := r.answered(refused, true, nil); code != http.StatusTooManyRequests || err != nil {
		t.Errorf("%d, %v", code, err)
	}
	if _, err := r.answered(refused, false, nil); !errors.Is(err, errUnmet) {
		t.Errorf("not judged: %v", err)
	}
}
