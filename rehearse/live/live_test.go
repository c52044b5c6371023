package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/rehearse/manifest"
)

// server is an API server whose Deployments come in two pages, and that lets no one list claims. It keeps the requests.
type server struct {
	mu       sync.Mutex
	requests []string
	// fails are answers before the right one, by the request.
	fails map[string][]int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := strings.TrimSuffix(r.URL.Path+"?continue="+r.URL.Query().Get("continue"), "?continue=")
	s.requests = append(s.requests, r.Method+" "+asked)
	w.Header().Set("Content-Type", "application/json")
	if codes := s.fails[asked]; len(codes) > 0 {
		s.fails[asked] = codes[1:]
		w.WriteHeader(codes[0])
		_ = json.NewEncoder(w).Encode(metav1.Status{ListMeta: metav1.ListMeta{Continue: "2 of now"}, TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(codes[0]), Reason: reasons[codes[0]], Message: "no"})
		return
	}
	if answer, is := answers[asked]; is {
		fmt.Fprint(w, answer)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

var reasons = map[int]metav1.StatusReason{http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable, http.StatusGone: metav1.StatusReasonExpired}

var answers = map[string]string{
	"/api":  `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},{"name":"gone.example","versions":[{"groupVersion":"gone.example/v1","version":"v1"}],"preferredVersion":{"groupVersion":"gone.example/v1","version":"v1"}}]}`,
	"/api/v1": resourceList("v1", `{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["create","list"]}`,
		`{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["create","list"]}`, `{"name":"nodes","kind":"Node","verbs":["create","list"]}`,
		`{"name":"persistentvolumeclaims","kind":"PersistentVolumeClaim","namespaced":true,"verbs":["create","list"]}`,
		`{"name":"bindings","kind":"Binding","namespaced":true,"verbs":["create"]}`, `{"name":"componentstatuses","kind":"ComponentStatus","verbs":["list"]}`),
	"/apis/apps/v1": resourceList("apps/v1", `{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["create","list"]}`,
		`{"name":"deployments/scale","kind":"Scale","group":"autoscaling","namespaced":true,"verbs":["get"]}`, `{"name":"controllerrevisions","kind":"ControllerRevision","namespaced":true,"verbs":["create","list"]}`),
	"/apis/apps/v1/deployments":                   `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"continue":"2","resourceVersion":"7"},"items":[{"metadata":{"name":"web","namespace":"shop","uid":"1","managedFields":[{"manager":"kubectl"}]},"spec":{"replicas":2}}]}`,
	"/apis/apps/v1/deployments?continue=2":        `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"api","namespace":"shop","uid":"2"}}]}`,
	"/apis/apps/v1/deployments?continue=2 of now": `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"api","namespace":"shop","uid":"2"}}]}`,
	"/api/v1/configmaps":                          `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"settings","namespace":"shop"},"data":{"a":"b"}}]}`,
	"/api/v1/secrets":                             `{"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[]}`,
}

func resourceList(gv string, resources ...string) string {
	return fmt.Sprintf(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[%s]}`, gv, strings.Join(resources, ","))
}

// read reads a server, and returns the objects by name and what was not read.
func read(t *testing.T, s *server, withData bool) (names []string, unread []manifest.Problem) {
	t.Helper()
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	reader, err := New(&rest.Config{Host: listening.URL})
	if err != nil {
		t.Fatal(err)
	}
	reader.WithData = withData
	reader.again.Duration = time.Millisecond
	var text bytes.Buffer
	if unread, err = reader.Write(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	objects, problems := manifest.Read("cluster.yaml", text.Bytes())
	if len(problems) > 0 {
		t.Error(problems)
	}
	for _, o := range objects {
		metadata, _ := o.Object["metadata"].(map[string]any)
		names = append(names, fmt.Sprint(o.Object["kind"], " ", metadata["name"]))
	}
	return names, unread
}

func TestAClusterIsListed(t *testing.T) {
	s := &server{fails: map[string][]int{"/api/v1/persistentvolumeclaims": {http.StatusForbidden}}}
	names, unread := read(t, s, false)
	if want := []string{"Deployment web", "Deployment api"}; !slices.Equal(names, want) {
		t.Errorf("read %q, want %q", names, want)
	}
	var not []string
	for _, u := range unread {
		not = append(not, u.Object)
	}
	if want := []string{"gone.example/v1", "configmaps", "persistentvolumeclaims", "secrets"}; !slices.Equal(not, want) {
		t.Errorf("not read %q, want %q", not, want)
	}
	for _, r := range s.requests {
		if !strings.HasPrefix(r, "GET ") || strings.Contains(r, "secrets") || strings.Contains(r, "configmaps") {
			t.Errorf("asked for %s", r)
		}
	}
}

func TestDataIsReadIfItIsAskedFor(t *testing.T) {
	names, unread := read(t, &server{fails: map[string][]int{"/api/v1/persistentvolumeclaims": {http.StatusForbidden}}}, true)
	if want := []string{"ConfigMap settings", "Deployment web", "Deployment api"}; !slices.Equal(names, want) {
		t.Errorf("read %q, want %q", names, want)
	}
	if len(unread) != 2 {
		t.Errorf("not read: %v", unread)
	}
}

// TestAListGoesOn where it broke off, and as it is now if it became too old.
func TestAListGoesOn(t *testing.T) {
	const second = "/apis/apps/v1/deployments?continue=2"
	for _, codes := range [][]int{{http.StatusTooManyRequests, http.StatusServiceUnavailable}, {http.StatusGone}} {
		s := &server{fails: map[string][]int{second: codes}}
		names, _ := read(t, s, false)
		if want := []string{"Deployment web", "Deployment api"}; !slices.Equal(names, want) {
			t.Errorf("after %v: read %q, want %q", codes, names, want)
		}
		if len(s.fails[second]) > 0 {
			t.Errorf("%v did not come up", codes)
		}
	}
}

// TestNothingMayBeListed is an error with the reason.
func TestNothingMayBeListed(t *testing.T) {
	forbidden := []int{http.StatusForbidden}
	listening := httptest.NewServer(&server{fails: map[string][]int{"/apis/apps/v1/deployments": forbidden, "/api/v1/persistentvolumeclaims": forbidden}})
	defer listening.Close()
	reader, err := New(&rest.Config{Host: listening.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = reader.Write(t.Context(), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "lets nothing be listed") {
		t.Error(err)
	}
}
