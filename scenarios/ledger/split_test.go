package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/scenarios/ledger"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	const text = `# A title
<!--
Advice for authors.
It is no sentence. -->
One sentence, e.g. this one. Another
goes on here (see v1.2.3). The third starts in lower
case. field: X is refused.

- [ ] a box to tick. With two sentences.
  continued
* a star
after the list
| a | row |
| --- | --- |
` + "```go\nvar x int\nvar y int\n```\n" + `  • a bullet
1. numbered
---
`
	var got []string
	for _, s := range ledger.Sentences(text) {
		got = append(got, fmt.Sprintf("%d %s", s.Line, s.Text))
	}
	want := []string{
		"1 # A title", "5 One sentence, e.g. this one.", "5 Another goes on here (see v1.2.3).", "6 The third starts in lower case.",
		"7 field: X is refused.", "9 a box to tick.", "9 With two sentences.", "10 continued", "11 a star", "12 after the list",
		"13 | a | row |", "16 var x int var y int", "19 a bullet", "20 numbered",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDigest: markup, case and punctuation don't change a sentence; words, numbers
// and comparisons do.
func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(text string) string {
		all := ledger.Sentences(text)
		if len(all) != 1 {
			t.Fatalf("%q has %d sentences", text, len(all))
		}
		return all[0].Digest
	}
	first := digest("The `mode` field isn't **required**, see [the docs](https://example.com).")
	for _, same := range []string{"The mode field isn’t required, see the docs", "- the MODE field isn't required , see the docs ."} {
		if digest(same) != first {
			t.Errorf("%q has another digest", same)
		}
	}
	for _, other := range []string{"The mode field is required, see the docs", strings.Repeat("The mode field isn't required, see the docs ", 2)} {
		if digest(other) == first {
			t.Errorf("%q has the same digest", other)
		}
	}
	if digest("a <= 0.75") == digest("a < 0.75") || digest("a < 0.75") == digest("a < 0.7") {
		t.Error("a comparison or a number doesn't count")
	}
}
