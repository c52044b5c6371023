package narrate

import (
	"net/http"
	"testing"

	"github.com/skewrig/skewrig/record"
)

// TestAgesOfLeases checks that the ages of leases are given by both clocks, as of the last list that
// the watchdog read.
func TestAgesOfLeases(t *testing.T) {
	t.Parallel()
	ages := func(name string, points ...[2]float64) Lane {
		return Lane{Name: name, Kind: Leases, Series: []Series{{Label: "oldest", Points: points}}}
	}
	own := ages("zone-a", [2]float64{1, 2}, [2]float64{9, 3})
	if got := (failedCheck{lanes: []Lane{own, ages(readRow, [2]float64{1, 10}, [2]float64{9, 11})}}).ages(5); got != "; the oldest was renewed 2.0 s before, and the watchdog read 10.0 s" {
		t.Errorf("it says %q", got)
	}
	if got := (failedCheck{lanes: []Lane{own}}).ages(5); got != "" {
		t.Errorf("with right clocks it says %q", got)
	}
}

// TestAFailedScaling says whose request failed, and with which code.
func TestAFailedScaling(t *testing.T) {
	t.Parallel()
	var w watchdog
	w.scale(record.LinkRequest{Method: http.MethodPut, Path: "/apis/apps/v1/namespaces/shoot/deployments/kcm/scale", Code: http.StatusConflict}, 3)
	if got := w.scaled.all[0].Marks[0].Label; got != "the watchdog's request to scale it failed: 409 Conflict" {
		t.Errorf("it says %q", got)
	}
}
