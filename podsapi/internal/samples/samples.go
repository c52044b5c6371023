// Package samples makes pods for tests and benchmarks.
package samples

import (
	_ "embed" // for the pod
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

//go:embed pod.yaml
var manifest []byte

// sample is the pod of the manifest, with managed fields of the usual sizes.
var sample = sync.OnceValue(func() *corev1.Pod {
	pod := &corev1.Pod{}
	_ = yaml.UnmarshalStrict(manifest, pod) // A test reads it.
	for i, size := range []int{1200, 900} {
		pod.ManagedFields[i].FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"` + strings.Repeat("f:field", size/7) + `":{}}}`)
	}
	return pod
})

// Pods returns pods with the numbers 0 to n-1.
func Pods(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = Pod(i)
	}
	return pods
}

// UID returns the UID of the pod with a number. UIDs are in the order of the
// numbers.
func UID(number int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", number))
}

// Pod returns the pod with a number: a running pod of a deployment as an API
// server has it, two containers with probes, volumes, conditions and managed
// fields, which has 4 to 6 KB on the wire.
func Pod(number int) *corev1.Pod {
	pod := sample().DeepCopy()
	pod.Name, pod.UID, pod.ResourceVersion = fmt.Sprintf("%s%05d", pod.GenerateName, number), UID(number), fmt.Sprint(100000+number)
	pod.Status.PodIP = fmt.Sprintf("10.1.%d.%d", number/250, number%250+1)
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	return pod
}
