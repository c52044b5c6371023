package render_test

import (
	"bytes"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/render"
)

// TestADraftHasWhatTheRunObserved of a finding that was recorded before.
func TestADraftHasWhatTheRunObserved(t *testing.T) {
	t.Parallel()
	f := finding.Finding{Finding: reports.Finding{ID: "late", Class: reports.Defect, Headline: "Watches are late", Instead: "a watch waits"}, Shown: finding.Shown{
		Cell: "kep-1/a/b/kubelet:v1.90.1", Check: "late", Cause: "The watch *sent* it after 1 s.", Because: []string{"12 of 12 attempts failed by 13.9 s, 18 of 18 by the end."},
		Led: []finding.Moment{{At: 5.3, Text: "step 3 (gate off): restart kube-apiserver with G=false"}}, Controls: []reports.Check{{ID: "in-time", Expected: "at once: true", Observed: "true"}}, More: 1,
		Config: []string{"kubelet/node-a v1.90.1 with X=true", "prober {}"}, Fake: "The kubelets had a fake container runtime.", NotRun: []string{"v1.32"}, Cells: 1, Values: []string{"kubelet v1.90.1"},
	}}
	var got bytes.Buffer
	if err := render.Issue(&got, reports.Report{}, f); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/observed.md", got.String())
}
