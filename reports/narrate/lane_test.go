package narrate_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/narrate"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	var h history
	h.at(0, "kubelet/a->kube-apiserver", record.FaultBegan{Fault: record.LinkFault{Cut: record.CutDrop}})
	h.at(2, "kubelet/a->kube-apiserver", record.FaultEnded{Effect: record.Effect{Held: 1, Withheld: 1422}})
	h.at(3, "kubelet/a->kube-apiserver", record.FaultBegan{Fault: record.LinkFault{Delay: time.Second}})
	h.at(4, "kubelet/a->kube-apiserver", record.FaultEnded{})
	want(t, []narrate.Lane{{Name: "kubelet/a->kube-apiserver", Kind: narrate.Link, Spans: []narrate.Span{
		{From: 0, To: 2, Label: "drop", Detail: "1 connections held, 1422 bytes withheld", Tone: narrate.Faulty},
		{From: 3, To: 4, Label: "delay 1s", Detail: "without effect", Tone: narrate.Faulty},
	}}}, lanesOf(narrate.Input{Events: h}, narrate.Link))
}

const (
	pending  = `{"spec": {"nodeName": "a"}, "status": {"phase": "Pending"}}`
	ready    = `{"spec": {"nodeName": "a"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}`
	notReady = `{"spec": {"nodeName": "a"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False", "reason": "R", "message": "m"}]}}`
	waiting  = `{"spec": {"nodeName": "a"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False", "reason": "R", "message": "m"}],
		"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}}`
	deleting = `{"metadata": {"deletionTimestamp": "2026-11-22T12:00:09Z"}, "spec": {"nodeName": "a"}, "status": {"phase": "Running"}}`
	warning  = `{"involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"}, "type": "Warning", "reason": "BackOff", "message": "again", "count": 1}`
	twice    = `{"involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"}, "type": "Warning", "reason": "BackOff", "message": "again", "count": 2}`
)

// TestPods: how a pod is shown, its containers with their ports, attempts and
// exits, and the rig's end.
func TestPods(t *testing.T) {
	t.Parallel()
	var h history
	h.show(0, "pods/default/web", "added", pending)
	h.at(0.5, "default/web", record.ImagePullFailed{Ref: "image", Error: "no"})
	h.from("runtime/a", 1, "default/web", record.SandboxStarted{})
	h.at(1, "default/web/app", record.ContainerStarted{Image: "image", Args: []string{"-x"}})
	h.at(1, "default/web/app", record.Listening{Port: 8080, Protocol: "h2c"})
	h.show(2, "pods/default/web", "modified", notReady)
	h.show(3, "pods/default/web", "modified", ready)
	h.show(4, "pods/default/web", "modified", notReady)
	h.at(5, "default/web/app", record.ContainerExited{ExitCode: 2, Reason: "Error", RanForSeconds: 4})
	h.show(5, "pods/default/web", "modified", waiting)
	h.show(5, "events/default/e", "added", warning)
	h.show(5.5, "events/default/e", "modified", warning)
	h.show(6, "events/default/e", "modified", twice)
	h.at(6, "default/web/app", record.ContainerStarted{Image: "image", Attempt: 1})
	h.step(7, 1, "1", "delete")
	h.show(8, "pods/default/web", "modified", deleting)
	h.at(9, "default/web/app", record.ContainerExited{ExitCode: 143, Signal: "SIGTERM", Reason: "Error", RanForSeconds: 3, Attempt: 1})
	h.show(9, "pods/default/web", "deleted", deleting)
	h.step(9, 2, "2", "wait")
	h.at(10.2, "default/web/app", record.ContainerStarted{Image: "image"})
	h.at(10.5, "default/web/app", record.ContainerExited{ExitCode: 137, Signal: "SIGKILL"})
	in := narrate.Input{Events: h}
	group := "default/web on a"
	want(t, []narrate.Lane{{Name: "pods/default/web", Kind: narrate.ObjectState, Group: group, Spans: []narrate.Span{
		{From: 0, To: 2, Label: "Pending"}, {From: 2, To: 3, Label: "not Ready", Detail: "R: m"}, {From: 3, To: 4, Label: "Ready", Tone: narrate.Good},
		{From: 4, To: 5, Label: "not Ready", Detail: "R: m", Tone: narrate.Bad},
		{From: 5, To: 8, Label: "not Ready, CrashLoopBackOff", Detail: "R: m", Tone: narrate.Bad}, {From: 8, To: 9, Label: "being deleted"},
	}, Marks: []narrate.Mark{
		{At: 0.5, Label: "image not pulled", Detail: "image: no", Tone: narrate.Bad},
		{At: 5, Label: "BackOff", Detail: "again", Tone: narrate.Warned}, {At: 6, Label: "BackOff", Detail: "again", Tone: narrate.Warned},
		{At: 9, Label: "gone"},
	}}}, lanesOf(in, narrate.ObjectState))
	want(t, []narrate.Lane{{Name: "default/web/app", Kind: narrate.Container, Group: group, Spans: []narrate.Span{
		{From: 1, To: 5, Label: "running", Detail: "image -x\nlistens on :8080, h2c"},
		{From: 6, To: 9, Label: "running, attempt 1", Detail: "image ", Tone: narrate.Changed},
		{From: 10.2, To: 10.5, Label: "running", Detail: "image "},
	}, Marks: []narrate.Mark{
		{At: 5, Label: "exit 2", Detail: "Error, after 4.0 s, attempt 0", Tone: narrate.Bad},
		{At: 9, Label: "exit 143, SIGTERM", Detail: "Error, after 3.0 s, attempt 1"},
	}}}, lanesOf(in, narrate.Container))
}

// TestNodesAndWorkloads: conditions of real nodes, and replicas with what is made
// for them.
func TestNodesAndWorkloads(t *testing.T) {
	t.Parallel()
	node := func(status string) string {
		return `{"status": {"conditions": [{"type": "Ready", "status": "` + status + `", "reason": "R", "message": "m"}]}}`
	}
	var h history
	h.show(0, "nodes/a", "added", node("False"))
	h.start(1, "kubelet/a", "v1.90.1", nil)
	h.show(1, "nodes/a", "modified", node("True"))
	h.show(2, "nodes/a", "modified", node("Unknown"))
	h.show(3, "nodes/simulated", "added", node("True"))
	h.show(4, "deployments/default/web", "added", `{"metadata": {"uid": "d"}, "spec": {"replicas": 2}, "status": {}}`)
	h.show(5, "replicasets/default/web-1", "added", `{"kind": "ReplicaSet", "metadata": {"uid": "r", "ownerReferences": [{"uid": "d"}]}}`)
	h.show(6, "deployments/default/web", "modified", `{"metadata": {"uid": "d"}, "spec": {"replicas": 2}, "status": {"readyReplicas": 2, "updatedReplicas": 1}}`)
	h.show(7, "replicasets/default/web-1", "modified", `{"kind": "ReplicaSet", "metadata": {"uid": "r", "ownerReferences": [{"uid": "d"}]}}`)
	h.show(7, "events/default/e", "added", `{"involvedObject": {"kind": "Deployment", "namespace": "default", "name": "web"}, "type": "Warning", "reason": "R", "message": "m"}`)
	h.show(7, "events/default/f", "added", `{"involvedObject": {"kind": "Node", "name": "a"}, "type": "Warning", "reason": "R", "message": "m"}`)
	h.show(7, "daemonsets/default/agent", "added", `{"metadata": {"uid": "s"}, "spec": {}, "status": {"desiredNumberScheduled": 1, "numberReady": 1}}`)
	h.show(8, "replicasets/default/web-1", "deleted", `{"kind": "ReplicaSet", "metadata": {"uid": "r", "ownerReferences": [{"uid": "d"}]}}`)
	want(t, []narrate.Lane{
		{Name: "nodes/a", Kind: narrate.ObjectState, Spans: []narrate.Span{
			{From: 0, To: 1, Label: "not Ready", Detail: "R: m"}, {From: 1, To: 2, Label: "Ready", Tone: narrate.Good},
			{From: 2, To: 8, Label: "Unknown", Detail: "R: m", Tone: narrate.Bad},
		}, Marks: []narrate.Mark{{At: 7, Label: "R", Detail: "m", Tone: narrate.Warned}}},
		{Name: "deployments/default/web", Kind: narrate.ObjectState, Spans: []narrate.Span{
			{From: 4, To: 6, Label: "0 of 2 ready"}, {From: 6, To: 8, Label: "2 of 2 ready, 1 updated", Tone: narrate.Good},
		}, Marks: []narrate.Mark{{At: 5, Label: "makes web-1", Detail: "ReplicaSet", Tone: narrate.Changed}, {At: 7, Label: "R", Detail: "m", Tone: narrate.Warned}, {At: 8, Label: "web-1 gone"}}},
		{Name: "daemonsets/default/agent", Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 7, To: 8, Label: "1 of 1 ready", Tone: narrate.Good}}},
	}, lanesOf(narrate.Input{Events: h}, narrate.ObjectState))
}

// TestLeases: of simulated nodes by zone, and of real ones with clocks that are
// wrong and renewals that don't come.
func TestLeases(t *testing.T) {
	t.Parallel()
	ages := func(oldest, p99, median float64) record.LeaseAges {
		return record.LeaseAges{Zones: []record.ZoneAges{{Zone: "z", Nodes: 3, Oldest: oldest, P99: p99, Median: median}}}
	}
	renewed := func(at float64) string {
		text, _ := json.Marshal(when(at).Format(time.RFC3339Nano))
		return `{"spec": {"holderIdentity": "a", "leaseDurationSeconds": 40, "renewTime": ` + string(text) + `}}`
	}
	var h history
	h.at(0, "lease-nodes", ages(1, 1, 1))
	h.at(1, "lease-nodes", ages(2, 1, 1))
	h.at(2, "lease-nodes", record.LeaseClockSet{Clock: clock.Clock{Offset: time.Minute}})
	h.at(11, "lease-nodes", ages(11, 5, 5))
	h.at(12, "lease-nodes", ages(12, 11, 5))
	h.at(13, "lease-nodes", ages(13, 12, 11))
	h.show(20, "leases/kube-node-lease/a", "added", renewed(20))
	h.show(30, "leases/kube-node-lease/a", "modified", renewed(30))
	h.show(100, "leases/kube-node-lease/a", "modified", renewed(-20))
	h.show(101, "leases/kube-system/other", "added", renewed(101))
	h.at(102, "", record.ComponentStopped{})
	leases := narrate.LeasePlan{Duration: 10 * time.Second}
	detail := "3 nodes, leases of 10s"
	want(t, []narrate.Lane{
		{Name: "lease-nodes/z", Kind: narrate.Leases, Spans: []narrate.Span{
			{From: 0, To: 11, Label: "renewed", Detail: detail, Tone: narrate.Good}, {From: 11, To: 12, Label: "the oldest expired", Detail: detail, Tone: narrate.Bad},
			{From: 12, To: 13, Label: "some expired", Detail: detail, Tone: narrate.Bad}, {From: 13, To: 102, Label: "half of them or more expired", Detail: detail, Tone: narrate.Bad},
		}, Series: []narrate.Series{
			{Label: "oldest", Points: [][2]float64{{0, 1}, {1, 2}, {11, 11}, {12, 12}, {13, 13}}},
			{Label: "99th percentile", Points: [][2]float64{{0, 1}, {1, 1}, {11, 5}, {12, 11}, {13, 12}}},
			{Label: "median", Points: [][2]float64{{0, 1}, {1, 1}, {11, 5}, {12, 5}, {13, 11}}},
		}},
		{Name: "lease-nodes", Kind: narrate.Leases, Marks: []narrate.Mark{{At: 2, Label: "clocks 1m0s ahead", Tone: narrate.Faulty}}},
		{Name: "leases/kube-node-lease/a", Kind: narrate.Leases, Spans: []narrate.Span{
			{From: 20, To: 70, Label: "renewed", Detail: "by a", Tone: narrate.Good}, {From: 70, To: 100, Label: "expired", Tone: narrate.Bad},
			{From: 100, To: 102, Label: "renewed 2m0s in the past", Detail: "by a", Tone: narrate.Faulty},
		}},
	}, lanesOf(narrate.Input{Leases: leases, Events: h}, narrate.Leases))
}

// TestAgents: a poll a thousand times a second is spans of equal answers.
func TestAgents(t *testing.T) {
	t.Parallel()
	pod := func(name, status string) json.RawMessage {
		const form = `{"metadata": {"namespace": "default", "name": %q}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": %q}]}}`
		return json.RawMessage(fmt.Sprintf(form, name, status))
	}
	var h history
	agent := func(at float64, step string, payload interface{ EventKind() string }) {
		h.from("agent/a", at, step, payload)
	}
	agent(0, "once", record.PodsAnswer{Method: "ListPods", Code: "OK", List: []json.RawMessage{pod("web", "True")}})
	agent(1, "poll", record.PodsPolled{PodsAnswer: record.PodsAnswer{Code: "OK", List: []json.RawMessage{pod("web", "True")}, Bytes: 9}})
	agent(2, "poll", record.PodsPolled{PodsAnswer: record.PodsAnswer{Code: "OK", List: []json.RawMessage{pod("web", "True")}, Bytes: 10}})
	agent(3, "poll", record.PodsPolled{PodsAnswer: record.PodsAnswer{Code: "Unavailable", Message: "refused"}})
	agent(4, "poll", record.PodsEnded{Code: "Canceled", Calls: map[string]int{"Unavailable": 2, "OK": 900}})
	agent(5, "watch", record.PodsEvent{Type: record.PodAdded, Pod: pod("web", "False")})
	agent(5, "watch", record.PodsEvent{Type: record.PodsSynced})
	agent(6, "watch", record.PodsEvent{Type: record.PodDeleted, Pod: json.RawMessage(`{"unreadable": "why"}`)})
	agent(7, "watch", record.PodsEnded{Code: "Unavailable", Message: "EOF"})
	group := "Pods API of a"
	want(t, []narrate.Lane{
		{Name: "a/once", Kind: narrate.Agent, Group: group, Marks: []narrate.Mark{{At: 0, Label: "ListPods: OK, 1 pod", Detail: "default/web Running Ready=True"}}},
		{Name: "a/poll", Kind: narrate.Agent, Group: group, Spans: []narrate.Span{
			{From: 1, To: 3, Label: "OK, 1 pod", Detail: "default/web Running Ready=True"},
			{From: 3, To: 4, Label: "Unavailable", Detail: "refused", Tone: narrate.Bad},
		}, Marks: []narrate.Mark{{At: 4, Label: "ended", Detail: "was answered 900 OK, 2 Unavailable"}}},
		{Name: "a/watch", Kind: narrate.Agent, Group: group, Spans: []narrate.Span{{From: 5, To: 7, Label: "watch"}}, Marks: []narrate.Mark{
			{At: 5, Label: "ADDED default/web", Detail: "default/web Running Ready=False"}, {At: 5, Label: record.PodsSynced},
			{At: 6, Label: "DELETED unreadable:", Detail: "unreadable: why"},
			{At: 7, Label: "ended: Unavailable", Detail: "EOF", Tone: narrate.Bad},
		}},
	}, lanesOf(narrate.Input{Events: h}, narrate.Agent))
}

// TestTheSubjectComesFirst: where a Pods API is asked, its answers stand above the
// components and the pods.
func TestTheSubjectComesFirst(t *testing.T) {
	t.Parallel()
	var h history
	h.start(0, "kubelet/a", "v1.90.1", nil)
	h.show(1, "pods/default/web", "added", `{"status": {"phase": "Running"}}`)
	h.from("agent/a", 2, "watch", record.PodsEvent{Type: record.PodsSynced})
	var names []string
	for _, l := range of(narrate.Input{Events: h}).Lanes {
		names = append(names, l.Name)
	}
	want(t, []string{"a/watch", "kubelet/a", "pods/default/web"}, names)
}

// TestWatchdog: nodes, the watchdog's requests, and what it scaled.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	var h history
	node := func(status string) string {
		return `{"status": {"conditions": [{"type": "Ready", "status": "` + status + `"}]}}`
	}
	deployment := func(at float64, replicas string) {
		h.at(at, "seed/deployments/shoot/kcm", record.ObjectObserved{Cluster: "seed", Change: "modified", Resource: "deployments", Namespace: "shoot", Name: "kcm",
			Object: json.RawMessage(`{"spec": {"replicas": ` + replicas + `}}`)})
	}
	h.at(0, "lease-nodes", record.LeaseAges{Zones: []record.ZoneAges{{Nodes: 2}}})
	h.show(0, "nodes/x", "added", node("True"))
	h.show(0, "nodes/y", "added", node("True"))
	deployment(1, "1")
	h.at(2, "dependency-watchdog->kube-apiserver", record.LinkRequest{Method: "GET", Path: "/version", Code: 200})
	h.at(3, "dependency-watchdog->kube-apiserver", record.LinkRequest{
		Method: "GET", Path: "/leases", Code: 200, Renewed: map[string]time.Time{"x": when(3), "y": when(-99)},
	})
	h.show(4, "nodes/x", "modified", node("Unknown"))
	h.show(4.2, "nodes/y", "modified", node("Unknown"))
	h.show(8, "nodes/y", "modified", node("True"))
	h.at(9, "dependency-watchdog->seed/kube-apiserver", record.LinkRequest{Method: "PUT", Path: "/deployments/kcm/scale", Code: 200})
	deployment(9, "0")
	h.step(9, 1, "1", "wait")
	leases := narrate.LeasePlan{Expiry: 30 * time.Second, Threshold: 0.6}
	in := narrate.Input{Leases: leases, Events: h}
	group := "dependency-watchdog"
	want(t, []narrate.Lane{
		{Name: "nodes", Kind: narrate.ObjectState, Spans: []narrate.Span{
			{From: 0, To: 4, Label: "all are Ready", Tone: narrate.Good},
			{From: 4, To: 8, Label: "2 of 2 not Ready, 2 of them Unknown", Tone: narrate.Bad},
			{From: 8, To: 10, Label: "1 of 2 not Ready, 1 of them Unknown", Tone: narrate.Bad},
		}},
		{Name: "seed/deployments/kcm", Kind: narrate.ObjectState, Group: group, Spans: []narrate.Span{
			{From: 1, To: 9, Label: "1 replica"}, {From: 9, To: 10, Label: "0 replicas"},
		}, Marks: []narrate.Mark{{At: 9, Label: "scaled by the watchdog", Tone: narrate.Good}}},
	}, lanesOf(in, narrate.ObjectState))
	want(t, []narrate.Lane{
		{Name: "dependency-watchdog->kube-apiserver: asked whether the API server is there", Kind: narrate.Link, Group: group, Marks: []narrate.Mark{{At: 2, Label: "answered", Tone: narrate.Good}}},
		{Name: "dependency-watchdog->kube-apiserver: leases listed", Kind: narrate.Link, Group: group, Marks: []narrate.Mark{{At: 3, Label: "answered", Tone: narrate.Good}}},
		{Name: "dependency-watchdog->kube-apiserver: expired, % of the list", Kind: narrate.Link, Group: group, Marks: []narrate.Mark{
			{At: 3, Label: "50 %", Detail: "below the threshold of 60 %", Tone: narrate.Good},
		}},
	}, lanesOf(in, narrate.Link))
}
