package ask

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func ended(exit, signal int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Signal: signal, Reason: reason}}
}

func containers(states ...corev1.ContainerState) (all []corev1.ContainerStatus) {
	for i, s := range states {
		started := s.Running != nil
		all = append(all, corev1.ContainerStatus{Name: string(rune('a' + i)), State: s, Started: &started})
	}
	return all
}

func TestStatus(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	sidecarFirst := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "a", RestartPolicy: &always}, {Name: "b"}}}
	for want, pod := range map[string]corev1.Pod{
		"Running":           {Status: corev1.PodStatus{Phase: "Running", ContainerStatuses: containers(running(), ended(0, 0, "Completed"))}},
		"Pending":           {Status: corev1.PodStatus{Phase: "Pending"}},
		"ContainerCreating": {Status: corev1.PodStatus{Phase: "Pending", ContainerStatuses: containers(waiting("ContainerCreating"))}},
		"CrashLoopBackOff":  {Status: corev1.PodStatus{Phase: "Running", ContainerStatuses: containers(running(), waiting("CrashLoopBackOff"))}},
		"Completed":         {Status: corev1.PodStatus{Phase: "Succeeded", ContainerStatuses: containers(ended(0, 0, "Completed"))}},
		"OOMKilled":         {Status: corev1.PodStatus{Phase: "Failed", ContainerStatuses: containers(ended(137, 9, "OOMKilled"))}},
		"ExitCode:3":        {Status: corev1.PodStatus{Phase: "Failed", ContainerStatuses: containers(ended(3, 0, ""))}},
		"Signal:9":          {Status: corev1.PodStatus{Phase: "Failed", ContainerStatuses: containers(ended(137, 9, ""))}},
		"Evicted":           {Status: corev1.PodStatus{Phase: "Failed", Reason: "Evicted"}},
		"Init:1/2":          {Status: corev1.PodStatus{Phase: "Pending", InitContainerStatuses: containers(ended(0, 0, ""), running()), ContainerStatuses: containers(waiting("PodInitializing"))}},
		"Init:ErrImagePull": {Status: corev1.PodStatus{Phase: "Pending", InitContainerStatuses: containers(waiting("ErrImagePull"))}},
		"Init:Error":        {Spec: sidecarFirst, Status: corev1.PodStatus{Phase: "Pending", InitContainerStatuses: containers(running(), ended(1, 0, "Error"))}},
		"Failed":            {Spec: sidecarFirst, Status: corev1.PodStatus{Phase: "Failed", InitContainerStatuses: containers(running(), ended(0, 0, "Completed"))}},
		"Terminating":       {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: now}}, Status: corev1.PodStatus{Phase: "Running"}},
		"<none>":            {},
	} {
		if got := Status(&pod); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func web() *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.UID = "shop", "web", "uid-1"
	p.CreationTimestamp = metav1.NewTime(now.Add(-5 * time.Minute))
	p.Annotations = map[string]string{sourceAnnotation: "api"}
	p.Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b"}}
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = containers(running(), running())
	p.Status.ContainerStatuses[0].Ready, p.Status.ContainerStatuses[1].RestartCount = true, 3
	return p
}

func masked() *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Status.Phase = "web", corev1.PodRunning
	return p
}

func TestFormats(t *testing.T) {
	t.Parallel()
	static := web()
	static.CreationTimestamp, static.Status.StartTime = metav1.Time{}, &metav1.Time{Time: now.Add(-time.Hour)}
	for name, tc := range map[string]struct {
		format Format
		pods   []*corev1.Pod
		want   string
	}{
		"table": {Table, []*corev1.Pod{web(), masked(), static}, `NAMESPACE   NAME   READY    STATUS    RESTARTS   AGE      SOURCE   UID
shop        web    1/2      Running   3          5m       api      uid-1
<none>      web    <none>   Running   <none>     <none>   <none>   <none>
shop        web    1/2      Running   3          60m      api      uid-1
`},
		"no pods":       {Table, nil, "There are no pods on this node.\n"},
		"no pods, JSON": {JSON, nil, "{\n  \"apiVersion\": \"v1\",\n  \"items\": [],\n  \"kind\": \"List\"\n}\n"},
		"YAML": {YAML, []*corev1.Pod{masked(), masked()}, `apiVersion: v1
kind: Pod
metadata:
  name: web
status:
  phase: Running
---
apiVersion: v1
kind: Pod
metadata:
  name: web
status:
  phase: Running
`},
	} {
		var out strings.Builder
		if err := Write(&out, tc.format, tc.pods, now); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(tc.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for format, want := range map[Format]string{
		Table: `TYPE       NAMESPACE      NAME                               READY   STATUS               RESTARTS   AGE     SOURCE   UID
ADDED      shop           web                                1/2     Running              3          5m      api      uid-1
INITIAL_SYNC_COMPLETE
`,
		YAML: "object:\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    name: web\n  status:\n    phase: Running\ntype: ADDED\n---\ntype: INITIAL_SYNC_COMPLETE\n",
		JSON: `{"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"status":{"phase":"Running"}},"type":"ADDED"}
{"type":"INITIAL_SYNC_COMPLETE"}
`,
	} {
		pod := masked()
		if format == Table {
			pod = web()
		}
		var out strings.Builder
		w := NewWatch(&out, format)
		if w.Event("ADDED", pod, now) != nil || w.Event("INITIAL_SYNC_COMPLETE", nil, now) != nil {
			t.Error("an event could not be written")
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// TestAWholePodIsWhole: what is written of a pod can be read back.
func TestAWholePodIsWhole(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := WriteOne(&out, JSON, web(), now); err != nil {
		t.Fatal(err)
	}
	var back corev1.Pod
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil {
		t.Fatal(err)
	}
	back.APIVersion, back.Kind = "", ""
	back.CreationTimestamp = web().CreationTimestamp // another time zone
	if diff := cmp.Diff(web(), &back); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
