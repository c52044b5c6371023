package timeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skewrig/skewrig/record"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// after is an event so many seconds after the history began.
func after(seconds float64, source, subject string, payload record.Payload) record.Event {
	data, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	at := began.Add(time.Duration(seconds * float64(time.Second)))
	return record.Event{At: at, Source: source, Kind: payload.EventKind(), Subject: subject, Data: data}
}

func observed(change, key, object string) record.ObjectObserved {
	resource, rest, _ := strings.Cut(key, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	return record.ObjectObserved{Change: change, Resource: resource, Namespace: namespace, Name: name, Object: json.RawMessage(object)}
}

func TestLives(t *testing.T) {
	t.Parallel()
	const kubelet = "kubelet/node-a"
	all := []record.Event{
		after(0, "", "", record.Lateness{}),
		after(5, "cluster", kubelet, record.ComponentStarted{Version: "v1.36.0", ReadySeconds: 2}),
		after(10, "cluster", kubelet, record.ComponentStopped{Asked: true}),
		after(12, "cluster", kubelet, record.ComponentStarted{Version: "v1.37.0", PID: 7}),
		after(20, "", "", record.Lateness{}),
	}
	line := Of(all)
	var got []string
	for _, l := range line.Lives(kubelet) {
		got = append(got, fmt.Sprintf("%s from %g, launched %g, ready %d, until %g", l.Version, max(0, line.Seconds(l.From.Time)), line.Seconds(l.Launched), l.Ready.Place, line.Seconds(l.Until.Time)))
	}
	want := []string{"v1.36.0 from 0, launched 3, ready 1, until 10", "v1.37.0 from 10, launched 12, ready 3, until 20"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for place, want := range map[int]string{0: "", 1: "v1.36.0", 2: "", 3: "v1.37.0", 4: "v1.37.0", 5: ""} {
		if l, is := line.ReadyAt(kubelet, place); is != (want != "") || is && string(l.Version) != want {
			t.Errorf("ready at %d: %+v, want %q", place, l, want)
		}
	}
	for second, want := range map[int]int{0: 1, 9: 1, 11: 2, 15: 1} {
		if got := len(line.Around(kubelet, began.Add(time.Duration(second)*time.Second))); got != want {
			t.Errorf("%d kubelets around second %d, want %d", got, second, want)
		}
	}
	now, then := line.Ran[kubelet], Of(all[:3]).Ran[kubelet]
	if now.PID != 7 || !now.Running || now.Restarts != 1 || len(now.Exits) != 1 || then.Running || then.Restarts != 0 || len(then.Exits) != 1 {
		t.Errorf("a component that runs is %+v, and before %+v", now, then)
	}
}

// TestContainers: another pod of the same name begins with none, and what ran in the
// earlier one is kept.
func TestContainers(t *testing.T) {
	t.Parallel()
	const app = "default/web/app"
	line := Of([]record.Event{
		after(0, "runtime/node-a", "default/web", record.SandboxStarted{}),
		after(1, "runtime/node-a", app, record.ContainerStarted{}),
		after(2, "server", app, record.Connection{ID: 1}),
		after(3, "runtime/node-a", app, record.Exec{Args: []string{"false"}, ExitCode: 1}),
		after(3, "runtime/node-a", app, record.ContainerExited{ExitCode: 1, Reason: "Error"}),
		after(4, "runtime/node-a", "default/web", record.SandboxStarted{}),
		after(5, "runtime/node-a", app, record.ContainerExited{ExitCode: 128, Reason: "StartError"}),
		after(6, "runtime/node-a", app, record.ContainerStarted{Attempt: 1}),
		after(7, "runtime/node-a", "default/web", record.SandboxStarted{Attempt: 1}),
		after(8, "runtime/node-a", app, record.ContainerStarted{Attempt: 2}),
		after(9, "server", app, record.Connection{ID: 2, Opened: began.Add(8 * time.Second)}),
		after(9, "server", app, record.ProcessRan{Program: "probe@v0.90.1", ExitCode: 4, DurationSeconds: 0.5, CPUSeconds: 0.01}),
		after(9, "runtime/node-a", app, record.ContainerExited{ID: "of the first pod"}),
		after(9, "runtime/node-a", app, record.Exec{Args: []string{"true"}, DurationSeconds: 0.5}),
	})
	want := &Container{
		Running: true, Starts: 3, Restarts: 1, Pods: 2, Exits: []Exit{{Code: 1, Reason: "Error"}, {Code: 128, Reason: "StartError"}, {}},
		Execs:     []Exec{{Args: []string{"false"}, Code: 1}, {Args: []string{"true"}, Seconds: 0.5}},
		Processes: []Process{{Program: "probe@v0.90.1", Code: 4, Seconds: 0.5, CPU: 0.01}},
	}
	if diff := cmp.Diff(want, line.Containers["web/app"], cmpopts.IgnoreUnexported(Container{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var runs []string
	for _, r := range line.Runs {
		runs = append(runs, fmt.Sprintf("started %t, exited %t", r.Started != nil, r.Exit != nil))
	}
	wantRuns := []string{"started true, exited true", "started false, exited true", "started true, exited false", "started true, exited false", "started false, exited true"}
	if diff := cmp.Diff(wantRuns, runs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(line.Connections) != 2 || len(line.Connected["web/app"]) != 2 || line.Connected["web/app"][0].Pod != 1 || line.Connected["web/app"][1].Fields()["pod"] != int64(2) {
		t.Errorf("%d connections, of which %d say something of the container, or of another pod", len(line.Connections), len(line.Connected["web/app"]))
	}
}

func TestObjectsHaveTypesAndWhatNoTypeHas(t *testing.T) {
	t.Parallel()
	const key = "pods/default/web"
	line := Of([]record.Event{
		after(0, "watch", key, observed("added", key, `{"metadata": {"name": "web", "uid": "1"}, "spec": {"new": 1, "containers": [{"name": "app",
			"ports": [{"name": "grpc", "containerPort": 5000}], "readinessProbe": {"tcpSocket": {"port": "grpc"}}, "livenessProbe": {"exec": {}},
			"lifecycle": {"preStop": {"httpGet": {"port": 80, "host": "elsewhere"}}}}]}}`)),
		after(1, "watch", key, observed("modified", key, `{"metadata": {"name": "web", "uid": "1"}}`)),
		after(2, "watch", key, observed("deleted", key, `{}`)),
		after(3, "cluster", "default/static-node-a", record.StaticPodWritten{Node: "node-a", Pod: json.RawMessage(`{"spec": {}}`)}),
		after(4, "watch", "deployments/default/web", observed("added", "deployments/default/web", `{"metadata": {"uid": "2"}, "spec": {"replicas": 3, "template": {"spec": {"hostNetwork": true}}}}`)),
	})
	if len(line.Versions) != 5 || len(line.History[key]) != 2 || line.Objects[key] != nil || line.Pods["web"] != nil || !line.Known["web"] {
		t.Errorf("%d versions, %d of the pod; the last one of it is %v", len(line.Versions), len(line.History[key]), line.Objects[key])
	}
	first := line.Versions[0]
	if spec, _ := first.Fields()["spec"].(map[string]any); spec["new"] != int64(1) || first.Meta().UID != "1" {
		t.Errorf("the pod is %v", first.Fields())
	}
	var probes []string
	for _, p := range Probes(first.PodSpec()) {
		probes = append(probes, fmt.Sprintf("%s of %s: %s :%d", p.Field(), p.Container, p.Kind, p.Port))
	}
	if diff := cmp.Diff([]string{"livenessProbe of app:  :0", "readinessProbe of app: tcpSocket :5000", "preStop of app:  :0"}, probes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if static := line.Versions[3]; !static.Static() || KubeletOf(static) != "kubelet/node-a" {
		t.Errorf("the static pod is %+v", static)
	}
	if v := line.Versions[4]; v.Workload().Spec.Replicas != 3 || !v.PodSpec().HostNetwork {
		t.Errorf("the deployment is %s", v.Text())
	}
}

func TestHappenings(t *testing.T) {
	t.Parallel()
	say := func(second float64, change string, count int) record.Event {
		return after(second, "watch", "events/default/e", observed(change, "events/default/e", fmt.Sprintf(
			`{"type": "Warning", "reason": "Unhealthy", "message": "m", "count": %d, "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"}}`, count)))
	}
	line := Of([]record.Event{say(0, "added", 1), say(1, "modified", 1), say(2, "modified", 3), say(3, "deleted", 3)})
	if len(line.Happenings) != 2 || line.Happenings[1].About.Name != "web" {
		t.Errorf("%+v", line.Happenings)
	}
	if diff := cmp.Diff([]*PodEvent{{Type: "Warning", Reason: "Unhealthy", Message: "m", Count: 3}}, line.PodEvents["web"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEventsAboutANode: the first one may come before the node does.
func TestEventsAboutANode(t *testing.T) {
	t.Parallel()
	say := func(second float64, change, reason string, count int) record.Event {
		key := "events/default/" + reason
		return after(second, "watch", key, observed(change, key, fmt.Sprintf(`{"reason": %q, "count": %d, "involvedObject": {"kind": "Node", "name": "a"}}`, reason, count)))
	}
	line := Of([]record.Event{
		say(0, "added", "Starting", 1),
		after(1, "watch", "nodes/a", observed("added", "nodes//a", `{"metadata": {"name": "a"}}`)),
		after(1, "watch", "nodes/b", observed("added", "nodes//b", `{"metadata": {"name": "b"}}`)),
		say(2, "added", "Rebooted", 1), say(3, "modified", "Starting", 2),
	})
	if diff := cmp.Diff([]*PodEvent{{Reason: "Starting", Count: 2}, {Reason: "Rebooted", Count: 1}}, line.Nodes["a"].Events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if of := line.Nodes["b"].Events; of == nil || len(of) > 0 || len(line.PodEvents) > 0 {
		t.Errorf("another node has %v, and pods have %v", of, line.PodEvents)
	}
}

func TestCourse(t *testing.T) {
	t.Parallel()
	line := Of([]record.Event{
		after(0, "engine", "make", record.StepStarted{Number: 1, Name: "make"}),
		after(1, "engine", "make", record.APIAnswer{Object: "pods/default/web", Code: 201, Response: map[string]any{"metadata": map[string]any{"uid": "1"}}}),
		after(2, "engine", "make", record.StepDone{Number: 1, Error: "late", Unmet: true}),
		after(3, "engine", "up", record.CheckOpened{Step: 2}),
		after(4, "engine", "open", record.CheckOpened{Step: 2}),
		after(5, "engine", "up", record.CheckClosed{Step: 2, Watched: 2}),
		after(6, "engine", "up", record.CheckOpened{Step: 3}),
		after(7, "link", "a->b", record.FaultBegan{Fault: record.LinkFault{Cut: "reset"}}),
		after(8, "link", "a->b", record.FaultEnded{Effect: record.Effect{Reset: 1}}),
	})
	if s := line.Steps[0]; s.Done == nil || s.Done.Error != "late" || line.Seconds(s.To.Time) != 2 {
		t.Errorf("the step is %+v", s)
	}
	if up, open := line.Windows["up"], line.Windows["open"]; up.From.Place != 3 || up.To.Place != 5 || up.Closed.Watched != 2 || open.Closed != nil {
		t.Errorf("the windows are %+v and %+v", up, open)
	}
	if a := line.Answered["make"]; !a.Created() || a.Response.Meta().UID != "1" || !line.Known["web"] {
		t.Errorf("the answer is %+v", a)
	}
	if f := line.Faults[0]; f.Effect.Reset != 1 || line.Seconds(f.To.Time) != 8 {
		t.Errorf("the fault is %+v", f)
	}
}
