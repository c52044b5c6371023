package narrate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestObjects: those that the scenario made, what is made from them, and what it
// names; without what is noise.
func TestObjects(t *testing.T) {
	t.Parallel()
	var h history
	node := func(version, heartbeat, ready string) string {
		return `{"metadata": {"resourceVersion": "` + version + `"}, "status": {"conditions": [{"type": "Ready", "status": "` + ready + `", "lastHeartbeatTime": "` + heartbeat + `"}]}}`
	}
	// The watch may show an object before the request is answered.
	h.show(0, "deployments/default/web", "added", `{"metadata": {"uid": "d", "managedFields": [1]}, "spec": {"big": 5000000, "part": 0.5, "text": "yes"}}`)
	h.at(1, "create", record.StepStarted{Number: 1, Name: "create"})
	h.at(1, "create", record.APIAnswer{Object: "deployments/default/web", Code: 201, Response: map[string]any{"metadata": map[string]any{"uid": "d"}}})
	h.show(2, "replicasets/default/web-1", "added", `{"metadata": {"uid": "r", "ownerReferences": [{"uid": "d"}]}}`)
	h.show(2, "replicasets/default/other", "added", `{"metadata": {"uid": "o", "ownerReferences": [{"uid": "elsewhere"}]}}`)
	h.at(3, "2", record.StepStarted{Number: 2, Name: "2", Action: `wait up to 1m until objects["nodes/a"].status != 1 && objects["leases/kube-node-lease/a"] != 1`})
	h.show(3, "nodes/a", "added", node("1", "0", "False"))
	h.show(4, "nodes/a", "modified", node("2", "1", "False"))
	h.show(5, "nodes/a", "modified", node("3", "1", "True"))
	h.show(6, "replicasets/default/web-1", "deleted", `{"metadata": {"uid": "r", "ownerReferences": [{"uid": "d"}]}}`)
	h.show(7, "leases/kube-node-lease/a", "added", `{"metadata": {"ownerReferences": [{"uid": "d"}]}}`)
	s := of(narrate.Input{Printed: "p", Events: h})
	want(t, []narrate.Object{
		{Key: "deployments/default/web", Versions: []narrate.Version{
			{At: 0, Change: "added", YAML: "metadata:\n  uid: d\nspec:\n  big: 5000000\n  part: 0.5\n  text: \"yes\"\n"},
		}},
		{Key: "nodes/a", Versions: []narrate.Version{
			{At: 3, Step: 2, Change: "added", YAML: "metadata:\n  resourceVersion: \"1\"\nstatus:\n  conditions:\n  - lastHeartbeatTime: \"0\"\n    status: \"False\"\n    type: Ready\n"},
			{At: 5, Step: 2, Change: "modified", YAML: "metadata:\n  resourceVersion: \"3\"\nstatus:\n  conditions:\n  - lastHeartbeatTime: \"1\"\n    status: \"True\"\n    type: Ready\n"},
		}},
		{Key: "replicasets/default/web-1", Versions: []narrate.Version{
			{At: 2, Step: 1, Change: "added", YAML: "metadata:\n  ownerReferences:\n  - uid: d\n  uid: r\n"}, {At: 6, Step: 2, Change: "deleted"},
		}},
	}, s.Objects)
	if len(s.Omitted) > 0 {
		t.Errorf("left out: %q", s.Omitted)
	}
}

// TestStaticPods checks that the narration has the object that the API server shows of a static pod.
func TestStaticPods(t *testing.T) {
	t.Parallel()
	var h history
	h.at(0, "default/web-a", record.StaticPodWritten{Node: "a"})
	h.show(1, "pods/default/web-a", "added", `{"metadata": {"name": "<script>"}}`)
	s := of(narrate.Input{Events: h})
	if len(s.Objects) != 1 || !strings.Contains(s.Objects[0].Versions[0].YAML, "<script>") {
		t.Errorf("the objects are %+v", s.Objects)
	}
}

// TestObjectsOfAFailureComeFirst: where there is room for few, they are those that stay.
func TestObjectsOfAFailureComeFirst(t *testing.T) {
	t.Parallel()
	var h history
	h.at(1, "create", record.StepStarted{Number: 1, Name: "create"})
	for i := range 30 {
		key := fmt.Sprintf("pods/default/web-%02d", i)
		h.at(1, "create", record.APIAnswer{Object: key, Code: 201})
		h.show(2, key, "added", `{"spec": {"periodSeconds": 7}}`)
	}
	result := reports.Cell{Outcome: reports.ExpectedFail, Checks: []reports.Check{
		{ID: "stays", Outcome: reports.ExpectedFail, Expected: `at once: pods["web-29"].status.phase == "Running"`},
		{ID: "other", Outcome: reports.Pass, Expected: `at once: pods["web-28"].status.phase == "Running"`},
	}}
	s := of(narrate.Input{Result: result, Events: h})
	if len(s.Objects) != 24 || s.Objects[0].Key != "pods/default/web-29" || s.Objects[1].Key != "pods/default/web-00" {
		t.Errorf("there are %d objects, and first %s", len(s.Objects), s.Objects[0].Key)
	}
}
