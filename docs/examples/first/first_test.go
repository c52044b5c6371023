package first

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/skewtest"
)

func TestAPodRunsOnAnOlderKubelet(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components")
	}
	rig := skewtest.Start(t, skewtest.Topology{
		Nodes: []skewtest.Node{{Name: "node-a", Version: "previous"}},
	})
	namespace := rig.Namespace(t)

	_, err := rig.Client().CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "registry.k8s.io/e2e-test-images/agnhost:2.53", Args: []string{"netexec"},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	web := rig.Pod(namespace, "web")
	if err := rig.Wait(t.Context(), web, skewtest.BeReady()); err != nil {
		t.Fatal(err)
	}
	if err := rig.Upgrade(t.Context(), "node-a", "newest"); err != nil {
		t.Fatal(err)
	}
	if err := rig.Never(t.Context(), 5*time.Second, web.Container("app"), skewtest.HaveRestarted()); err != nil {
		t.Error(err)
	}
}
