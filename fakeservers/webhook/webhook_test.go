package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/record"
)

// listening has a webhook of a kind listen, and returns a client that trusts it.
func listening[W interface{ Close() error }](t *testing.T, name string, start func(Config) (W, error)) (W, *record.History, *http.Client) {
	t.Helper()
	// A server of the standard library brings a certificate, and a client that trusts it.
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(borrowed.Close)
	history := record.NewHistory(nil)
	w, err := start(Config{Name: name, Host: "127.0.0.1", Certificate: borrowed.TLS.Certificates[0], Recorder: history})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, history, borrowed.Client()
}

// start has an admission webhook listen.
func start(t *testing.T, b Behavior) (*Server, *record.History, *http.Client) {
	t.Helper()
	s, history, client := listening(t, "injector", Start)
	s.Set(b)
	return s, history, client
}

// ask asks a webhook about a new Deployment, as an API server does.
func ask(t *testing.T, client *http.Client, url string) (*admissionv1.AdmissionResponse, error) {
	t.Helper()
	text, err := json.Marshal(admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Namespace: "default", Name: "web", Resource: metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
		Object: runtime.RawExtension{Raw: []byte(`{"spec": {"replicas": 2, "mode": "TLS"}}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(resp.Body).Decode(&review); err != nil {
		t.Fatal(err)
	}
	if review.Response.UID != "1" {
		t.Errorf("the answer is to %q", review.Response.UID)
	}
	return review.Response, nil
}

// calls are what the record has of them.
func calls(events []record.Event) (all []record.WebhookCalled) {
	for _, call := range record.All[record.WebhookCalled](events) {
		all = append(all, call)
	}
	return all
}

func TestWhatAWebhookAnswers(t *testing.T) {
	t.Parallel()
	rewrite := func(to string, err error) func(context.Context, []byte) ([]byte, error) {
		return func(context.Context, []byte) ([]byte, error) { return []byte(to), err }
	}
	for name, tc := range map[string]struct {
		behavior Behavior
		allowed  bool
		patch    string
	}{
		"nothing":           {Behavior{}, true, ""},
		"a patch":           {Behavior{Patch: []jsonpatch.Operation{jsonpatch.NewOperation("add", "/spec/a", 1)}}, true, `[{"op":"add","path":"/spec/a","value":1}]`},
		"a field less":      {Behavior{Rewrite: rewrite(`{"spec": {"replicas": 2}}`, nil)}, true, `[{"op":"remove","path":"/spec/mode"}]`},
		"the same object":   {Behavior{Rewrite: rewrite(`{"spec": {"mode": "TLS", "replicas": 2}}`, nil)}, true, ""},
		"a refusal":         {Behavior{Refusal: "not today"}, false, ""},
		"late, but in time": {Behavior{Delay: time.Millisecond}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, history, client := start(t, tc.behavior)
			got, err := ask(t, client, s.URL())
			if err != nil {
				t.Fatal(err)
			}
			if got.Allowed != tc.allowed || string(got.Patch) != tc.patch || (got.PatchType != nil) != (tc.patch != "") {
				t.Errorf("it answers %+v with the patch %s", got, got.Patch)
			}
			if message := tc.behavior.Refusal; message != "" && (got.Result.Message != message || got.Result.Code != http.StatusForbidden) {
				t.Errorf("it refuses with %+v", got.Result)
			}
			seen := calls(history.Events())
			if len(seen) != 1 || seen[0].Object != "deployments/default/web" || seen[0].Operation != "CREATE" || seen[0].Allowed != tc.allowed || (len(seen[0].Patch) > 0) != (tc.patch != "") {
				t.Errorf("the record has %+v", seen)
			}
		})
	}
}

func TestAWebhookThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		behavior Behavior
		want     string
	}{
		"away":     {Behavior{Away: true}, "away"},
		"too late": {Behavior{Delay: time.Hour}, "did not wait"},
		"can't":    {Behavior{Rewrite: func(context.Context, []byte) ([]byte, error) { return nil, errors.New("no such type") }}, "no such type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, history, client := start(t, tc.behavior)
			client.Timeout = 2 * time.Second
			if got, err := ask(t, client, s.URL()); err == nil {
				t.Errorf("it answers %+v", got)
			}
			wait := func(events []record.Event) bool { return len(calls(events)) == 1 }
			if err := history.Wait(t.Context(), wait); err != nil {
				t.Fatal(err)
			}
			if got := calls(history.Events())[0].Error; !strings.Contains(got, tc.want) {
				t.Errorf("the record says %q", got)
			}
			if got, err := ask(t, client, s.URL()+MarkPath+"3"); err != nil || !got.Allowed || !s.Marked("3") || s.Marked("2") {
				t.Errorf("at a mark it answers %+v, %v", got, err)
			}
			s.Forget("3")
			if s.Marked("3") || len(calls(history.Events())) != 1 {
				t.Error("a mark stays, or is recorded")
			}
		})
	}
}

func TestWhatIsNoReview(t *testing.T) {
	t.Parallel()
	s, history, client := start(t, Behavior{})
	resp, err := client.Post(s.URL(), "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest || len(calls(history.Events())) > 0 {
		t.Errorf("it answers %s", resp.Status)
	}
	if _, err := Start(Config{Host: "no address", Certificate: tls.Certificate{}}); err == nil {
		t.Error("it listens at no address")
	}
}
