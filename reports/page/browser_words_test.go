package page_test

import (
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
)

// TestWordsLeadToTheGlossary, each where it first appears in a view, and only where the page
// speaks.
func TestWordsLeadToTheGlossary(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	b.open(file, "")
	b.click(".word[href='#word-cell']")
	b.until("document.activeElement.id === 'word-cell' && document.getElementById('keys').open")
	b.has("dt.target + dd", "one scenario with one choice of releases")
	b.press(escape)
	b.until("!document.getElementById('keys').open")
	b.at("") // the place stays
	for _, hash := range []string{"", red, recorded, "#requirements"} {
		b.open(file, hash)
		if n := eval[int](b, "[...document.querySelectorAll('.view:not([hidden]) .word')].length"); n == 0 {
			t.Errorf("at %q, no word leads to the glossary", hash)
		}
		if twice := eval[[]string](b, "(() => { const all = [...document.querySelectorAll('.view:not([hidden]) .word')].map((e) => e.hash); return all.filter((h, i) => all.indexOf(h) !== i); })()"); len(twice) > 0 {
			t.Errorf("at %q, these words lead there twice: %q", hash, twice)
		}
		if lost := eval[[]string](b, "[...document.querySelectorAll('.word')].map((e) => e.hash.slice(1)).filter((id) => !document.getElementById(id))"); len(lost) > 0 {
			t.Errorf("at %q, these words lead nowhere: %q", hash, lost)
		}
	}
	b.quiet()
}

// TestACellSaysThatTimeRunsFaster in its head, and where a deviation would be recorded.
func TestACellSaysThatTimeRunsFaster(t *testing.T) {
	run := small()
	run.Dir = fstest.MapFS{reports.RunDir(page.Red, 1) + "/" + reports.PlanData: {Data: []byte(`{"format": 1, "title": "Slow", "topology": {"timeScale": 5, "leaseNodes": {}}}`)}}
	run.List = func(reports.Cell) string { return "mine.yaml" }
	b := newTab(t, 1280)
	file := written(t, run)
	b.open(file, red)
	b.has("#cell .cell-head", "Time runs 5 × as fast for the leases of simulated nodes.")
	b.has("#cell .causes", "add it to the list of known deviations: mine.yaml.")
	b.click("#cell .causes .entry summary")
	b.has("#cell .causes .entry pre", "- cells: "+page.Red+"\n  checks: [restarts-end]\n  reason: ")
	b.has("#cell .causes .entry button", "Copy")
	b.open(file, green)
	if said := b.text("#cell .cell-head"); said == "" || eval[bool](b, "document.querySelector('#cell .cell-head').innerText.includes('as fast')") {
		t.Errorf("where time runs as it does, the head says %q", said)
	}
	b.quiet()
}
