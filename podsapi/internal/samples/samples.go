// Package samples makes pods for tests and benchmarks.
package samples

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// started is when everything of a sample pod happened.
var started = metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

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
	name := fmt.Sprintf("web-6d4cf56db6-%05d", number)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              name,
			GenerateName:      "web-6d4cf56db6-",
			Namespace:         "shop",
			UID:               UID(number),
			ResourceVersion:   fmt.Sprint(100000 + number),
			CreationTimestamp: started,
			Labels:            map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "shop", "pod-template-hash": "6d4cf56db6"},
			Annotations:       map[string]string{"example.com/config-checksum": strings.Repeat("c0ffee", 10)},
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-6d4cf56db6", UID: "owner"}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				managed("kube-controller-manager", "", 1200), managed("kubelet", "status", 900),
			},
		},
		Spec: corev1.PodSpec{
			NodeName:           "node-a",
			ServiceAccountName: "web",
			RestartPolicy:      corev1.RestartPolicyAlways,
			SchedulerName:      "default-scheduler",
			Containers:         []corev1.Container{container("web", 8080), container("proxy", 9090)},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute"},
				{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute"},
			},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
		Status: status(number),
	}
}

func managed(manager, subresource string, size int) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &started,
		FieldsType: "FieldsV1", Subresource: subresource,
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"` + strings.Repeat("f:field", size/7) + `":{}}}`),
	}
}

func container(name string, port int32) corev1.Container {
	probe := &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(port)}},
		PeriodSeconds: 10,
	}
	resources := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
	return corev1.Container{
		Name:           name,
		Image:          "registry.example.com/shop/" + name + ":v1.14.2",
		Args:           []string{"--listen=:" + fmt.Sprint(port), "--config=/etc/" + name + "/config.yaml"},
		Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env:            []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
		Resources:      corev1.ResourceRequirements{Limits: resources, Requests: resources},
		VolumeMounts:   []corev1.VolumeMount{{Name: "config", MountPath: "/etc/" + name}, {Name: "scratch", MountPath: "/tmp"}},
		LivenessProbe:  probe,
		ReadinessProbe: probe,
	}
}

func status(number int) corev1.PodStatus {
	ip := fmt.Sprintf("10.1.%d.%d", number/250, number%250+1)
	status := corev1.PodStatus{Phase: corev1.PodRunning, HostIP: "192.0.2.7", PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, StartTime: &started, QOSClass: corev1.PodQOSGuaranteed}
	for _, condition := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: started})
	}
	for _, name := range []string{"web", "proxy"} {
		yes := true
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, Ready: true, Started: &yes,
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
			Image:       "registry.example.com/shop/" + name + ":v1.14.2",
			ImageID:     "registry.example.com/shop/" + name + "@sha256:" + strings.Repeat("ab", 32),
			ContainerID: "containerd://" + strings.Repeat("cd", 32),
		})
	}
	return status
}
