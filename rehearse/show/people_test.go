package show_test

import (
	"io"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/rehearse/show"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	all := samples()
	all["small"] = small()
	for name, r := range all {
		got := written(t, func(w io.Writer) error { return show.Markdown(w, r) })
		golden.Check(t, "testdata/"+name+".md", got)
		for _, wrong := range []string{"<script", "\x1b", "@octocat"} {
			if strings.Contains(got, wrong) {
				t.Errorf("%s: the comment has %q", name, wrong)
			}
		}
	}
}

// TestMarkdownIsBounded: a comment fits, however much was found, is whole, and says that something is missing.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	r := hostile()
	r.Findings[0].Summary = strings.Repeat("@", 3000)
	r.Findings[0].Objects[0].Detail = strings.Repeat("@", 3000)
	for range 100 {
		r.Findings = append(r.Findings, r.Findings[0])
		r.Findings[0].Objects = append(r.Findings[0].Objects, r.Findings[0].Objects[0])
		r.Problems = append(r.Problems, r.Problems[0])
	}
	got := written(t, func(w io.Writer) error { return show.Markdown(w, r) })
	if len(got) > 65_000 || strings.Count(got, "<details>") != strings.Count(got, "</details>") {
		t.Errorf("%d bytes", len(got))
	}
	if !strings.Contains(got, "more rows omitted here") || !strings.Contains(got, "parts omitted for lack of room") {
		t.Error("the comment does not say that something is missing")
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	all := samples()
	all["small"] = small()
	for name, r := range all {
		got := written(t, func(w io.Writer) error { return show.Page(w, r) })
		if name == "small" || name == "hostile" || name == "empty" {
			golden.Check(t, "testdata/"+name+".html", got)
		}
		for _, wrong := range []string{"<script", "\x1b", "\u202e", "ZgotmplZ"} {
			if strings.Contains(got, wrong) {
				t.Errorf("%s: the page has %q", name, wrong)
			}
		}
		if answer := strings.ReplaceAll(show.Answer(r), ">", "&gt;"); !strings.Contains(got, answer) {
			t.Errorf("%s: the page does not say %s", name, answer)
		}
	}
}
