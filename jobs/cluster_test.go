package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
)

// start starts the run with files.
func start(ctx context.Context, t *testing.T, c *Cluster) error {
	t.Helper()
	job, err := run.Job(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Start(ctx, run, job, []byte("files"))
}

// fails has a fake cluster answer a request with an error.
func fails(client *fake.Clientset, verb, resource string) {
	client.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New(resource + " can't be had")
	})
}

// TestAJobThatCantStart: a Job without its files is deleted, or the error names it. An existing Job of this name stays.
func TestAJobThatCantStart(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	fails(client, "create", "configmaps")
	c := &Cluster{client: client}
	if err := start(t.Context(), t, c); err == nil || err.Error() != "configmaps can't be had" {
		t.Errorf("without files: %v", err)
	}
	jobs := client.BatchV1().Jobs(run.Namespace)
	if _, err := jobs.Get(t.Context(), run.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Job is left: %v", err)
	}
	fails(client, "delete", "jobs")
	if err := start(t.Context(), t, c); err == nil || !strings.Contains(err.Error(), "jobs can't be had: if it is there, delete it: kubectl delete job --namespace ci skewrig-abcde") {
		t.Errorf("it can't be deleted: %v", err)
	}

	others := fake.NewClientset(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: run.Name}})
	if err := start(t.Context(), t, &Cluster{client: others}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the name is taken: %v", err)
	}
	if _, err := others.BatchV1().Jobs(run.Namespace).Get(t.Context(), run.Name, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// TestAnInterruptedStart: an interrupt leaves no Job without its files.
func TestAnInterruptedStart(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	var made []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		interrupt()
		var object metav1.PartialObjectMetadata
		text, err := io.ReadAll(r.Body)
		if err = errors.Join(err, json.Unmarshal(text, &object)); err != nil {
			t.Error(err)
		}
		made = append(made, object.Kind)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}))
	defer server.Close()
	c, err := NewCluster(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}})
	if err != nil {
		t.Fatal(err)
	}
	if err := start(ctx, t, c); err != nil || strings.Join(made, " ") != "Job ConfigMap" {
		t.Errorf("%v was made: %v", made, err)
	}
	if err := start(ctx, t, c); !errors.Is(err, context.Canceled) || len(made) != 2 {
		t.Errorf("after the interrupt, %v was made: %v", made, err)
	}
}

// TestGatherOfAJobThatIsGone: only what is still missing needs the Job.
func TestGatherOfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	g := Gatherer{Cluster: &Cluster{client: fake.NewClientset()}, Run: run, Dir: t.TempDir()}
	for n := range run.Shards {
		var over Over
		if err := g.Gather(t.Context()); !errors.As(err, &over) || !over.Gone {
			t.Errorf("with %d of %d reports: %v", n, run.Shards, err)
		}
		if err := os.Mkdir(g.ReportDir(n+1), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Gather(t.Context()); err != nil {
		t.Errorf("with all reports: %v", err)
	}
}
