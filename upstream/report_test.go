package upstream

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadReport(t *testing.T) {
	text, err := os.ReadFile("testdata/ginkgo.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadReport(text)
	if err != nil {
		t.Fatal(err)
	}
	want := Report{
		{
			Name: "[sig-node] Probing pods is restarted [NodeConformance]", Container: "[sig-node] Probing pods",
			Labels: []string{"sig-node", "NodeConformance"}, State: Passed,
			Started: time.Date(2026, 11, 27, 3, 40, 0, 0, time.UTC), Took: 1500 * time.Millisecond,
		},
		{
			Name: "[sig-node] Probing pods with a gate [FeatureGate:NewProbe] is probed", Container: "[sig-node] Probing pods",
			Labels: []string{"sig-node", "FeatureGate:NewProbe", "Alpha"}, State: Failed,
			Message: "expected one restart\nto equal two", Place: "probe.go:42",
			Started: time.Date(2026, 11, 27, 3, 41, 0, 0, time.UTC), Took: 2 * time.Second,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if _, err := ReadReport([]byte("{}")); err == nil {
		t.Error("an object is read as a report")
	}
}
