package soak

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var rounds = flag.Int("rounds", 3, "how often cells run each way")

// TestIsolation runs the cells each alone, beside each other, and beside each other in random
// orders. All come to the same, in each check.
func TestIsolation(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components for hours: left out of -short")
	}
	skewrig, dir := compiled(t), *report
	if dir == "" {
		dir = t.TempDir()
	}
	var first string
	for i := range *rounds {
		for _, way := range []struct {
			name string
			args []string
		}{{"alone", []string{"--isolate"}}, {"shared", nil}, {"shuffled", []string{"--shuffle"}}} {
			to := filepath.Join(dir, fmt.Sprintf("%s-%d", way.name, i+1))
			args := append([]string{"run", "--report-dir", to, "--force", "--github", "never"}, way.args...)
			run(t, exec.CommandContext(t.Context(), skewrig, append(args, selected()...)...))
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
