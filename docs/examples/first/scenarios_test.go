package first

import (
	"testing"

	"github.com/skewrig/skewrig/skewtest"
)

func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components")
	}
	skewtest.Scenarios{
		Files:           []string{"../payments/older-kubelet.yaml", "../payments/upgrade.yaml"},
		KnownDeviations: "../payments/known-deviations.yaml",
	}.Run(t)
}
