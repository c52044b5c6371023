package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	uses   = regexp.MustCompile(`(?m)^[ \t-]*uses: *(\S+)`)
	pinned = regexp.MustCompile(`^[^@]+@[0-9a-f]{40}$`)
)

// movable are the actions of a text that are named by a tag or a branch. Ours is none of others.
func movable(text string) (all []string) {
	for _, found := range uses.FindAllStringSubmatch(text, -1) {
		if action := found[1]; !pinned.MatchString(action) && !strings.HasPrefix(action, "skewrig/skewrig@") {
			all = append(all, action)
		}
	}
	return all
}

// TestActionsAreNamedByTheirCommits: who can move a tag of an action can run anything in its users' jobs.
func TestActionsAreNamedByTheirCommits(t *testing.T) {
	t.Parallel()
	if found := movable("- uses: a/b@v4\n  uses: a/b/c@main\n- uses: a/b@" + strings.Repeat("0a", 20) + " # v4\n"); len(found) != 2 {
		t.Fatalf("found %v", found)
	}
	seen := 0
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		switch ext := filepath.Ext(path); {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || ext != ".yml" && ext != ".yaml" && ext != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen += len(uses.FindAllString(string(text), -1))
		for _, action := range movable(string(text)) {
			t.Errorf("%s uses %s: name the commit, and its version in a comment", path, action)
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Errorf("%d actions, %v", seen, err)
	}
}
