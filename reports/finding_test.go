package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAReportHasTheFindingsThatItsChecksNameByWeight(t *testing.T) {
	t.Parallel()
	findings := []Finding{
		{ID: "bug", Class: KnownBug, Rank: 1}, {ID: "outrun", Class: Outrun, Rank: 2}, {ID: "late", Class: Defect, Rank: 3},
		{ID: "late", Class: Defect, Rank: 3}, {ID: "worse", Class: Defect, Rank: 1}, {ID: "unseen", Class: Defect, Rank: 2},
	}
	r := Report{Cells: []Cell{{Checks: []Check{{}, {Finding: "late"}, {Finding: "bug"}}}, {Checks: []Check{{Finding: "outrun"}, {Finding: "worse"}}}}}
	var got []string
	for _, f := range r.Explained(findings).Findings {
		got = append(got, f.ID)
	}
	if diff := cmp.Diff([]string{"worse", "late", "outrun", "bug"}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestTheScriptHasWhatItNeedsFirst. Without the part that shows the finding, there is no script.
func TestTheScriptHasWhatItNeedsFirst(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]Finding{
		"":                       {Preparation: "cluster() { true; }"},
		"true":                   {Without: "true"},
		"c() { true; }\ncluster": {Preparation: "c() { true; }", Without: "cluster"},
	} {
		if got := f.Script(); got != want {
			t.Errorf("the script is %q, want %q", got, want)
		}
	}
}
