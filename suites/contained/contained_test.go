// Package contained runs scenarios that try to get out of a rig, as root, and looks at each file of the machine that
// changed: none may, but the report, the cache and what the Go command keeps of itself. The root directory is below an
// overlay, so that what gets out does no harm.
package contained

import (
	"context"
	_ "embed"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var skewrig = flag.String("skewrig", "", "the program that is tested; without it, nothing is")

//go:embed testdata/overlay.sh
var overlay string

// TestNothingGetsOut: first that a change is found, then that hostile scenarios make none.
func TestNothingGetsOut(t *testing.T) {
	if testing.Short() || *skewrig == "" {
		t.Skip("takes components and minutes: make contained runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may make overlays, and harm the machine")
	}
	if changed, err := within(t, "sh", "-c", "echo changed >/etc/skewrig-changed"); err != nil || !slices.Equal(changed, []string{"/etc/skewrig-changed"}) {
		t.Fatalf("of a program that makes a file: %q, %v", changed, err)
	}
	scenarios, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("there is no scenario: %v", err)
	}
	report := t.TempDir()
	args := []string{*skewrig, "run", "--isolate", "--report-dir", report, "--force"}
	for _, s := range scenarios {
		path, err := filepath.Abs(s)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	changed, err := within(t, args...)
	if err != nil {
		t.Errorf("the scenarios did not go as expected: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	modules, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(strings.TrimSpace(string(modules)), "cache", "lock") // of the Go command, where a component is compiled
	own := []string{report, lock, filepath.Join(cache, "skewrig"), filepath.Join(cache, "go-build"), filepath.Join(config, "go", "telemetry")}
	for _, path := range changed {
		if !slices.ContainsFunc(own, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }) {
			t.Errorf("%s was changed", path)
		}
	}
}

// within runs a program on the machine's files below an overlay, and returns those that it changed, made or removed.
func within(t *testing.T, args ...string) (changed []string, err error) {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", append([]string{"--mount", "--pid", "--fork", "--kill-child", "sh", "-c", overlay, "overlay.sh", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	upper := filepath.Join(dir, "upper")
	if err := filepath.WalkDir(upper, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			changed = append(changed, strings.TrimPrefix(path, upper))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return changed, err
}
