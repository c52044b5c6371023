package engine

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestACellWithLeasesHasAPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cell := plan.Cell{ID: "dwd/outage/small/watchdog:v1.8.0", Title: "A small outage"}
	file := filepath.Join(CellDir(dir, cell.ID), leasesFile)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	history := record.NewHistory(nil)
	if pictures, err := draw(dir, cell, history.Events()); err != nil || pictures != nil {
		t.Errorf("a cell without leases has pictures %q (%v)", pictures, err)
	}
	history.Append("lease-nodes", "lease-nodes", record.LeaseAges{Zones: []record.ZoneAges{{Nodes: 1, Oldest: 3}}})
	for range 2 { // the second time replaces the picture of the first
		pictures, err := draw(dir, cell, history.Events())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"cells/dwd/outage/small/watchdog:v1.8.0/leases.svg"}, pictures); diff != "" {
			t.Errorf("pictures (-want +got):\n%s", diff)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var svg struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Title   string   `xml:"title"`
	}
	if err := xml.Unmarshal(content, &svg); err != nil || svg.Title != cell.Title {
		t.Errorf("the picture is of %q: %v", svg.Title, err)
	}
	if _, err := draw(filepath.Join(dir, "gone"), cell, history.Events()); err == nil {
		t.Error("a picture that can't be written is no error")
	}
}
