package soak

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/app"
)

var rounds = flag.Int("rounds", 3, "how often cells run each way")

// TestIsolation runs the cells each alone, beside each other, and beside each other in random
// orders. All come to the same, in each check. With -report it goes on where it was broken off:
// whole reports of the same program and cells are not made again. It logs a digest of what each
// run comes to, by which runs on several machines can be compared.
func TestIsolation(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components for hours: left out of -short")
	}
	skewrig, dir := compiled(t), *report
	if dir == "" {
		dir = t.TempDir()
	}
	version, ids, first := versionOf(t, skewrig), cells(t), ""
	for i := range *rounds {
		for _, way := range []struct {
			name string
			args []string
		}{{"alone", []string{"--isolate"}}, {"shared", nil}, {"shuffled", []string{"--shuffle"}}} {
			to := filepath.Join(dir, fmt.Sprintf("%s-%d", way.name, i+1))
			args := append([]string{"run", "--report-dir", to, "--force", "--github", "never"}, way.args...)
			if isWhole(to, version, ids) {
				t.Logf("%s is there", to)
			} else {
				began := time.Now()
				run(t, exec.CommandContext(t.Context(), skewrig, append(args, selected()...)...))
				t.Logf("%s took %s", to, time.Since(began).Round(time.Second))
			}
			t.Logf("%s: %s", to, outcomes(t, to))
			if first == "" {
				first = to
				continue
			}
			diff := exec.CommandContext(t.Context(), skewrig, "diff", first, to, "--exit-on", "any")
			diff.Stderr = os.Stderr
			if out, err := diff.Output(); err != nil {
				t.Errorf("%s and %s differ (%v):\n%s", first, to, err, out)
			}
		}
	}
}

// isWhole tells whether the report of a directory is of these cells, which have all ended, by
// the program of a version.
func isWhole(dir, version string, ids []string) bool {
	got, err := app.ReadReport(dir)
	if err != nil || got.Partial != "" || got.Reproduce.Skewrig != version || strings.HasSuffix(version, "+dirty") {
		return false
	}
	var there []string
	for _, c := range got.Cells {
		there = append(there, c.ID)
	}
	return slices.Equal(there, ids)
}

// outcomes are how many checks a report has, and a digest of what each came to.
func outcomes(t *testing.T, dir string) string {
	t.Helper()
	got, err := app.ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, cell := range got.Cells {
		for _, c := range cell.Checks {
			lines = append(lines, fmt.Sprintln(cell.ID, c.ID, c.Outcome))
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d checks of %d cells come to %.8x", len(lines), len(got.Cells), sha256.Sum256([]byte(strings.Join(lines, ""))))
}

// versionOf is what the program says that it is.
func versionOf(t *testing.T, skewrig string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), skewrig, "version", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var of struct{ Skewrig string }
	if err := json.Unmarshal(out, &of); err != nil {
		t.Fatal(err)
	}
	return of.Skewrig
}
