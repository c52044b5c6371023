package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/logged"
	"github.com/skewrig/skewrig/record"
)

// kubelet has the output of the runs of a container: the last one's, and that of the one before.
type kubelet struct {
	mu      sync.Mutex
	runs    []string
	refuses error
	cuts    int // how many times what is followed ends early
}

// outputOf is the output of a run that sees a connection, and is ended by a signal, or killed.
func outputOf(run string, killed bool) string {
	messages := []string{
		fmt.Sprintf(`{"run":%q}`, run),
		`{"kind":"wire.listening","data":{"port":80}}`,
		fmt.Sprintf(`{"draft":%t,"kind":"wire.connection","data":{"id":1,"port":80,"local":%q}}`, killed, run),
	}
	if !killed {
		messages = append(messages, `{"signal":"SIGTERM"}`, `{"ended":true}`)
	}
	text := "hello\n"
	for i, m := range messages {
		text += fmt.Sprintf("\x1emark %d %d 0 .%s\n", i+1, time.Now().UnixNano(), m)
	}
	return text
}

func (k *kubelet) Log(_ context.Context, _, _, _ string, previous, follow bool) (io.ReadCloser, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := len(k.runs) - 1
	if previous {
		at--
	}
	switch {
	case k.refuses != nil:
		return nil, k.refuses
	case at < 0:
		return nil, apierrors.NewBadRequest("previous terminated container not found")
	}
	text := k.runs[at]
	if follow && k.cuts > 0 {
		k.cuts--
		return io.NopCloser(strings.NewReader(text[:len(text)/2])), nil
	}
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, text)
		_ = w.Close()
	}()
	return r, nil
}

// status is the state of a pod, as a watch sees it.
func status(t *testing.T, change string, s corev1.ContainerStatus) record.ObjectObserved {
	t.Helper()
	value, err := container.Plays{File: container.File{Reference: "registry.test/web"}, Mark: "mark", Container: "app"}.Value()
	if err != nil {
		t.Fatal(err)
	}
	s.Name = "app"
	body, err := json.Marshal(corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid"},
		Spec:       corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "app", Env: []corev1.EnvVar{{Name: container.Variable, Value: value}}}}},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{s}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return record.ObjectObserved{Change: change, Resource: "pods", Namespace: "default", Name: "web", Object: body}
}

func runsNow(id string, last *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	return corev1.ContainerStatus{ContainerID: id, State: corev1.ContainerState{Running: new(corev1.ContainerStateRunning)}, LastTerminationState: corev1.ContainerState{Terminated: last}}
}

func terminated(id string) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ContainerID: id, ExitCode: 2, FinishedAt: metav1.Now()}
}

// TestFollowers checks that the record has the output of each run of a container, also if the run is killed,
// if the next one begins before the output was read, and if the connection to the log is cut.
func TestFollowers(t *testing.T) {
	t.Parallel()
	const app = "default/web/app"
	started := record.ContainerStarted{ID: "a"}
	exited := record.ContainerExited{ID: "a", ExitCode: 2}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods/log"}, "web", nil)
	gone := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}}
	restarted := func(o *outputs) {
		o.Append("watch", "pods/default/web", status(t, "modified", runsNow("b", terminated("a"))))
		o.Append("watch", app, started)
		o.Append("watch", app, exited)
		o.Append("watch", app, record.ContainerStarted{ID: "b"})
	}
	ends := func(o *outputs) {
		o.Append("watch", "pods/default/web", status(t, "modified", corev1.ContainerStatus{State: corev1.ContainerState{Terminated: terminated("a")}}))
		o.Append("watch", app, started)
		o.Append("watch", app, exited)
	}
	for name, c := range map[string]struct {
		kubelet *kubelet
		happens func(*outputs)
		want    []string
		lost    error // why something is, if it is
	}{
		"it has ended":        {&kubelet{runs: []string{outputOf("one", false)}}, ends, []string{"started", "listening", "one", "exited SIGTERM"}, nil},
		"it was killed":       {&kubelet{runs: []string{outputOf("one", true)}}, ends, []string{"started", "listening", "one", "exited "}, nil},
		"it was restarted":    {&kubelet{runs: []string{outputOf("one", false), outputOf("two", false)}}, restarted, []string{"started", "listening", "one", "exited SIGTERM", "started", "listening", "two"}, nil},
		"connections break":   {&kubelet{runs: []string{outputOf("one", false), outputOf("two", false)}, cuts: 2}, restarted, []string{"started", "listening", "one", "exited SIGTERM", "started", "listening", "two"}, nil},
		"a line is missing":   {&kubelet{runs: []string{strings.Replace(outputOf("one", false), "\x1emark 2", "\x1eother 2", 1)}}, ends, nil, logged.ErrLost},
		"it is not permitted": {&kubelet{refuses: forbidden}, ends, nil, forbidden},
		"the pod is gone": {&kubelet{refuses: gone}, func(o *outputs) {
			o.Append("watch", "pods/default/web", status(t, "deleted", runsNow("a", nil)))
		}, nil, logged.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := record.NewHistory(nil)
			o := newOutputs(c.kubelet, history)
			defer o.close()
			c.happens(o)
			if err := o.merger.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			lost := ""
			for e, l := range record.All[record.ObservationLost](history.Events()) {
				lost = e.Subject + ": " + l.Reason
			}
			if c.lost != nil {
				if want := app + ": reading what container default/web/app records: " + c.lost.Error(); !strings.HasPrefix(lost, want) {
					t.Errorf("lost %q, want %q", lost, want)
				}
				return
			}
			if lost != "" {
				t.Errorf("lost %q", lost)
			}
			if diff := cmp.Diff(c.want, happened(history)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// happened is what is in a record of containers.
func happened(history *record.History) (all []string) {
	for _, e := range history.Events() {
		switch p := record.Decode(e).(type) {
		case record.ContainerStarted:
			all = append(all, "started")
		case record.ContainerExited:
			all = append(all, "exited "+p.Signal)
		case record.Listening:
			all = append(all, "listening")
		case record.Connection:
			all = append(all, p.Local)
		}
	}
	return slices.Clip(all)
}
