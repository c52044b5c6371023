package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/page"
)

// phone is how wide the screen of a phone is, in CSS pixels.
const phone = 390

// TestTheOverviewOfAPhone: how to reproduce the run stands before the long lists.
func TestTheOverviewOfAPhone(t *testing.T) {
	b := newTab(t, phone)
	b.open(written(t, small()), "")
	order := eval[[]string](b, `[...document.querySelectorAll('.column > section')].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((e) => e.getAttribute('aria-labelledby'))`)
	if got := strings.Join(order[:3], " "); got != "attention this-run again" {
		t.Errorf("it begins with %s, want what is new, the run, and how to reproduce it", got)
	}
	b.quiet()
}

// TestTheWayAround: on a phone, the links to the parts of a cell stay in sight, and so does
// one to the top.
func TestTheWayAround(t *testing.T) {
	b := newTab(t, phone)
	b.open(written(t, small()), red)
	b.click(".jumps a[href$='part=plan']")
	b.until("document.activeElement.id === 'part-plan'")
	if !eval[bool](b, `(() => { const nav = document.querySelector('.top nav').getBoundingClientRect(), jumps = document.querySelector('.jumps').getBoundingClientRect();
		const heading = document.getElementById('part-plan').getBoundingClientRect();
		return scrollY > 0 && Math.abs(nav.top) < 1 && Math.abs(jumps.top - nav.bottom) < 2 && heading.top >= jumps.bottom; })()`) {
		t.Error("behind a jump, the links are not above its heading")
	}
	b.click(".to-top")
	b.until("scrollY === 0")
	b.at(red)
	b.quiet()
}

// TestWhoMovesOnIsNotTakenBack: a slow browser has frames left that go to a part, when the
// reader is at the top again.
func TestWhoMovesOnIsNotTakenBack(t *testing.T) {
	b := newTab(t, phone)
	b.open(written(t, small()), red)
	b.do(chromedp.Evaluate[chromedp.Void](`window.at = null;
	(async () => {
		const frames = [], request = window.requestAnimationFrame;
		window.requestAnimationFrame = (frame) => frames.push(frame);
		document.querySelector(".jumps a[href$='part=plan']").click();
		while (document.activeElement.id !== 'part-plan') await new Promise((resolve) => setTimeout(resolve));
		const part = scrollY;
		document.querySelector('.to-top').click();
		window.requestAnimationFrame = request;
		for (const frame of frames) frame();
		window.at = [part, scrollY];
	})()`))
	b.until("window.at !== null")
	if at := eval[[]float64](b, "window.at"); at[0] == 0 || at[1] != 0 {
		t.Errorf("scrolled to %v at the part and after the link to the top, want the part's height and 0", at)
	}
	b.quiet()
}

// TestThePanelCoversNoLane: what is said of an item stands below the lanes, and the item
// stays in sight.
func TestThePanelCoversNoLane(t *testing.T) {
	for _, width := range []int64{phone, 900} {
		b := newTab(t, width)
		b.open(written(t, small()), red)
		b.click("#cell .causes .acts button:last-child")
		const apart = `(() => { const stage = document.querySelector('.stage').getBoundingClientRect(), panel = document.querySelector('.timeline .detail').getBoundingClientRect();
			const item = document.querySelector('.lanes .it.chosen').getBoundingClientRect();
			return panel.top >= stage.bottom && panel.bottom <= innerHeight + 1 && item.top >= stage.top - 1 && item.bottom <= stage.bottom + 1; })()`
		b.until(apart)
		b.click(".lanes .it.mark.tone-bad")
		b.until(apart)
		b.quiet()
	}
}

// TestFiltersAreFolded on a phone, and say how many of them are chosen.
func TestFiltersAreFolded(t *testing.T) {
	b := newTab(t, phone)
	file := written(t, small())
	b.open(file, "#cells&outcome=fail&kep=KEP-1")
	b.has("#cells .choose summary", "Filters 2 chosen")
	if shown := b.texts("#filters select"); len(shown) > 0 {
		t.Errorf("%d filters show", len(shown))
	}
	b.click("#cells .choose summary")
	b.until("document.querySelector('#filters select').checkVisibility()")
	b.open(file, "#requirements")
	if shown := b.texts("#statement-filters select"); len(shown) > 0 {
		t.Errorf("%d filters of requirements show", len(shown))
	}
	wide := newTab(t, 1280)
	wide.open(file, "#cells")
	if !eval[bool](wide, "document.querySelector('#filters select').checkVisibility() && !document.querySelector('#cells .choose summary').checkVisibility()") {
		t.Error("on a wide screen, filters are folded")
	}
	b.quiet()
}

// TestTheEndOfALogLineStays: it says the cause. The rest is a click away.
func TestTheEndOfALogLineStays(t *testing.T) {
	const end = `err="connection refused"`
	run := small()
	run.Narration = func(c reports.Cell, of reports.Run, limit int) (*narrate.Narration, error) {
		n, err := page.MadeNarration(c, of, limit)
		if err == nil && n != nil && len(n.Logs) > 0 && c.ID == page.Red {
			text := "I1122 08:13:23.000000 12 prober.go:107] probing tls " + strings.Repeat("with one thing and another ", 20)
			n.Logs[0].Lines[0].Text, n.Logs[0].Lines[0].Whole = text[:300], text+end
		}
		return n, err
	}
	b := newTab(t, phone)
	b.open(written(t, run), red)
	const line = ".log.lines .gist"
	b.has(line, "prober.go:107")
	b.has(line, end)
	if said := b.text(line); len(said) > 200 {
		t.Errorf("at once, it shows all of %q", said)
	}
	if wide := eval[float64](b, "document.querySelector('.log.lines li .num').getBoundingClientRect().width"); wide > 80 {
		t.Errorf("the time is %v wide", wide)
	}
	b.do(chromedp.ScrollIntoView(chromedp.CSS(line)))
	b.click(line)
	b.has(".log.lines .whole-line", strings.Repeat("with one thing and another ", 20)+end)
	b.quiet()
}

// TestTheExpressionIsWhole in the red box of a phone, however long it is.
func TestTheExpressionIsWhole(t *testing.T) {
	run := redAs(func(c *reports.Cell) {
		c.Checks[0].Expected = "at once: " + strings.Repeat(`pods["web"].status.containerStatuses.exists(c, c.ready) && `, 25) + "true == false"
	}, func(*narrate.Narration) {})
	b := newTab(t, phone)
	b.open(written(t, run), red)
	if cut := eval[[]float64](b, `(() => { const e = document.querySelector('#cell .at-once dd'); return [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]; })()`); cut[0] > 1 || cut[1] > 1 {
		t.Errorf("of the expression, %v pixels are cut off", cut)
	}
	b.quiet()
}

// TestThePanelIsInSight when an item of a long chart is chosen on a small phone, by a tap and by
// a key.
func TestThePanelIsInSight(t *testing.T) {
	run := redAs(func(*reports.Cell) {}, func(n *narrate.Narration) {
		for i := range 60 {
			n.Lanes = append(n.Lanes, narrate.Lane{Name: fmt.Sprintf("nodes/n-%d", i), Kind: narrate.ObjectState, Spans: []narrate.Span{{From: 6, To: 31, Label: "Ready", Tone: narrate.Bad}}})
		}
	})
	b := newTab(t, phone)
	b.do(chromedp.EmulateViewport(phone, 600))
	b.open(written(t, run), red)
	const inSight = `(() => { const panel = document.querySelector('.timeline .detail').getBoundingClientRect(), item = document.querySelector('.lanes .it.chosen').getBoundingClientRect();
		return panel.top >= 0 && panel.bottom <= innerHeight + 1 && item.top >= 0 && item.bottom <= panel.top + 1; })()`
	b.click(".lanes .it.mark.tone-bad")
	b.until(inSight)
	b.press(down, down, down)
	b.until(inSight)
	b.click(".timeline .detail .next button:nth-child(2)")
	b.until(inSight)
	b.do(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 0); document.querySelector('.timeline .close').click(); [...document.querySelectorAll('.lanes .it')].at(-1).focus()"))
	b.until(inSight)
	b.quiet()
}
