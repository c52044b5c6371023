package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorstCasesCountWhatEverySupportedCellProves(t *testing.T) {
	t.Parallel()
	cell := func(apiserver, kubelet string, outcomes ...Outcome) Cell {
		c := Cell{ID: "kep-1/a/b/apiserver:" + apiserver + "/kubelet:" + kubelet, Axes: map[string]string{"apiserver": apiserver, "kubelet": kubelet}}
		for i, o := range outcomes {
			c.Checks = append(c.Checks, Check{ID: string(rune('a' + i)), Requirement: "KEP-1/" + string(rune('a'+i)), Outcome: o})
		}
		return c
	}
	q := func(id string) Requirement { return Requirement{ID: "KEP-1/" + id, KEP: "KEP-1"} }
	excluded := q("d")
	excluded.Excluded = "no check can prove it"
	r, err := Assemble([]Cell{
		cell("v1.90.1", "v1.90.1", Pass, Pass, Pass),
		cell("v1.90.1", "v1.89.3", Pass, ExpectedFail, NotTestable),
		cell("v1.89.3", "v1.89.3", Pass, Pass),
		cell("v1.89.3", "v1.90.1", Fail, Fail),      // newer than its API server
		cell("v1.90.1", "v1.86.0", Fail, Fail),      // too old
		cell("v1.90.1", "reference", Fail, Unknown), // no release
	}, []Requirement{q("a"), q("b"), q("c"), excluded, q("e"), {ID: "KEP-2/a", KEP: "KEP-2"}}, Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	skewed := []string{"kep-1/a/b/apiserver:v1.90.1/kubelet:v1.89.3"}
	want := []WorstCase{
		{KEP: "KEP-1", Proved: 1, Of: 4, Lacking: skewed, Untested: []string{"KEP-1/e"}},
		{KEP: "KEP-1", Release: "v1.89.3", Proved: 2, Of: 2},
		{KEP: "KEP-1", Release: "v1.90.1", Proved: 1, Of: 3, Lacking: skewed},
	}
	if diff := cmp.Diff(want, WorstCases(r)); diff != "" {
		t.Errorf("worst cases (-want +got):\n%s", diff)
	}
}
