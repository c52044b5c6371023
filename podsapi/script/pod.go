package script

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// life is a pod and how it is.
type life struct {
	// pod is what was added, with the labels that it has by now.
	pod      *corev1.Pod
	phase    corev1.PodPhase
	ready    bool
	restarts int32
	began    time.Time
	// changed is when it became what it is.
	changed time.Time
	// own is true as long as the status is that of the manifest.
	own bool
}

// key is what a script calls a pod, with its namespace.
func key(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return metav1.NamespaceDefault + "/" + name
}

func (l *life) key() string { return l.pod.Namespace + "/" + l.pod.Name }

// name is what a script calls the pod.
func (l *life) name() string { return strings.TrimPrefix(l.key(), metav1.NamespaceDefault+"/") }

// uidOf is the UID of the n-th pod that has a name: the same in every run.
func uidOf(key string, n int) types.UID {
	hex := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s#%d", key, n)))
	return types.UID(fmt.Sprintf("%s-%s-4%s-8%s-%s", hex[:8], hex[8:12], hex[12:15], hex[15:18], hex[18:30]))
}

// manifest reads a pod from a part of a script.
func manifest(object map[string]any) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if object == nil {
		return pod, nil
	}
	text, err := json.Marshal(object)
	if err == nil {
		err = yaml.UnmarshalStrict(text, pod)
	}
	if err != nil {
		const where = "error unmarshaling JSON: while decoding JSON: json: "
		return nil, errors.New(strings.TrimPrefix(err.Error(), where))
	}
	return pod, nil
}

var podName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// checkName returns what is wrong with the name of a pod or a namespace.
func checkName(name string) error {
	if len(name) > 253 || !podName.MatchString(name) {
		return fmt.Errorf("%q is not the name of a pod: names have lower-case letters, digits, dots and dashes", name)
	}
	return nil
}

// complete gives a pod what every pod of a kubelet has.
func complete(pod *corev1.Pod, n int, uid types.UID, now time.Time) {
	pod.APIVersion, pod.Kind = "", "" // as in protobuf
	if pod.UID == "" {
		pod.UID = uid
	}
	if pod.CreationTimestamp.IsZero() {
		pod.CreationTimestamp = metav1.NewTime(now)
	}
	if pod.Annotations == nil {
		pod.Annotations = make(map[string]string)
	}
	if pod.Annotations["kubernetes.io/config.source"] == "" {
		pod.Annotations["kubernetes.io/config.source"] = "api"
	}
	if pod.Spec.NodeName == "" {
		pod.Spec.NodeName = "node-a"
	}
	if len(pod.Spec.Containers) == 0 {
		pod.Spec.Containers = []corev1.Container{{Name: "app", Image: "registry.example/app:1.0"}}
	}
	if pod.Status.PodIP == "" {
		ip := fmt.Sprintf("10.244.%d.%d", n/250%250, n%250+1)
		pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
}

// label adds labels, of which an empty one is taken away.
func (l *life) label(labels map[string]string) {
	l.pod = l.pod.DeepCopy() // what was planned before keeps its labels
	if l.pod.Labels == nil {
		l.pod.Labels = make(map[string]string)
	}
	maps.Copy(l.pod.Labels, labels)
	maps.DeleteFunc(l.pod.Labels, func(_, value string) bool { return value == "" })
}
