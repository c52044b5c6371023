package page_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/skewrig/skewrig/reports/page"
)

func many() page.Run { return page.Run{Report: page.MadeMany(2000), Narration: page.MadeNarration} }

// TestManyCells: a run of 2 000 cells can be searched, and read.
func TestManyCells(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, many()), "")
	b.has("h1", "20 new")
	b.shot("many")
	b.click("#overview .tallies .o-fail")
	b.at("#cells&outcome=fail")
	b.has("#cells-count", "20 of 2000 cells")
	b.press("j", enter)
	b.until("document.querySelector('.lanes .it')")
	b.press("/")
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), "check-4-of-1999"))
	b.at("#cells&outcome=fail&q=check-4-of-1999")
	b.has("#cells-count", "None of 2000 cells fits")
	b.click("#filters [type=reset]")
	b.at("#cells")
	b.has("#cells-count", "2000 cells")
	b.quiet()
}

// BenchmarkFirstPaint measures how long it takes until a reader sees something of
// a page of 2 000 cells, and until all of it works.
func BenchmarkFirstPaint(b *testing.B) {
	file := written(b, many())
	tab := newTab(b, 1280)
	for b.Loop() {
		tab.open(file, "")
		tab.until("performance.getEntriesByName('first-contentful-paint').length > 0")
		b.ReportMetric(eval[float64](tab, "performance.getEntriesByName('first-contentful-paint')[0].startTime"), "ms/first-paint")
		b.ReportMetric(eval[float64](tab, "performance.measure('ready', {start: 0, end: 'ready'}).duration"), "ms/ready")
	}
}
