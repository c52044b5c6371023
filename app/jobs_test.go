package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/jobs"
)

// TestAJobThatIsGone: nothing goes on, and how to start anew is said.
func TestAJobThatIsGone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
			_, _ = w.Write([]byte(`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":true}}`))
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"jobs.batch \"skewrig-abcde\" not found"}`))
	}))
	defer server.Close()
	to := filepath.Join(t.TempDir(), "report")
	had := jobs.Run{Name: "skewrig-abcde", Namespace: "ci", Image: "registry.test/skewrig:1", Shards: 2, Args: []string{"run", "kep-1"}}
	if err := os.Mkdir(ShardsDir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeJSON(filepath.Join(ShardsDir(to), jobFile), had); err != nil {
		t.Fatal(err)
	}
	j := Jobs{
		Run: had, Tell: func(string) {},
		Config: &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}},
	}
	err := j.gather(t.Context(), to, nil, func() error { return nil }, func([]string) error {
		t.Error("nothing is there to join")
		return nil
	})
	want := "gathering 2 shards in Job skewrig-abcde of namespace ci: the Job is gone: somebody deleted it, it ended more than a day ago, or it was never made " +
		"(jobs.batch \"skewrig-abcde\" not found)\nWhat was gathered is in " + ShardsDir(to) + ". To start anew, delete that directory"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
