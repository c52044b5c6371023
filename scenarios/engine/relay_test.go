package engine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/record"
)

// TestACellHearsNothingOfAnEarlierOne: the record of a cell that has the rig
// second begins with what the rig is made of, and has nothing of the first one,
// be it told ever so late.
func TestACellHearsNothingOfAnEarlierOne(t *testing.T) {
	t.Parallel()
	object := func(change, resource, body string) cluster.ObjectObserved {
		return cluster.ObjectObserved{Change: change, Resource: resource, Name: "tls", Object: json.RawMessage(body)}
	}
	var first, second record.History
	r := newRelay(&first)
	r.Append("cluster", "kube-apiserver", cluster.ComponentStarted{Version: "v1.37.1"})
	r.Append("watch", "nodes/node-a", object("added", "nodes", `{"metadata": {"uid": "n"}}`))
	r.Append("watch", "pods/default/tls", object("added", "pods", `{"metadata": {"uid": "p1"}}`))
	r.Append("runtime", "default/tls/app", runtime.ContainerStarted{ID: "c1"})
	r.to(nil)
	r.Append("watch", "pods/default/tls", object("modified", "pods", `{"metadata": {"uid": "p1"}}`))
	r.Append("watch", "pods/default/late", object("added", "pods", `{"metadata": {"uid": "p0"}}`))

	r.expect("p3") // listed, and not told of yet
	r.expect("p9")
	r.to(&second)
	r.Append("watch", "pods/default/listed", object("added", "pods", `{"metadata": {"uid": "p3"}}`))
	r.Append("watch", "pods/default/listed", object("deleted", "pods", `{"metadata": {"uid": "p3"}}`))
	r.Append("watch", "pods/default/gone", object("deleted", "pods", `{"metadata": {"uid": "p9"}}`))
	r.expect("p9") // told of as gone before it was listed
	r.Append("runtime", "default/tls/app", runtime.ContainerExited{ID: "c1"})
	r.Append("watch", "pods/default/tls", object("deleted", "pods", `{"metadata": {"uid": "p1"}}`))
	r.Append("watch", "pods/default/late", object("deleted", "pods", `{"metadata": {"uid": "p0"}}`))
	r.Append("watch", "events/default/tls.1", object("added", "events", `{"metadata": {"uid": "e"}, "involvedObject": {"uid": "p1"}}`))
	r.Append("watch", "pods/default/tls", object("added", "pods", `{"metadata": {"uid": "p2"}}`))
	r.Append("runtime", "default/tls/app", runtime.ContainerStarted{ID: "c2"})

	want := []string{"kube-apiserver", "nodes/node-a", "pods/default/tls", "default/tls/app"}
	for name, h := range map[string]*record.History{"first": &first, "second": &second} {
		var got []string
		for _, e := range h.Events() {
			got = append(got, e.Subject)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the %s cell's record, -want +got:\n%s", name, diff)
		}
	}
	if len(r.live) != 2 {
		t.Errorf("%v is there, want pod p2 and container c2", r.live)
	}
}
