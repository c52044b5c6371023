package app

import (
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
)

// TestListFor: a deviation belongs to the list that the run was given, or to that of the
// catalog that its cell is of.
func TestListFor(t *testing.T) {
	ours, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ more, command, scenario, want string }{
		{"", "skewrig run x --known-deviations k.yaml", ours.BuiltIn[0].Scenario, "k.yaml"},
		{"", "skewrig run", ours.BuiltIn[0].Scenario, "scenarios/catalog/known-deviations.yaml of skewrig, or a file that --known-deviations names"},
		{"", "skewrig run", "mine/pods/web", "a file that skewrig.yaml names under knownDeviations"},
		{"knownDeviations: [known.yaml]\n", "skewrig run", "mine/pods/web", "known.yaml, which skewrig.yaml names"},
		{"", "skewrig run other.yaml", "mine/pods/other", "a file that --known-deviations names"},
	} {
		ownCatalogIn(t, c.more)
		golden.Write(t, "../known.yaml", "apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\ndeviations:\n- {cells: mine/**, checks: up, reason: it is slow, link: \"https://example.com/1\"}\n")
		if got := listFor(reports.Reproduce{Command: c.command})(reports.Cell{Scenario: c.scenario}); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.command, c.scenario, got, c.want)
		}
	}
}
