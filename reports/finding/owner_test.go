package finding_test

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
)

func TestOwner(t *testing.T) {
	t.Parallel()
	const (
		node    = "https://github.com/kubernetes/enhancements/blob/64765b4/keps/sig-node/4188-kubelet-pod-readiness-api/README.md"
		machine = "https://github.com/kubernetes/enhancements/blob/64765b4/keps/sig-api-machinery/1-x/README.md"
		apps    = "https://github.com/kubernetes/kubernetes/blob/v1.90.1/pkg/controller/deployment/util/deployment_util.go#L629"
		garden  = "https://github.com/gardener/dependency-watchdog/blob/v1.8.0/internal/prober/prober.go#L274"
	)
	for _, test := range []struct {
		class        reports.Class
		document, at string
		want         string
	}{
		{reports.Outrun, node, apps, "SIG Node"},
		{reports.Contradiction, machine, "", "SIG API Machinery"},
		{reports.Defect, node, apps, "SIG Apps"},
		{reports.KnownBug, "", garden, "Gardener"},
		{reports.Unlisted, node, "", "SIG Node"},
		{reports.Outrun, "a-draft.md", apps, "SIG Apps"},
		{reports.Defect, "a-draft.md", "https://example.com/x.go", ""},
	} {
		f := finding.Finding{Finding: reports.Finding{Class: test.class}, Statement: finding.Statement{Document: test.document}}
		if test.at != "" {
			f.At = []string{test.at}
		}
		if got := f.Owner(); got != test.want {
			t.Errorf("%s of %s at %s is owned by %q, want %q", test.class, test.document, test.at, got, test.want)
		}
	}
}
