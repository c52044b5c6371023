package expr

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

func pod(namespace, name, phase string) json.RawMessage {
	const form = `{"metadata": {"namespace": %q, "name": %q}, "status": {"phase": %q}}`
	return json.RawMessage(fmt.Sprintf(form, namespace, name, phase))
}

func TestExpressionsSeeAgents(t *testing.T) {
	t.Parallel()
	s := timeline.New()
	web, other := pod("default", "web", "Running"), pod("other", "web", "Pending")
	for _, e := range []record.Event{
		event(0, "", record.CellEnded{}),
		event(1, "all", record.PodsAnswer{Method: "ListPods", Code: "OK", List: []json.RawMessage{other, web}, Bytes: 7, Socket: record.PodsSocket{Path: "p"}}),
		event(2, "many", record.PodsAnswer{Method: "ListPods", Code: "OK", List: []json.RawMessage{web}}),
		event(2, "many", record.PodsAnswer{Method: "ListPods", Code: "ResourceExhausted", List: []json.RawMessage{}}),
		event(2, "many", record.PodsAnswer{Method: "ListPods", Code: "ResourceExhausted", Message: "later", List: []json.RawMessage{}}),
		event(3, "watch", record.PodsEvent{Type: "ADDED", Pod: web}),
		event(3, "watch", record.PodsEvent{Type: "INITIAL_SYNC_COMPLETE"}),
		event(4, "watch", record.PodsEvent{Type: "ADDED", Pod: other}),
		event(5, "watch", record.PodsEvent{Type: "MODIFIED", Pod: pod("default", "web", "Failed")}),
		event(6, "watch", record.PodsEvent{Type: "DELETED", Pod: other}),
		event(6, "masked", record.PodsEvent{Type: "ADDED", Pod: pod("", "web", "")}),
		event(7, "open", record.PodsEvent{Type: "ADDED", Pod: json.RawMessage(`{"` + client.Unreadable + `": "garbage"}`)}),
		event(8, "watch", record.PodsEnded{Code: "Unavailable", Message: "gone"}),
		event(9, "poll", record.PodsPolled{PodsAnswer: record.PodsAnswer{Method: "ListPods", Code: "Unavailable", List: []json.RawMessage{}}}),
		event(10, "poll", record.PodsPolled{PodsAnswer: record.PodsAnswer{Method: "ListPods", Code: "OK", List: []json.RawMessage{web}}}),
		event(11, "poll", record.PodsEnded{Code: "Canceled", Calls: map[string]int{"OK": 9, "Unavailable": 2}}),
		event(11, "before", record.StepStarted{Name: "before"}),
		event(11, "kubelet/node-a", record.Scraped{Metrics: map[string][]record.Sample{"n": {{Value: 1}}}}),
		event(12, "after", record.StepStarted{Name: "after"}),
		event(12, "kubelet/node-a", record.Scraped{Metrics: map[string][]record.Sample{"n": {{Value: 3}}}}),
		event(12, "log", record.LogRead{Lines: []string{"a", "b"}}),
		event(13, "node", record.SocketsRead{Sockets: []record.Socket{{Local: "127.9.0.1:10250", Remote: "0.0.0.0:0", State: "LISTEN"}}}),
		event(13, "discovery", record.APIAnswer{Path: "/api/v1", Code: 200, Bytes: 2, Response: []any{"pods"}}),
		event(13, "etcd", record.StoredRead{Encoding: "protobuf", Bytes: 9, Fields: []record.StoredField{
			{Path: "1", Wire: "bytes"}, {Path: "1.2", Wire: "varint", Value: 7}, {Path: "1.3", Wire: "bytes", Value: "TLS"},
		}}),
	} {
		if s.Add(e); !visible[e.Kind] && e.Kind != (record.CellEnded{}).EventKind() && e.Kind != (record.StepStarted{}).EventKind() {
			t.Errorf("%s makes no difference", e.Kind)
		}
	}
	for expression, want := range map[string]string{
		`[podsAPI["all"].code, podsAPI["all"].socket.path]`:                                         `["OK","p"]`,
		`scrapes["after"]["n"][0].value - scrapes["before"]["n"][0].value`:                          `2`,
		`podsAPI["all"].pods["other/web"].status.phase`:                                             `"Pending"`,
		`podsAPI["all"].list.map(p, p.metadata.namespace)`:                                          `["other","default"]`,
		`podsAPI["many"].codes`:                                                                     `{"OK":1,"ResourceExhausted":2}`,
		`podsAPI["many"].message`:                                                                   `"later"`,
		`watches["masked"].pods.map(p, p)`:                                                          `["web"]`,
		`watches["watch"].pods.map(p, p)`:                                                           `["web"]`,
		`watches["watch"].pods["web"].status.phase`:                                                 `"Failed"`,
		`watches["watch"].events.map(e, e.type + " " + e.name)`:                                     `["ADDED web","INITIAL_SYNC_COMPLETE ","ADDED other/web","MODIFIED web","DELETED other/web"]`,
		`[watches["watch"].synced, watches["open"].synced]`:                                         `[true,false]`,
		`[watches["watch"].code, watches["open"].code]`:                                             `["Unavailable",""]`,
		`polls["poll"].views.map(v, [v.code, string(v.list.size())])`:                               `[["Unavailable","0"],["OK","1"]]`,
		`polls["poll"].views[1].at`:                                                                 `10`,
		`polls["poll"].codes["OK"]`:                                                                 `9`,
		`logs["log"].size()`:                                                                        `2`,
		`[requests["discovery"].response, requests["discovery"].code]`:                              `[["pods"],200]`,
		`[requests["discovery"].?message.orValue("none"), requests["discovery"].?path.orValue("")]`: `["none","/api/v1"]`,
		`sockets["node"].filter(s, s.state == "LISTEN").map(s, s.local)`:                            `["127.9.0.1:10250"]`,
		`stored["etcd"].bytes`:                                                                      `9`,
		`stored["etcd"].fields.exists(f, f.value == "TLS")`:                                         `true`,
		`stored["etcd"].fields.filter(f, has(f.value) && f.wire == "varint").map(f, f.value)`:       `[7]`,
	} {
		program, _, err := Compile(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		value, _, err := program.Eval(Vars(s))
		if err != nil || JSON(value) != want {
			t.Errorf("%s is %v, want %s: %v", expression, value, want, err)
		}
	}
}
