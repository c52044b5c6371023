package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/sweep/trial"
)

const (
	ended = `I1126 00:00:00.000000       1 deployment_controller.go:1] Starting
panic: no replicas [recovered, repanicked]

goroutine 1 [running]:
k8s.io/apimachinery/pkg/util/runtime.handleCrash({0x1, 0x2})
	runtime.go:1 +0x1
k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).syncDeployment(0x1, {0x2, 0x3})
	sync.go:1 +0x1
k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).worker(0x1)
`
	goesOn = `E1126 00:00:00.000000       1 wrap.go:1] "Observed a panic" panic="integer divide by zero" stacktrace=<
	goroutine 7 [running]:
	k8s.io/apiserver/pkg/server/filters.WithPanicRecovery.func1({0x1, 0x2})
	k8s.io/kubernetes/pkg/apis/resource/validation.validateStep({0x1, 0x2})
 >
I1126 00:00:01.000000       1 trace.go:1] a panic is a word here
`
)

// TestPanics: a panic is found in each log, with where it happened.
func TestPanics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"kube-apiserver": goesOn, "kube-controller-manager": ended, "kubelet-node-a": "all is well\n"} {
		if err := os.WriteFile(filepath.Join(dir, name+".log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := panics(dir, []string{"kube-apiserver", "kube-controller-manager", "kubelet/node-a"})
	if err != nil {
		t.Fatal(err)
	}
	want := []trial.Panic{
		{Component: "kube-apiserver", Text: `E1126 00:00:00.000000       1 wrap.go:1] "Observed a panic" panic="integer divide by zero" stacktrace=<`, At: "k8s.io/kubernetes/pkg/apis/resource/validation.validateStep"},
		{Component: "kube-controller-manager", Text: "panic: no replicas [recovered, repanicked]", At: "k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).syncDeployment"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
