package narrate

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
)

// TestTheEventOfARedirect: an event that says whose attempt it was leaves it said that a
// redirect led there.
func TestTheEventOfARedirect(t *testing.T) {
	t.Parallel()
	probe := func(container string) reports.Probe {
		return reports.Probe{Container: "default/web/" + container, Name: "readiness", What: "httpGet :8080"}
	}
	a := attempt{
		unclear: true, probes: []reports.Probe{probe("one"), probe("other")}, hop: afterRedirect + " to :8443",
		Attempt: Attempt{Container: "default/web/server", By: "one of: one, other" + afterRedirect + " to :8443"},
	}
	a.failedBy(probeFailure{pod: "default/web", container: "default/web/one", probe: "readiness"}, Line{})
	if want := "readiness of one httpGet :8080" + afterRedirect + " to :8443"; a.By != want || a.unclear || a.Tone != Bad {
		t.Errorf("made by %q, unclear %v, tone %q, want %q", a.By, a.unclear, a.Tone, want)
	}
}
