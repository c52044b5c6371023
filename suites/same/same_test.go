// Package same shows that a change of the code changes no plan and no verdict: `make same`.
package same

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

var saved = flag.String("saved", "", "the report directory of a saved run to judge again")

// TestPlans compares the plan of each cell of the catalog, as plan.json and as text, with what it
// was. The table has digests: for the difference, print the plan of a cell at both commits.
func TestPlans(t *testing.T) {
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, cell := range cells {
		stored, err := plan.Stored(cell)
		if err != nil {
			t.Fatal(err)
		}
		var data bytes.Buffer
		if err := stored.Write(&data); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "%s\t%s\t%s\n", cell.ID, digest(data.Bytes()), digest([]byte(plan.Print(cell))))
	}
	golden.Check(t, filepath.Join("testdata", "plans.tsv"), table.String())
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:16] }

// judged is what judging a saved cell gives.
type judged struct {
	Cell      reports.Cell
	Narration *narrate.Narration
}

// TestVerdicts judges a saved run again, and compares the cells of the report and the narrations of
// its page with those of the first time, which are below the saved run in "judged". With -update,
// or if there are none, it writes them.
func TestVerdicts(t *testing.T) {
	if *saved == "" {
		t.Skip("needs a saved run: -saved=DIR")
	}
	here, err := app.Here()
	if err != nil {
		t.Fatal(err)
	}
	report, err := here.Judge(t.Context(), *saved, nil, app.Place{Dir: filepath.Join(t.TempDir(), "judged")})
	if err != nil {
		t.Fatal(err)
	}
	page := app.Page(t.Context(), *saved, report)
	for _, cell := range report.Cells {
		narration, err := page.Narration(cell, cell.WorstRun(), 1<<20)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := json.MarshalIndent(judged{cell, narration}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		compare(t, filepath.Join(*saved, "judged", filepath.FromSlash(cell.ID)+".json"), string(got))
	}
	t.Logf("%d cells were judged again", len(report.Cells))
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if golden.Update() || os.IsNotExist(err) {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, file, got)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
