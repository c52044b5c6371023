package record

import "testing"

func TestScaled(t *testing.T) {
	t.Parallel()
	for want, topology := range map[string]Topology{
		"": {TimeScale: 5}, // nothing has times
		"time runs 5 × as fast for the leases of simulated nodes":                                   {TimeScale: 5, LeaseNodes: &LeaseNodes{}},
		"time runs 2.5 × as fast for the node monitor, the leases of simulated nodes, the watchdog": {TimeScale: 2.5, NodeMonitor: NodeMonitor{Grace: 1}, LeaseNodes: &LeaseNodes{}, Garden: &Garden{}},
	} {
		if got := topology.Scaled(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if got := (Topology{LeaseNodes: &LeaseNodes{}}).Scaled(); got != "" {
		t.Errorf("without a scale, it says %q", got)
	}
}
