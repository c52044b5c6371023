package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatIsSaidOfADistinction is all that was seen in either cell, one by one.
func TestWhatIsSaidOfADistinction(t *testing.T) {
	t.Parallel()
	here := Then(Then("", "exited with 128"), "exited with 137")
	got := Distinction{Here: here, There: "exited with 0"}.Said()
	if diff := cmp.Diff([]string{"exited with 128", "exited with 137", "exited with 0"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Distinction{}).Said(); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}
