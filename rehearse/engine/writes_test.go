package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
)

func TestWritesThatDoNotEnd(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	of := func(subject string, n int) []record.Event {
		return slices.Repeat([]record.Event{{Kind: record.ObjectObserved{}.EventKind(), Subject: subject}}, n)
	}
	w := newWrites(began)
	if w.areEndless() {
		t.Error("nothing was written")
	}
	w.add(of("widgets/shop/small", law.MaxWrites+1), at(5))
	w.add(of("nodes/node-a", 1), at(5))
	if !w.areEndless() {
		t.Error("one object is written too often")
	}
	w.add(of("pods/shop/web", 1), at(6))
	if w.areEndless() {
		t.Error("a pod is just made")
	}
	w.add(of("widgets/shop/small", 1), at(6+int(still/time.Second)))
	if !w.areEndless() || w.last != at(9) {
		t.Error("the pod is at rest again")
	}
}
