package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

// TestACellHearsNothingOfAnEarlierOne: the record of a cell that has the rig
// second begins with what the rig is made of, and has nothing of the first one,
// be it told ever so late.
func TestACellHearsNothingOfAnEarlierOne(t *testing.T) {
	t.Parallel()
	object := func(change, resource, body string) record.ObjectObserved {
		return record.ObjectObserved{Change: change, Resource: resource, Name: "tls", Object: json.RawMessage(body)}
	}
	var first, second record.History
	r := newRelay(&first)
	r.Append("cluster", "kube-apiserver", record.ComponentStarted{Version: "v1.90.1"})
	r.Append("watch", "nodes/node-a", object("added", "nodes", `{"metadata": {"uid": "n"}}`))
	r.Append("watch", "pods/default/tls", object("added", "pods", `{"metadata": {"uid": "p1"}}`))
	r.Append("runtime", "default/tls/app", record.ContainerStarted{ID: "c1"})
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
	r.Append("runtime", "default/tls/app", record.ContainerExited{ID: "c1"})
	r.Append("watch", "pods/default/tls", object("deleted", "pods", `{"metadata": {"uid": "p1"}}`))
	r.Append("watch", "pods/default/late", object("deleted", "pods", `{"metadata": {"uid": "p0"}}`))
	r.Append("watch", "events/default/tls.1", object("added", "events", `{"metadata": {"uid": "e"}, "involvedObject": {"uid": "p1"}}`))
	r.Append("watch", "pods/default/tls", object("added", "pods", `{"metadata": {"uid": "p2"}}`))
	r.Append("runtime", "default/tls/app", record.ContainerStarted{ID: "c2"})

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

// TestASweepSeesWhatIsMadeMeanwhile: what a controller makes after a sweep has
// listed its objects is a reason to list them again.
func TestASweepSeesWhatIsMadeMeanwhile(t *testing.T) {
	t.Parallel()
	pod := func(change, uid string) record.ObjectObserved {
		return record.ObjectObserved{Change: change, Resource: "pods", Object: json.RawMessage(`{"metadata": {"uid": "` + uid + `"}}`)}
	}
	r := newRelay(new(record.History))
	r.Append("watch", "pods/default/a", pod("added", "a"))
	r.to(nil)
	r.sweepBegins()
	r.expect("a")
	r.Append("watch", "pods/default/b", pod("added", "b"))
	if empty, err := r.awaitEmpty(t.Context()); empty || err != nil {
		t.Fatalf("empty is %t (%v), but b was made", empty, err)
	}
	r.sweepBegins()
	r.Append("watch", "pods/default/a", pod("deleted", "a"))
	r.Append("watch", "pods/default/b", pod("deleted", "b"))
	if empty, err := r.awaitEmpty(t.Context()); !empty || err != nil {
		t.Errorf("empty is %t (%v), and nothing is left", empty, err)
	}
	r.expect("c")
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("too long"))
	if _, err := r.awaitEmpty(over); err == nil || !strings.Contains(err.Error(), "1 objects or containers are left: too long") {
		t.Errorf("%v, want c to be told of", err)
	}
}
