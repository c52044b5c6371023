package reports

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestTheReferenceIsCountedApart(t *testing.T) {
	cells := []Cell{
		{ID: "a/b/kubelet:v1.2.3", Axes: map[string]string{"kubelet": "v1.2.3"}, Outcome: Pass},
		{ID: "a/b/kubelet:reference", Axes: map[string]string{"kubelet": "reference"}, Outcome: Pass},
		{ID: "a/c", Reference: true, Outcome: Fail},
	}
	s := Summarize(cells)
	if s.Cells != 1 || s.Outcomes[Pass] != 1 || s.Outcomes[Fail] != 0 {
		t.Errorf("of releases there are %+v", s)
	}
	if want := (ReferenceSummary{Cells: 2, Expected: 1}); s.Reference != want {
		t.Errorf("of the reference there are %+v, want %+v", s.Reference, want)
	}
}

func TestAReportThatCountsTheReferenceWithReleasesIsRead(t *testing.T) {
	cell := Cell{ID: "a/b/kubelet:reference", Axes: map[string]string{"kubelet": "reference"}, Checks: []Check{{ID: "c", Outcome: Pass}}}
	r, err := Assemble([]Cell{cell}, nil, Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	apart := r.Summary
	for _, test := range []struct {
		cells int
		read  bool
	}{{1, true}, {2, false}} {
		r.Summary = Summary{Cells: test.cells, Outcomes: Summarize(nil).Outcomes}
		r.Summary.Outcomes[Pass] = test.cells
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(text))
		if (err == nil) != test.read {
			t.Errorf("a summary of %d cells: %v", test.cells, err)
		}
		if err == nil && got.Summary.Reference != apart.Reference {
			t.Errorf("read as %+v, want %+v", got.Summary, apart)
		}
	}
}
