package provider

import (
	"errors"
	"testing"
	"time"

	"github.com/skewrig/skewrig/record"
)

// TestALossThatLasts is in the record of each cell, also of one that comes later; one that is over is not.
func TestALossThatLasts(t *testing.T) {
	t.Parallel()
	lost := record.Losing(time.Now(), errors.New("a watch broke"), record.ObjectObserved{})
	noOwner := func(string, record.Payload) string { return "" }
	for name, r := range map[string]*Router{
		"all":         {Owner: noOwner},
		"losses only": {Owner: noOwner, Drops: func(p record.Payload) bool { _, is := p.(record.ObservationLost); return !is }},
	} {
		var cells [3]record.History
		r.Join("-skw0001", &cells[0], nil)
		r.Append("watch", "pods", lost)
		r.Append("cluster", "kubelet/node-a", record.ComponentStarted{})
		r.Join("-skw0002", &cells[1], nil)
		r.Append("watch", "pods", lost.Over())
		r.Join("-skw0003", &cells[2], nil)
		want := [3]int{2, 2, 0}
		if r.Drops == nil {
			want = [3]int{3, 3, 1} // the component, too
		}
		for i, want := range want {
			if got := len(cells[i].Events()); got != want {
				t.Errorf("%s: cell %d has %d events, want %d", name, i+1, got, want)
			}
		}
	}
}
