package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/app/changes"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/changed"
)

// TestStagesGoOnWhereTheyEnded: what ended is known to the next process, what was not judged runs again, and the page is
// there after each stage.
func TestStagesGoOnWhereTheyEnded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "release")
	pair := release.Releases{Newest: "v1.91.0", Previous: "v1.90.1"}
	open := func() *Releasing {
		r, err := OpenReleasing(dir, pair, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{changes.GatesStage, changes.CatalogStage, changes.UpstreamStage} {
			if err := r.Plan(changed.Stage{Name: name, Command: "skewrig " + name}); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	r := open()
	if err := r.Keep(changes.GatesStage, []byte(`{"gates": [{"name": "Gone", "what": "removed", "from": "ga, on"}]}`)); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]int{changes.GatesStage: reports.ExitExpected, changes.UpstreamStage: 3} {
		if err := r.End(name, code, time.Now(), "it is not served"); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := r.Write(); err != nil || d.Exit() != reports.ExitNotJudged {
		t.Errorf("%+v, %v", d, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, ReleasePage))
	if err != nil || !strings.Contains(string(page), "## Gates that are gone: 1") || !strings.Contains(string(page), "it is not served") {
		t.Errorf("the page is\n%s\n%v", page, err)
	}
	r = open()
	if !r.Ended(changes.GatesStage) || r.Ended(changes.CatalogStage) || r.Ended(changes.UpstreamStage) {
		t.Errorf("%+v", r.stages)
	}
	pair.Newest = "v1.92.0"
	if _, err := OpenReleasing(dir, pair, ""); err == nil || !strings.Contains(err.Error(), "is about v1.91.0 since v1.90.1") {
		t.Errorf("a directory of another release: %v", err)
	}
}

// TestClaims: an enhancement is judged for the stage that its gate has in the release.
func TestClaims(t *testing.T) {
	t.Parallel()
	claims, err := Claims("v1.37.0")
	if err != nil || len(claims) != 3 || claims[0] != (Claim{"KEP-4188", "beta"}) || claims[1] != (Claim{"KEP-4939", "alpha"}) {
		t.Errorf("%+v, %v", claims, err)
	}
	if claims, err := Claims("v1.99.0"); err != nil || len(claims) != 0 {
		t.Errorf("a release whose gates are not known: %+v, %v", claims, err)
	}
}
