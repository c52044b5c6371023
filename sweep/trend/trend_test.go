package trend_test

import (
	"bytes"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/sweep/sweeptest"
	"github.com/skewrig/skewrig/sweep/trend"
)

// TestCompare: a sweep of a newer release has lost a finding, has a new one, shows one for another field, and reaches another gate.
func TestCompare(t *testing.T) {
	t.Parallel()
	before, after := sweeptest.Swept(), sweeptest.Swept()
	after.Version, after.Gates = "v1.91.0", append(after.Gates[1:], "ZoneMode")
	after.Findings = append(after.Findings[1:], after.NotConfirmed...)
	after.Findings[0].Items[1].Field = "example/v1.Probe.port"
	after.Tried[2].Gate = "NotReached"
	golden.Check(t, "testdata/trend.txt", text(t, trend.Compare("yesterday", "today", before, after)))
}

func TestTheSame(t *testing.T) {
	t.Parallel()
	same := trend.Compare("a", "b", sweeptest.Swept(), sweeptest.Swept())
	if got, want := text(t, same), "From a to b\n\nNothing changed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, s := range diff.Sections() {
		if n := same.Count(s); n != 0 {
			t.Errorf("%s: %d", s, n)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	without, with := sweeptest.Swept(), sweeptest.Swept()
	without.Findings = nil
	if n := trend.Compare("", "", without, with).Count(diff.RegressionsSection); n != 2 {
		t.Errorf("%d regressions, want 2", n)
	}
	if n := trend.Compare("", "", with, without).Count(diff.FixesSection); n != 2 {
		t.Errorf("%d fixes, want 2", n)
	}
}

func text(t *testing.T, of trend.Trend) string {
	t.Helper()
	var b bytes.Buffer
	if err := trend.Text(&b, of); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
