package app

import (
	"bytes"
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
	if err := writeJSON(filepath.Join(ShardsDir(to), jobFile), jobRecord{Run: had}); err != nil {
		t.Fatal(err)
	}
	j := Jobs{
		Run: had, Tell: func(string) {},
		Config: &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}},
	}
	err := j.gather(t.Context(), to, userFiles{}, func() error { return nil }, func([]string) error {
		t.Error("nothing is there to join")
		return nil
	})
	want := "gathering 2 shards in Job skewrig-abcde of namespace ci: the Job is gone: somebody deleted it, it ended more than a day ago, or it was never made " +
		"(jobs.batch \"skewrig-abcde\" not found)\nWhat was gathered is in " + ShardsDir(to) + ". To start anew, delete that directory"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestAJobOfAnotherRun: shards of other files, or of another Job, are not gone on with.
func TestAJobOfAnotherRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := jobs.Run{Namespace: "ci", Shards: 2, Args: []string{"run", "mine.yaml"}}
	had := jobRecord{Run: run, FilesHash: "h1:1", Patch: "spec: {}"}
	had.Name = "skewrig-abcde"
	if err := writeJSON(filepath.Join(dir, jobFile), had); err != nil {
		t.Fatal(err)
	}
	for want, of := range map[string]struct {
		args  []string
		hash  string
		patch string
	}{
		"":                        {run.Args, "h1:1", "spec: {}"},
		"the files that go along": {run.Args, "h1:2", "spec: {}"},
		"--job-patch":             {run.Args, "h1:1", ""},
		"the command, the files that go along: run it as": {[]string{"run", "other.yaml"}, "", "spec: {}"},
	} {
		j := Jobs{Run: run, Patch: []byte(of.patch), Tell: func(string) {}}
		j.Run.Args = of.args
		err := j.begin(t.Context(), nil, dir, userFiles{hash: of.hash})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "which differs in "+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestUserFiles: the list of known deviations goes along as scenarios do. Nothing does for cells of the catalog.
func TestUserFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("known.yaml", "deviations: []")
	if none, err := filesOf(nil); err != nil || none.packed != nil || none.hash != "" {
		t.Errorf("%+v, %v", none, err)
	}
	before, err := filesOf([]string{"known.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := jobs.Unpack(bytes.NewReader(before.packed), to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "known.yaml")); err != nil || string(text) != "deviations: []" {
		t.Errorf("%q, %v", text, err)
	}
	write("known.yaml", "deviations: []") // the same again
	if same, err := filesOf([]string{"known.yaml"}); err != nil || same.hash != before.hash {
		t.Errorf("%q, want %q, %v", same.hash, before.hash, err)
	}
	write("known.yaml", "deviations: [{}]")
	if other, err := filesOf([]string{"known.yaml"}); err != nil || other.hash == before.hash {
		t.Errorf("it is the same with other content: %q, %v", other.hash, err)
	}
	_, err = filesOf([]string{"known.yaml", "../mine.yaml", "known.txt"})
	if want := "../mine.yaml is no YAML file below the working directory: only these go along\nknown.txt is no YAML file below the working directory: only these go along"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
