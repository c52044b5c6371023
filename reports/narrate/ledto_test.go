package narrate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// rollout is a history in which a step turns a gate off, one writes a Deployment, and one
// another object; a check is open from 9 s to 10 s, and more comes after it.
func rollout() history {
	var h history
	h.at(0, "", record.StepStarted{})
	h.start(0.2, "kube-apiserver", "v1.90.1", map[string]bool{"G": true})
	write := func(at float64, number int, key string) {
		h.at(at, fmt.Sprint(number), record.StepStarted{Number: number, Name: "write it", Action: "patch " + key})
		h.at(at+0.01, "write it", record.APIAnswer{Object: key, Code: 200})
		h.at(at+0.02, "write it", record.StepDone{Number: number})
	}
	set := func(at float64, name string) {
		h.show(at, "replicasets/default/"+name, "added", `{"kind":"ReplicaSet","metadata":{"namespace":"default","name":"`+name+`","uid":"`+name+`","ownerReferences":[{"kind":"Deployment","name":"web","uid":"d"}]}}`)
	}
	h.show(1, "deployments/default/web", "added", `{"kind":"Deployment","metadata":{"namespace":"default","name":"web","uid":"d"}}`)
	set(1, "web-1")
	h.at(2, "off", record.StepStarted{Number: 2, Name: "off", Action: "restart kube-apiserver with G=false"})
	h.at(3, "kube-apiserver", record.ComponentStopped{Asked: true})
	h.start(5, "kube-apiserver", "v1.90.1", map[string]bool{"G": false})
	h.at(5.5, "off", record.StepDone{Number: 2})
	write(6, 3, "deployments/default/web")
	h.at(6.5, "kubelet/node-a", record.ComponentStopped{State: "exit status 1"})
	write(7, 4, "daemonsets/default/agent")
	h.at(9, "4", record.StepStarted{Number: 5, Name: "5", Action: "check c"})
	h.at(9, "c", record.CheckOpened{Step: 5})
	set(9.2, "web-2")
	set(9.9, "web-3")
	h.at(10, "c", record.CheckClosed{Step: 5})
	h.at(10, "5", record.StepDone{Number: 5})
	write(10, 6, "deployments/default/web") // in the millisecond in which the check was decided
	set(20, "web-4")
	h.at(30, "", record.CellEnded{})
	return h
}

// texts are lines with their times.
func texts(lines []narrate.Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, fmt.Sprintf("%.1f %s", l.At, l.Text))
	}
	return strings.Join(all, "\n")
}

// TestWhatLedToAFailure checks what led to a failure: the steps that changed the rig, those that
// wrote the owner of the counted objects, and the end of a component by itself; not the last step,
// which wrote another object. The narration has the objects counted, and their highest number.
func TestWhatLedToAFailure(t *testing.T) {
	t.Parallel()
	const expression = `for 1s: history.filter(name, name.startsWith("replicasets/default/web-")).size() grows by 1 at most`
	check := reports.Check{ID: "c", Outcome: reports.Fail, Expected: expression, Observed: "2 more, from 1 to 3"}
	c := of(narrate.Input{Events: rollout(), Result: reports.Cell{Outcome: reports.Fail, Checks: []reports.Check{check}}}).Checks[0]
	want(t, "2.0 step 2 (off): restart kube-apiserver with G=false; it took until 5.5 s\n"+
		"6.0 step 3 (write it): patch deployments/default/web: 200 OK\n"+
		"6.5 kubelet/node-a ended by itself: exit status 1", texts(c.Led))
	want(t, "10.0 step 6 (write it): patch deployments/default/web: 200 OK", texts(c.After))
	want(t, "9.2 ReplicaSets of Deployment web: 2\n9.9 ReplicaSets of Deployment web: 3\n20.0 ReplicaSets of Deployment web: 4, after the check was decided", texts(c.Seen))
	want(t, "From 9.0 s to 10.0 s, the number of ReplicaSets of Deployment web grew: 2 more, from 1 to 3; expected: grows by 1 at most; by 20.0 s, there were 4.", c.Cause)
	want(t, []string{"Before that came step 2 (off: restart kube-apiserver with G=false) from 2.0 s to 5.5 s, then step 3 (write it: patch deployments/default/web) at 6.0 s, " +
		"then kubelet/node-a ended by itself: exit status 1 at 6.5 s."}, c.Because)
}

// TestNodesThatTurned checks that the narration has the nodes that changed to the condition which the check
// names, beginning with the first ones.
func TestNodesThatTurned(t *testing.T) {
	t.Parallel()
	h := append(history{}, checked()[:1]...)
	node := func(at float64, name, ready string) {
		h.show(at, "nodes/"+name, "modified", `{"metadata":{"name":"`+name+`"},"status":{"conditions":[{"type":"Ready","status":"`+ready+`"}]}}`)
	}
	h.at(0.5, "lease-nodes", record.LeaseAges{})
	for i := range 5 {
		node(1, fmt.Sprint("node-", i), "True")
	}
	node(2, "node-4", "False")
	h.step(3, 1, "outage", "cut lease-nodes -> kube-apiserver: drop")
	h[len(h)-1].At = when(3)
	node(5, "node-0", "Unknown")
	node(5.3, "node-1", "Unknown")
	node(7, "node-2", "Unknown")
	result := outcome(reports.Fail)
	result.Checks[0].Expected, result.Checks[0].Observed = `at once: nodes.filter(n, nodes[n].changes.exists(c, c.ready == "Unknown")).size() == 0`, "3"
	c := of(narrate.Input{Events: append(h, checked()[1:]...), Result: result}).Checks[0]
	if cause := strings.Join(append([]string{c.Cause}, c.Because...), " "); !strings.Contains(cause, "2 of 5 nodes became Unknown at 5.0 s, 2.0 s after step 1 (outage: cut lease-nodes -> kube-apiserver: drop); 1 more at 7.0 s.") {
		t.Errorf("the cause is %q", cause)
	}
	want(t, "5.0 2 nodes became Unknown, until 5.3 s\n7.0 1 more became Unknown", texts(c.Seen))
}

// TestTheConfigurationThatMatters: the rig of the plan, and the probes of the container that a
// check names, with fields that the API of today may not have.
func TestTheConfigurationThatMatters(t *testing.T) {
	t.Parallel()
	h := append(history{}, checked()[:1]...)
	h.show(2, "pods/default/web", "added", `{"metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"app","readinessProbe":{"grpc":{"new":"x"}}},{"name":"side","livenessProbe":{"exec":{}}}]}}`)
	result := outcome(reports.Fail)
	result.Checks[0].Expected = `within 1s: pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) == [true]`
	n := of(narrate.Input{Events: append(h, checked()[1:]...), Result: result, Printed: "a/b/c\n\nrig\n  etcd v3.7.0\n  prober {}\n\nsteps\n  1. create\n"})
	want(t, []string{"etcd v3.7.0", "prober {}"}, n.Rig)
	want(t, []narrate.Line{{What: "pods/default/web, container app, readinessProbe", Text: `{"grpc":{"new":"x"}}`}}, n.Checks[0].Probes)
}
