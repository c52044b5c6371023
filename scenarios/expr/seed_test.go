package expr

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// event is something that happens some seconds after the record began.
func event(after float64, subject string, payload record.Payload) record.Event {
	data, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(after * float64(time.Second)))
	return record.Event{At: at, Kind: payload.EventKind(), Subject: subject, Data: data}
}

func observed(in, change, resource, name, object string) record.ObjectObserved {
	return record.ObjectObserved{Cluster: in, Change: change, Resource: resource, Name: name, Object: json.RawMessage(object)}
}

func nodeIs(ready string) string {
	return fmt.Sprintf(`{"metadata": {"labels": {"topology.kubernetes.io/zone": "a"}}, "status": {"conditions": [{"type": "Ready", "status": %q}]}}`, ready)
}

func TestExpressionsSeeARigWithASeed(t *testing.T) {
	t.Parallel()
	const kcm = "seed/deployments/shoot/kcm"
	s := timeline.New()
	for _, e := range []record.Event{
		event(0, "", record.CellEnded{}),
		event(1, "nodes/node-0", observed("", "added", "nodes", "node-0", nodeIs("True"))),
		event(2, "nodes/node-0", observed("", "modified", "nodes", "node-0", nodeIs("True"))),
		event(3, "outage", record.StepStarted{Number: 1}),
		event(4.25, "nodes/node-0", observed("", "modified", "nodes", "node-0", nodeIs("Unknown"))),
		event(5, "nodes/node-1", observed("", "added", "nodes", "node-1", nodeIs("True"))),
		event(6, "nodes/node-1", observed("", "deleted", "nodes", "node-1", nodeIs("True"))),
		// Nodes of the seed, and Deployments of the shoot, are others.
		event(6, "seed/nodes/node-2", observed("seed", "added", "nodes", "node-2", nodeIs("True"))),
		event(6, "deployments/default/web", observed("", "added", "deployments", "web", `{"spec": {"replicas": 4}}`)),
		event(7, kcm, observed("seed", "added", "deployments", "kcm", `{"spec": {"replicas": 2}}`)),
		event(8, kcm, observed("seed", "modified", "deployments", "kcm", `{"metadata": {"annotations": {"x": "2"}}, "spec": {"replicas": 2}}`)),
		event(9.5, kcm, observed("seed", "modified", "deployments", "kcm", `{"metadata": {"annotations": {"x": "2"}}, "spec": {"replicas": 0}}`)),
		event(10, "dwd->kube-apiserver", record.LinkRequest{Method: "GET", Path: "/version", Code: 429, Answered: true}),
		event(11, "dwd->kube-apiserver", record.LinkRequest{Method: "GET", Path: "/leases", Error: "refused"}),
		event(11, "kubelet/node-a", record.ComponentStarted{ReadySeconds: 2.5}),
		event(12, "default/web/app", record.Connection{Opened: event(11.5, "", record.CellEnded{}).At}),
		event(12, "lease-nodes", record.LeaseAges{Zones: []record.ZoneAges{{Zone: "a", Nodes: 2, Median: 1.5}, {Nodes: 1}}}),
	} {
		s.Add(e)
	}
	evaluates(t, s, map[string]string{
		`since`:                               "3",
		`nodes`:                               `{"node-0":{"changes":[{"at":1,"ready":"True"},{"at":4.25,"ready":"Unknown"}],"events":[],"ready":"Unknown","zone":"a"}}`,
		`dependents`:                          `{"kcm":{"annotations":{"x":"2"},"replicas":0,"scaled":[{"at":7,"replicas":2},{"at":9.5,"replicas":0}]}}`,
		`calls["dwd->kube-apiserver"].size()`: "2",
		`calls["dwd->kube-apiserver"][0]`:     `{"answered":true,"at":10,"code":429,"lost":false,"method":"GET","path":"/version"}`,
		`calls["dwd->kube-apiserver"][1].code == 0 && !calls["dwd->kube-apiserver"][1].answered`: "true",
		`components["kubelet/node-a"].at`:                      "8.5",
		`connections["web/app"].filter(c, c.at > since)[0].at`: "11.5",
		`leases["lease-nodes/a"].median`:                       "1.5",
		`leases["lease-nodes"].nodes`:                          "1",
		`objects["` + kcm + `"].spec.replicas`:                 "0",
		`history["` + kcm + `"].size()`:                        "3",
	})
}
