package show_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/sweep/show"
	"github.com/skewrig/skewrig/sweep/trial"
)

func TestPage(t *testing.T) {
	t.Parallel()
	links := show.Links{
		Draft:     func(l trial.Listed) string { return "drafts/" + l.ID() + ".md" },
		Scenarios: func(_ trial.Listed, f trial.Found) []string { return []string{"scenarios/" + f.Name + ".yaml"} },
	}
	golden.Check(t, "testdata/index.html", pageOf(t, swept(t), links))
}

func TestPageOfNothing(t *testing.T) {
	t.Parallel()
	if got := pageOf(t, trial.Result{Version: "v1.90.1"}, show.Links{}); !strings.Contains(got, "<h1>Nothing was found in v1.90.1</h1>") {
		t.Errorf("the page does not say that nothing was found:\n%s", got)
	}
}

// TestPageRunsNothing: no text of a component becomes markup, or a character that does not show.
func TestPageRunsNothing(t *testing.T) {
	t.Parallel()
	got := pageOf(t, swept(t), show.Links{})
	for _, wrong := range []string{"<script", "\x1b", "ZgotmplZ"} {
		if strings.Contains(got, wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	if !strings.Contains(got, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page does not show what a component said")
	}
}

func pageOf(t *testing.T, s trial.Result, links show.Links) string {
	t.Helper()
	var b bytes.Buffer
	if err := show.Page(&b, s, links); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
