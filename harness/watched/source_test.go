package watched_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/watched"
)

// server is an API server with one pod, whose watches end in some ways, one after the other. The last one lasts.
type server struct {
	ends []string // "": it ends; expired: the history before is gone; or an HTTP status

	mu      sync.Mutex
	watches int
	lasts   chan struct{} // closed once the last watch has begun
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch q := r.URL.Query(); {
	case q.Get("sendInitialEvents") == "true":
		refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case q.Get("watch") == "":
		fmt.Fprint(w, `{"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "web", "uid": "1"}}]}`)
	default:
		s.watch(w, r)
	}
}

func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := s.watches
	s.watches++
	s.mu.Unlock()
	if n == len(s.ends) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush() //nolint:forcetypeassert // it is one
		close(s.lasts)
		<-r.Context().Done()
		return
	}
	switch s.ends[n] {
	case "":
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web", "uid": "1", "resourceVersion": "8"}}})
	case "expired":
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "ERROR", "object": status(http.StatusGone, metav1.StatusReasonExpired)})
	case "unserved":
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case "forbidden":
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	}
}

func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason) {
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(status(code, reason))
}

func status(code int32, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason}
}

// TestSource: states are missed where a watch can't go on where it had ended, and objects are listed anew.
func TestSource(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends []string
		want map[string]int // what is reported, however often
	}{
		"a watch that ends goes on": {[]string{""}, map[string]int{}},
		"what follows is gone":      {[]string{"expired"}, map[string]int{"missed": 1}},
		"it is not served":          {[]string{"unserved"}, map[string]int{"unserved": 1, "missed": 1}},
		"it is refused":             {[]string{"", "forbidden"}, map[string]int{"broken": 1, "missed": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &server{ends: c.ends, lasts: make(chan struct{})}
			listening := httptest.NewServer(api)
			defer listening.Close()
			client, err := dynamic.NewForConfig(&rest.Config{Host: listening.URL})
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			got := make(map[string]int)
			count := func(what string) func(time.Time, error) {
				return func(since time.Time, why error) {
					mu.Lock()
					defer mu.Unlock()
					if got[what] = 1; since.IsZero() || why == nil {
						t.Errorf("%s since %s: %v", what, since, why)
					}
				}
			}
			source := watched.Source{
				Client: watched.ClientOf(client.Resource(corev1.SchemeGroupVersion.WithResource("pods"))), Missed: count("missed"), Broken: count("broken"), Mended: count("mended"),
				Unserved: func() { count("unserved")(time.Now(), errors.New("not found")) },
			}
			var running sync.WaitGroup
			ctx, cancel := context.WithCancel(t.Context())
			defer running.Wait()
			defer cancel()
			synced := watched.Follow(ctx, &running, &source, func(string, *unstructured.Unstructured, *unstructured.Unstructured) {})
			if err := watched.Await(t.Context(), synced); err != nil {
				t.Fatal(err)
			}
			<-api.lasts
			mu.Lock()
			defer mu.Unlock()
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
