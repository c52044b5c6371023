package page_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/sweep/page"
	"github.com/skewrig/skewrig/sweep/sweeptest"
	"github.com/skewrig/skewrig/sweep/trial"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	links := page.Links{
		Draft:     func(l trial.Listed) string { return "drafts/" + l.ID() + ".md" },
		Scenarios: func(_ trial.Listed, f trial.Found) []string { return []string{"scenarios/" + f.Name + ".yaml"} },
	}
	golden.Check(t, "testdata/index.html", written(t, sweeptest.Swept(), links))
}

func TestNothingWasFound(t *testing.T) {
	t.Parallel()
	if got := written(t, trial.Swept{Version: "v1.90.1"}, page.Links{}); !strings.Contains(got, "<h1>Nothing was found in v1.90.1</h1>") {
		t.Errorf("the page does not say that nothing was found:\n%s", got)
	}
}

// TestNothingRuns: no text of a component becomes markup, or a character that does not show.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	got := written(t, sweeptest.Swept(), page.Links{})
	for _, wrong := range []string{"<script", "\x1b", "ZgotmplZ"} {
		if strings.Contains(got, wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	if !strings.Contains(got, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page does not show what a component said")
	}
}

func written(t *testing.T, s trial.Swept, links page.Links) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, s, links); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
