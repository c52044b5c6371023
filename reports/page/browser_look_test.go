package page_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
)

const recorded = "#cell=kep-1/gate/toggled/apiserver:v1.90.1/kubelet:v1.90.1"

// TestOneColorForEachOutcome: the border of a cell that deviates as recorded, its badge
// and its bar have the colors of that outcome, and nothing is red.
func TestOneColorForEachOutcome(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), recorded)
	for what, style := range map[string]string{".cause-of": "borderLeftColor", ".short": "borderLeftColor"} {
		if eval[string](b, fmt.Sprintf("getComputedStyle(document.querySelector('#cell %s')).%s", what, style)) != eval[string](b, colorOf("--edge")) {
			t.Errorf("the border of %s has another color than the outcome", what)
		}
	}
	if eval[string](b, "getComputedStyle(document.querySelector('#cell h1 .badge')).backgroundColor") != eval[string](b, colorOf("--fill")) {
		t.Error("the badge has another color than the outcome")
	}
	if n := eval[int](b, "document.querySelectorAll('#cell .o-fail').length"); n != 0 {
		t.Errorf("%d elements look like a failure", n)
	}
	b.quiet()
}

// colorOf is what a color of the outcome of recorded deviations is computed to.
func colorOf(name string) string {
	return fmt.Sprintf(`(() => { const e = document.createElement('i'); e.className = 'o-expected-fail'; e.style.color = 'var(%s)'; document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c; })()`, name)
}

// TestTheTimelineOpensAtTheFailure: from the step that led to it, which has its label, with the check that failed chosen
// and what it means beside it; that of a cell that passed has no panel.
func TestTheTimelineOpensAtTheFailure(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	b.open(file, red)
	b.until("document.querySelector('.lanes .it.chosen')")
	b.has(".timeline .range", "6.0 s to 31.2 s")
	b.until("document.querySelector('.lanes').textContent.includes('2 restart kubelet/node-a')")
	if !eval[bool](b, "document.querySelector('.timeline .next button').disabled") {
		t.Error("there is a way to what is before the first in a lane")
	}
	b.has(".timeline .detail", page.Cause)
	b.has(".timeline .bar", "Show the start-up, 6.0 s")
	if n := eval[int](b, "document.querySelectorAll('.lanes .moment').length"); n != 2 {
		t.Errorf("%d moments are marked, want the trigger and the failure", n)
	}
	b.click(".timeline .starting")
	b.has(".timeline .range", "0.0 s to 31.2 s")
	b.has(".timeline .bar", "Fold the start-up")
	b.click(".timeline .close")
	b.until("document.querySelector('.timeline .detail').hidden")
	b.open(file, green)
	b.until("document.querySelector('.lanes .it')")
	if !eval[bool](b, "document.querySelector('.timeline .detail').hidden") {
		t.Error("there is a panel with nothing in it")
	}
	b.quiet()
}

// TestLabelsAreNotCut: each is as wide as its place, on a wide screen and on a phone.
func TestLabelsAreNotCut(t *testing.T) {
	for _, width := range []int64{1280, 390} {
		b := newTab(t, width)
		b.open(written(t, small()), red)
		b.until("document.querySelector('.lanes .it')")
		cut := eval[[]string](b, `(() => { const box = document.querySelector('.lanes').getBoundingClientRect();
			return [...document.querySelectorAll('.lanes text')].filter((e) => { const r = e.getBoundingClientRect(); return r.left < box.left - 1 || r.right > box.right + 1; }).map((e) => e.textContent); })()`)
		if len(cut) > 0 {
			t.Errorf("at %d pixels, labels are cut off: %q", width, cut)
		}
	}
}

// TestTheLogLeads: with lines that name what the check is about; the rig's own are folded
// and counted.
func TestTheLogLeads(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), red)
	const part = "[aria-labelledby=part-logs-around-the-failure]"
	b.has(part, "probing tls with TLS")
	b.has(part, "1 other line around it")
	b.has(part, "5 lines that come of the fake container runtime, not of the release")
	if said := b.text(part); strings.Contains(said, "not implemented") {
		t.Errorf("the rig's own lines show: %s", said)
	}
	b.click(part + " .rig summary")
	b.has(part, "the rig has no cgroups")
	b.quiet()
}

// TestJumps: links at the top of a cell lead to its parts, and the plan to the check that
// decided.
func TestJumps(t *testing.T) {
	b := newTab(t, 390)
	b.open(written(t, small()), red)
	b.click(".jumps a[href$='part=plan']")
	b.until("document.activeElement.id === 'part-plan'")
	b.has("#cell .plan", "restart kubelet/node-a as v1.90.1")
	b.at(red)
	b.click("#cell .causes .acts button:last-child")
	b.until("(() => { const r = document.querySelector('.timeline .detail').getBoundingClientRect(); return r.top < innerHeight && r.bottom <= innerHeight + 1; })()")
	b.quiet()
}

// TestCopyAsComment: the draft of what is reported already is a comment, also in a cell.
func TestCopyAsComment(t *testing.T) {
	run := small()
	known := page.Recorded
	known.Issue = "https://github.com/kubernetes/kubernetes/issues/7"
	run.Report.Findings = []reports.Finding{known}
	b := newTab(t, 1280)
	b.open(written(t, run), recorded)
	b.has("#cell .causes .issue", "Copy as comment on kubernetes#7")
	b.click("#cell .causes .preview summary")
	b.until("document.querySelector('#cell .draft').textContent.includes('This is also seen with')")
	b.quiet()
}

// TestTheScriptIsBesideTheCommand of a cell that deviates as recorded, with whether it was run.
func TestTheScriptIsBesideTheCommand(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), recorded)
	b.click("#cell .short .script summary")
	b.has("#cell .short .script summary", "Reproduce without skewrig")
	b.has("#cell .short .script", "This script was not run for this report.")
	b.has("#cell .short .script pre", "cluster; kubectl get pods")
	b.quiet()
}

// TestCopyAsIssue: of a recorded deviation, of one that is new, and where the page may not
// use the clipboard.
func TestCopyAsIssue(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	b.open(file, "#finding=gate-is-read-late")
	b.until("document.querySelector('#finding-gate-is-read-late').open")
	b.click("#finding-gate-is-read-late .issue")
	b.until("document.querySelector('#finding-gate-is-read-late .issue').textContent !== 'Copy as issue'")
	b.open(file, red)
	b.click("#cell .causes .preview summary")
	b.until("document.querySelector('#cell .draft').textContent.includes('### What happened?')")
	b.open(file, red)
	b.do(chromedp.Evaluate[chromedp.Void]("navigator.clipboard.writeText = () => Promise.reject(new Error('not here'))"))
	b.click("#cell .causes .issue")
	b.until("document.querySelector('#cell .draft:not([hidden])')")
	b.has("#cell .draft", "### What happened?")
	b.quiet()
}

// TestALinkToACellShowsTheCellFirst: the overview is hidden until the cell is there, and the page
// is not loaded before, so what prints it then has the cell.
func TestALinkToACellShowsTheCellFirst(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	b.open(file, red)
	b.until("performance.getEntriesByType('navigation')[0].loadEventStart > 0")
	if !eval[bool](b, "performance.getEntriesByType('navigation')[0].loadEventStart >= performance.getEntriesByName('ready')[0].startTime") {
		t.Error("the page is loaded before it shows the cell")
	}
	if left := eval[string](b, "document.documentElement.className"); left != "script" {
		t.Errorf("once the cell is there, the page has the classes %q", left)
	}
	b.do(chromedp.Evaluate[chromedp.Void]("document.documentElement.classList.add('opening')"))
	if eval[bool](b, "[...document.querySelectorAll('.view')].some((v) => v.checkVisibility())") {
		t.Error("a view shows while a link opens")
	}
	html, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if early, _, _ := strings.Cut(string(html), "</script>"); !strings.Contains(early, "classList.add('opening')") {
		t.Error("nothing hides the views before they are painted")
	}
	b.quiet()
}
