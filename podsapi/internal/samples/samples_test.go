package samples

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestTheManifestIsAPod(t *testing.T) {
	t.Parallel()
	pod := Pod(333)
	if err := yaml.UnmarshalStrict(manifest, &corev1.Pod{}); err != nil {
		t.Error(err)
	}
	wire, err := pod.Marshal()
	if err != nil || len(wire) < 4000 || len(wire) > 6000 {
		t.Errorf("%d bytes, error %v", len(wire), err)
	}
	if pod.Status.PodIP != "10.1.1.84" || len(pod.Status.Conditions) != 4 || len(pod.Status.ContainerStatuses) != 2 {
		t.Errorf("status %+v", pod.Status)
	}
}
