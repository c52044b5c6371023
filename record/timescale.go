package record

import (
	"fmt"
	"strings"
)

// Scaled says for what time runs faster in the rig than the scenario is written. It is empty
// if it does for nothing.
func (t Topology) Scaled() string {
	if t.TimeScale == 0 || t.TimeScale == 1 {
		return ""
	}
	var parts []string
	for _, part := range []struct {
		has  bool
		name string
	}{
		{t.NodeMonitor != NodeMonitor{}, "the node monitor"}, {t.LeaseNodes != nil, "the leases of simulated nodes"}, {t.Garden != nil, "the watchdog"},
	} {
		if part.has {
			parts = append(parts, part.name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("time runs %v × as fast for %s", t.TimeScale, strings.Join(parts, ", "))
}
