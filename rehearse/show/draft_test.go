package show_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/show"
)

func TestDrafts(t *testing.T) {
	t.Parallel()
	r := mixed()
	r.Gates = map[string]bool{"GenericWorkload": true}
	drafts := show.Drafts(r, func(of rehearse.Ref) []byte {
		return []byte("---\nkind: " + of.Kind + "\nmetadata: {name: " + of.Name + "}\n")
	})
	want := []string{"01-field-lost.md", "01-field-lost.yaml", "02-component-panics.md", "03-restarts.md", "03-restarts.yaml"}
	if got := slices.Sorted(maps.Keys(drafts)); !slices.Equal(got, want) {
		t.Errorf("drafts %q, want %q", got, want)
	}
	golden.Check(t, "testdata/draft.md", string(drafts["01-field-lost.md"]))
	golden.Check(t, "testdata/draft-of-a-panic.md", string(drafts["02-component-panics.md"]))
}

// TestADraftShowsNamesAsText: no name or message is markup in it.
func TestADraftShowsNamesAsText(t *testing.T) {
	t.Parallel()
	for name, text := range show.Drafts(hostile(), func(rehearse.Ref) []byte { return []byte("```\n<script>alert(1)</script>\n") }) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		outside := ""
		for n, part := range strings.Split(string(text), "\n````") { // the manifest is a block with a longer fence
			if n%2 == 0 {
				outside += part
			}
		}
		for _, bad := range []string{"\n<script>", "\x1b", "\n@octocat"} {
			if strings.Contains(outside, bad) {
				t.Errorf("%s has %q:\n%s", name, bad, text)
			}
		}
	}
}
