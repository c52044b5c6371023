package diff_test

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

// TestAcrossAnAxis: in one report of two kubelets, what passes with one and fails with the other is a regression.
func TestAcrossAnAxis(t *testing.T) {
	t.Parallel()
	both := report(t,
		cell("x/a/kubelet:v1.90.1/gate:on", reports.Pass), cell("x/a/kubelet:v1.89.3/gate:on", reports.Fail),
		cell("x/b/kubelet:v1.90.1", reports.Pass), cell("x/b/kubelet:v1.89.3", reports.Pass),
		cell("x/c/kubelet:v1.90.1", reports.Pass), cell("x/d", reports.Pass),
	)
	across, err := diff.ParseAcross("kubelet=v1.90.1,v1.89.3")
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := across.Reports(both, both)
	if err != nil {
		t.Fatal(err)
	}
	d := diff.Compare(from, to, diff.Options{})
	if len(d.Regressions) != 1 || d.Regressions[0].ID != "x/a/gate:on" {
		t.Errorf("regressions: %+v", d.Regressions)
	}
	if len(d.Gone) != 1 || d.Gone[0].ID != "x/c" || len(d.New)+len(d.Fixes)+len(d.Changed) > 0 {
		t.Errorf("the rest: %+v", d)
	}
	if both.Cells[0].ID == from.Cells[0].ID {
		t.Error("the report itself was changed, or nothing was")
	}
}

func TestAcrossIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "kubelet", "kubelet=v1.90.1", "kubelet=v1.90.1,", "=a,b", "kubelet=a,a"} {
		if _, err := diff.ParseAcross(text); err == nil || !strings.Contains(err.Error(), "AXIS=BEFORE,AFTER") {
			t.Errorf("%q: error %v", text, err)
		}
	}
	one := report(t, cell("x/a/kubelet:v1.90.1", reports.Pass), cell("x/b", reports.Pass))
	const want = "after: no cell has kubelet:previous; its values here are none, v1.90.1"
	if _, _, err := (diff.Across{Axis: "kubelet", Before: "v1.90.1", After: "previous"}).Reports(one, one); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
