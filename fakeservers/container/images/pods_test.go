package images_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/fakeservers/container/images"
)

func TestTheImagesOfPods(t *testing.T) {
	t.Parallel()
	run := func(words ...string) *corev1.ExecAction { return &corev1.ExecAction{Command: words} }
	probe := func(words ...string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: run(words...)}}
	}
	first := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Image: "busybox", Command: []string{"sh", "-c", "true"}}},
		Containers: []corev1.Container{{
			Image: "web", Command: []string{"/web", "serve"}, StartupProbe: probe("/ready"), ReadinessProbe: probe("/web", "check"), LivenessProbe: probe("cat", "/x"),
			Lifecycle: &corev1.Lifecycle{
				PostStart: &corev1.LifecycleHandler{Exec: run("/warm")},
				PreStop:   &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}},
			},
		}},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Image: "debug"}}},
	}
	second := &corev1.PodSpec{Containers: []corev1.Container{
		{Image: "busybox", Command: []string{"/bin/sleep", "1"}},
		{Image: "web:v2", Args: []string{"serve"}, ReadinessProbe: &corev1.Probe{}},
	}}
	want := []images.Image{
		{Reference: "busybox", Commands: []string{"sh", "/bin/sleep"}},
		{Reference: "web", Commands: []string{"/web", "/ready", "cat", "/warm"}},
		{Reference: "debug"},
		{Reference: "web:v2"},
	}
	if diff := cmp.Diff(want, images.Of(first, second)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
