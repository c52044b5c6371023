package cluster

import (
	"testing"

	"github.com/skewrig/skewrig/record"
)

// TestSocketRoom: the directory of a rig with longer names of nodes has a shorter one.
func TestSocketRoom(t *testing.T) {
	t.Parallel()
	nodes := []record.Node{{Name: "a"}, {Name: "kind-control-plane"}, {Name: "node-b"}}
	if got, want := socketRoom(nodes), len("/nodes/kind-control-plane/state/device-plugins/kubelet.sock"); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got := socketRoom(nil); got != 0 {
		t.Errorf("%d bytes without a node", got)
	}
}
