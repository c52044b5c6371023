package existing

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
)

var runs = corev1.ContainerState{Running: new(corev1.ContainerStateRunning)}

func ended3s(id string, code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ContainerID: id, ExitCode: code, Reason: "Error", StartedAt: metav1.Unix(100, 0), FinishedAt: metav1.Unix(103, 0),
	}}
}

var waits = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}

// TestWhatHappenedToContainers: it is read from the states of a pod, each once.
func TestWhatHappenedToContainers(t *testing.T) {
	t.Parallel()
	const pod, app = "default/web", "default/web/app"
	sandbox := happened{pod, record.SandboxStarted{ID: "first", IP: "10.0.0.1"}}
	started := func(id string, attempt uint32) happened {
		return happened{app, record.ContainerStarted{ID: id, Attempt: attempt}}
	}
	exited := func(id string, attempt uint32, code int32) happened {
		return happened{app, record.ContainerExited{ID: id, ExitCode: code, Reason: "Error", RanForSeconds: 3, Attempt: attempt}}
	}
	type state struct {
		uid    types.UID
		status corev1.ContainerStatus
	}
	for name, c := range map[string]struct {
		states []state
		want   []happened
		lost   string
	}{
		"it runs, and is seen twice": {
			states: []state{{"first", corev1.ContainerStatus{State: waits}}, {"first", corev1.ContainerStatus{State: runs, ContainerID: "a"}}, {"first", corev1.ContainerStatus{State: runs, ContainerID: "a", Ready: true}}},
			want:   []happened{sandbox, started("a", 0)},
		},
		"it is restarted at once": {
			states: []state{{"first", corev1.ContainerStatus{State: runs, ContainerID: "a"}}, {"first", corev1.ContainerStatus{State: runs, ContainerID: "b", LastTerminationState: ended3s("a", 1), RestartCount: 1}}},
			want:   []happened{sandbox, started("a", 0), exited("a", 0, 1), started("b", 1)},
		},
		"it waits between": {
			states: []state{{"first", corev1.ContainerStatus{State: ended3s("a", 1), ContainerID: "a"}}, {"first", corev1.ContainerStatus{State: waits, LastTerminationState: ended3s("a", 1)}}, {"first", corev1.ContainerStatus{State: runs, ContainerID: "b", LastTerminationState: ended3s("a", 1), RestartCount: 1}}},
			want:   []happened{sandbox, started("a", 0), exited("a", 0, 1), started("b", 1)},
		},
		"another pod has its name": {
			states: []state{{"first", corev1.ContainerStatus{State: runs, ContainerID: "a"}}, {"second", corev1.ContainerStatus{State: runs, ContainerID: "b"}}},
			want:   []happened{sandbox, started("a", 0), {pod, record.SandboxStarted{ID: "second", IP: "10.0.0.1"}}, started("b", 0)},
		},
		"one was never shown": {
			states: []state{{"first", corev1.ContainerStatus{State: runs, ContainerID: "a"}}, {"first", corev1.ContainerStatus{State: runs, ContainerID: "c", LastTerminationState: ended3s("b", 1), RestartCount: 2}}},
			want:   []happened{sandbox, started("a", 0), started("b", 1), exited("b", 1, 1), started("c", 2)},
			lost:   "counts 3 starts and 2 ends of container default/web/app, and has shown 3 and 1:",
		},
		"two were never shown": {
			states: []state{{"first", corev1.ContainerStatus{State: runs, ContainerID: "c", RestartCount: 2}}, {"first", corev1.ContainerStatus{State: runs, ContainerID: "c", RestartCount: 2, Ready: true}}},
			want:   []happened{sandbox, started("c", 2)},
			lost:   "counts 3 starts and 2 ends of container default/web/app, and has shown 1 and 0:",
		},
	} {
		seen := newContainers(time.Unix(1, 0))
		var got []happened
		var lost []string
		for _, s := range c.states {
			s.status.Name = "app"
			body, err := json.Marshal(corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: s.uid},
				Status:     corev1.PodStatus{PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{s.status}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, news := range seen.see(pod, body, false) {
				l, is := news.payload.(record.ObservationLost)
				if !is {
					got = append(got, news)
					continue
				}
				lost = append(lost, l.Reason)
				if first := len(c.states) == 2 && c.states[1].status.Ready; news.subject != app || !l.Resumed || l.Since.Equal(time.Unix(1, 0)) != first {
					t.Errorf("%s: lost of %s: %+v", name, news.subject, l)
				}
			}
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(happened{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (c.lost == "") != (len(lost) == 0) || len(lost) > 1 || !strings.Contains(strings.Join(lost, ""), c.lost) {
			t.Errorf("%s: lost %q, want %q", name, lost, c.lost)
		}
	}
}
