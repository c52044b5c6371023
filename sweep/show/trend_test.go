package show_test

import (
	"bytes"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/sweep/show"
)

// TestCompare: a sweep of a newer release has lost a finding, has a new one, shows one for another field, and reaches another gate.
func TestCompare(t *testing.T) {
	t.Parallel()
	before, after := swept(t), swept(t)
	after.Version, after.Gates = "v1.91.0", append(after.Gates[1:], "ZoneMode")
	after.Findings = append(after.Findings[1:], after.NotConfirmed...)
	after.Findings[0].Items[1].Field = "example/v1.Probe.port"
	after.Tried[2].Gate = "NotReached"
	golden.Check(t, "testdata/trend.txt", textOf(t, show.Compare("yesterday", "today", before, after)))
}

func TestCompareTheSame(t *testing.T) {
	t.Parallel()
	same := show.Compare("a", "b", swept(t), swept(t))
	if got, want := textOf(t, same), "From a to b\n\nNothing changed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, s := range diff.Sections() {
		if n := same.Count(s); n != 0 {
			t.Errorf("%s: %d", s, n)
		}
	}
}

func TestTrendCount(t *testing.T) {
	t.Parallel()
	without, with := swept(t), swept(t)
	without.Findings = nil
	if n := show.Compare("", "", without, with).Count(diff.RegressionsSection); n != 2 {
		t.Errorf("%d regressions, want 2", n)
	}
	if n := show.Compare("", "", with, without).Count(diff.FixesSection); n != 2 {
		t.Errorf("%d fixes, want 2", n)
	}
}

func textOf(t *testing.T, of show.Trend) string {
	t.Helper()
	var b bytes.Buffer
	if err := of.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
