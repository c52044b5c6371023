package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, stdout, stderr := skewrig(t, "version", "--cache-dir", dir)
	for _, want := range []string{
		"skewrig   ", "\ngo        " + runtime.Version() + " ", "\nnewest    " + string(release.Newest) + "\nprevious  " + string(release.Previous) + "\n",
		"\ncache     " + dir + " (0 binaries, 0 MB)\n",
	} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, and %q is not in\n%s%s", code, want, stdout, stderr)
		}
	}
	_, stdout, _ = skewrig(t, "version", "--cache-dir", dir, "-o", "json")
	var v versions
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || v.Newest != release.Newest || v.Cache.Dir != dir {
		t.Errorf("%v: %s", err, stdout)
	}
}

func TestCommitOf(t *testing.T) {
	t.Parallel()
	settings := func(pairs ...string) *debug.BuildInfo {
		info := new(debug.BuildInfo)
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	for want, info := range map[string]*debug.BuildInfo{
		"":              nil,
		"abc":           settings("vcs.revision", "abc", "vcs.modified", "false"),
		"abd, modified": settings("vcs.revision", "abd", "vcs.modified", "true"),
	} {
		if got := commitOf(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEveryCommandHasAGroup, and the help says what each group is for.
func TestEveryCommandHasAGroup(t *testing.T) {
	t.Parallel()
	_, stdout, _ := skewrig(t, "--help")
	for _, g := range groups {
		if !strings.Contains(stdout, "\n"+g+"\n") {
			t.Errorf("the help does not say %q:\n%s", g, stdout)
		}
	}
	if strings.Contains(stdout, "Additional Commands") {
		t.Errorf("a command has no group:\n%s", stdout)
	}
}
