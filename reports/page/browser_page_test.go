package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/page"
)

// small is the small run.
func small() page.Run {
	return page.Run{Report: page.MadeReport(), Narration: page.MadeNarration, Dir: fstest.MapFS{}}
}

const red, green = "#cell=" + page.Red, "#cell=" + page.Green

func TestAPersonReadsARun(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), "")

	// The first screen.
	b.has("h1 a[href='#attention']", "1 new")
	b.has("h1", "2 deviate as recorded")
	b.has("#overview .verdict", "2 pass")
	b.has("#overview .verdict", "Known deviations do not make a run fail, new ones do.")
	b.has("#overview", "kubelet v1.89.3")
	b.has("#overview .facts .copied", "skewrig run 'kep-1/**' --report-dir report-again")
	if got := b.texts("#overview .needs h3"); len(got) != 6 || !strings.Contains(got[0], "new") || !strings.Contains(got[0], page.Red) {
		t.Errorf("what needs attention is %q, want the failed cell first of six", got)
	}
	b.has("#overview .needs", page.Cause)
	b.click("#overview .needs details summary")
	b.has("#overview .needs", "satisfies it >= 5")
	b.shot("overview")

	// One click on the matrix.
	b.click(fmt.Sprintf(".matrix a.labeled[href=%q]", red))
	b.at(red)
	b.has("#cell h1", page.Red)
	if focused := eval[string](b, "document.activeElement.tagName"); focused != "H1" {
		t.Errorf("the focus is on %s, want the cell's heading", focused)
	}
	b.shot("cell")

	// A link to a requirement, and back, twice.
	b.click("#cell .causes a[href^='#requirement']")
	b.at("#requirement=KEP-1/upgrade/takes-effect")
	b.has("#requirements .target", "its probes do as the field says")
	b.shot("requirements")
	b.do(chromedp.NavigateBack())
	b.at(red)
	b.do(chromedp.NavigateBack())
	b.at("")
	if focused := eval[string](b, "document.activeElement.hash"); focused != red {
		t.Errorf("back from a cell, the focus is on %q, want the link that led there", focused)
	}
	b.quiet()
}

// TestAStrangerIsAnswered: what was expected, what happened, when, on which
// versions, and the command that reproduces it.
func TestAStrangerIsAnswered(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), red)
	b.has("#cell .causes .cause", page.Cause)
	if lead := b.text("#cell .causes"); strings.Index(lead, "connections[") < strings.Index(lead, page.Cause) {
		t.Errorf("an expression leads: %s", lead)
	}
	b.has("#cell .causes .at-once", "observed")
	b.click("#cell .causes .values-of summary")
	answers := b.text("#cell .causes") + b.text("#cell .short")
	for _, want := range []string{
		"restarts-end", "Requirement, in our words: Once the kubelet is upgraded, its probes do as the field says.",
		`connections["tls/app"]`, "observed\n2", "did not come true in 90 s", `connections["tls/app"] is </script>`,
		"2026-11-22 08:13:09.0 UTC", "decided at 31.0 s", "the window began at 14.2 s", "in step 3", "the cell took 31.2 s",
		"kube-apiserver v1.90.1", "kubelet/node-a v1.89.3, then v1.90.1",
		"skewrig run '" + page.Red + "'",
	} {
		if !strings.Contains(answers, want) {
			t.Errorf("the cell does not say %q at its beginning:\n%s", want, answers)
		}
	}
	b.click("#cell .short .copy")
	b.until(`document.querySelector('#cell .short .copy').textContent !== 'Copy'`)
	b.quiet()
}

// TestTheHistoryOfAField: it stands with the cause, and objects say what was only shown.
func TestTheHistoryOfAField(t *testing.T) {
	b := newTab(t, 1280)
	run := small()
	run.Narration = func(c reports.Cell, of reports.Run, limit int) (*narrate.Narration, error) {
		n, err := page.MadeNarration(c, of, limit)
		if err != nil || c.ID != page.Red {
			return n, err
		}
		n.Checks[0].Bad, n.Checks[0].History = 12, []narrate.Line{{At: 7, Text: "TLS", What: "kube-apiserver"}, {At: 12, Text: "not set", What: "written", Tone: narrate.Bad}}
		n.Objects = []narrate.Object{{Key: "pods/default/tls"}}
		for i, yaml := range []string{"1\"\nmode: TLS", "1\"\nmode: null", "2\"\nmode: none"} {
			n.Objects[0].Versions = append(n.Objects[0].Versions, narrate.Version{At: float64(7 + i), Step: i + 1, Change: "modified", YAML: "metadata:\n  resourceVersion: \"" + yaml + "\n"})
		}
		return n, nil
	}
	b.open(written(t, run), red)
	b.has("#cell .causes .history", "12.0 s not set written ✗ lost here")
	b.has("#cell .short", "the field was lost at 12.0 s")
	b.click("#cell .objects summary")
	b.until(`document.querySelector("#cell .objects").innerText.includes("resourceVersion")`) // made when it is unfolded
	b.has("#cell .objects", "shown differently, not written (resourceVersion 1)")
	b.has("#cell .objects", "written (resourceVersion 2)")
	b.quiet()
}

func TestTheTimeline(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), green)
	b.until(`document.querySelector('.lanes .it')`)
	whole := b.text(".timeline .range")
	b.click(`.timeline button[aria-label="Zoom in"]`)
	if zoomed := b.text(".timeline .range"); zoomed == whole {
		t.Errorf("zoomed in, it shows %s as before", zoomed)
	}
	b.click(`.timeline button[aria-label="Later"]`)
	b.click(`.timeline button[aria-label="All of it"]`)
	if all := b.text(".timeline .range"); all != whole {
		t.Errorf("all of it is %s, want %s", all, whole)
	}

	// With the wheel, as long as the reader is at work in it.
	b.click(".lanes .mark.tone-changed, .lanes .span.tone-changed")
	b.has(".timeline .detail", "ExampleGate=true")
	box := eval[[]float64](b, `(() => { const r = document.querySelector('.lanes').getBoundingClientRect(); return [r.x + r.width / 2, r.y + 30]; })()`)
	b.do(command(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: box[0], Y: box[1], DeltaX: 1e-9, DeltaY: -240}))
	b.until(fmt.Sprintf("document.querySelector('.timeline .range').innerText !== %q", whole))

	// With keys: all of it, down a lane, along it, zoom; Enter opens an attempt.
	b.press("0")
	b.until(fmt.Sprintf("document.querySelector('.timeline .range').innerText === %q", whole))
	b.press(down, down, down)
	b.has(".timeline .detail", "readiness grpc :8080")
	b.press("+", "+", "+", "+", "+", right)
	attempt := eval[string](b, "document.querySelector('.timeline .detail .link').innerText")
	b.press(enter)
	b.until(`document.activeElement.id.startsWith('attempt-')`)
	if opened := eval[string](b, "document.activeElement.id"); opened != strings.Replace(attempt, " ", "-", 1) {
		t.Errorf("opened %s, want %s", opened, attempt)
	}
	b.has("tr.wire:not([hidden])", "HTTP/2 preface")
	b.shot("timeline")
	b.quiet()
}

// TestManyPods: they are folded up, but for those of which something is bad, and a
// key has them back.
func TestManyPods(t *testing.T) {
	run := small()
	run.Narration = func(c reports.Cell, r reports.Run, limit int) (*narrate.Narration, error) {
		s, err := page.MadeNarration(c, r, limit)
		if c.ID == page.Green {
			for i, tone := range []narrate.Tone{"", "", narrate.Bad, "", narrate.Good, narrate.Changed} {
				name := fmt.Sprintf("default/web-%d", i)
				s.Lanes = append(s.Lanes, narrate.Lane{Name: "pods/" + name, Kind: narrate.ObjectState, Group: name + " on node-a", Spans: []narrate.Span{{From: 1, To: 9, Label: "so", Tone: tone}}})
			}
		}
		return s, err
	}
	b := newTab(t, 1280)
	b.open(written(t, run), green)
	b.until(`document.querySelector('.lanes .it')`)
	pods := func() int { return len(b.texts(`.lanes .title`)) }
	few := pods()
	b.has(".timeline .bar", "Show 5 pods")
	if shown := strings.Join(b.texts(".lanes text.lane"), " "); !strings.Contains(shown, "pods/default/web-2") || strings.Contains(shown, "web-3") {
		t.Errorf("the lanes are %s, want that of the bad pod only", shown)
	}
	b.do(chromedp.Focus(chromedp.CSS(".timeline .folding")))
	b.press(enter)
	b.has(".timeline .bar", "Fold 5 pods")
	if n := pods() - few; n != 5 {
		t.Errorf("%d groups of lanes came, want 5", n)
	}
	b.press(enter)
	if n := pods(); n != few {
		t.Errorf("folded again, there are %d groups of lanes, want %d", n, few)
	}
	b.quiet()
}

func TestWhatACellHas(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), red+"&check=one-pod")
	b.has("#cell tr.target", "pods.size() == 1")
	b.click("#cell .objects .object summary")
	b.until("document.querySelector('#cell .diff')")
	diffs := b.texts("#cell .diff")
	if len(diffs) != 2 || !strings.Contains(diffs[0], "+     restartCount: 1") || !strings.Contains(diffs[1], "-     restartCount: 1") {
		t.Errorf("the diffs are %q, want one per step: what was added, and what was removed", diffs)
	}
	b.click("#cell .change:last-child .states summary")
	b.until("document.querySelectorAll('#cell .change:last-child .states .diff').length === 2")
	b.has("#cell .change:last-child .states .diff", "-     ready: false\n+     ready: true")
	b.click("#cell .others summary")
	for _, want := range []string{"context deadline exceeded 3 similar lines", "Omitted: 812 lines from its start", "14.20 s\nrestarts-end: evaluated from here", "312 events of leases", "restart kubelet/node-a as v1.90.1", "http2-preface"} {
		b.has("#cell", want)
	}
	b.until("document.querySelectorAll('#cell .graph polyline').length === 2")
	b.do(chromedp.Navigate("about:blank"))
	b.open(written(t, small()), "#cell="+page.Flaky)
	for _, want := range []string{"reading the history: line 7", "1 of 3 runs failed", "at step 2 (get pods): only in bad runs: a container was killed", "runs/2/cells/" + page.Flaky} {
		b.has("#cell", want)
	}
	b.do(chromedp.Navigate("about:blank"))
	b.open(written(t, small()), "#cell="+page.Compared)
	for _, want := range []string{
		"Compared with " + page.Green, "spec.mode", "✗ not explained", "the newer release knows the field", "1 difference that two runs of one cell may have, too",
	} {
		b.has("#cell", want)
	}
	b.open(written(t, small()), "#cell=no/such/cell")
	b.has("#cell", "This run has no cell no/such/cell")
	b.quiet()
}

// TestThePlanLinksItsControl: to the cell of that scenario with most of the same releases, if
// the run has one.
func TestThePlanLinksItsControl(t *testing.T) {
	b := newTab(t, 1280)
	for control, want := range map[string]string{"kep-1/skew/older-kubelet": green, "kep-1/skew/older": "", "kep-9/none": ""} {
		run := small()
		run.Narration = func(c reports.Cell, of reports.Run, limit int) (*narrate.Narration, error) {
			n, err := page.MadeNarration(c, of, limit)
			if err == nil && n != nil {
				n.Plan = strings.Replace(n.Plan, "\nA TLS", "\ncontrol: "+control+" (there the same check must come out the other way)\nA TLS", 1)
				for i := range n.PlanLines {
					n.PlanLines[i].Line++
				}
				n.PlanLines = append(n.PlanLines, narrate.PlanLine{Line: 1, Control: control})
			}
			return n, err
		}
		b.open(written(t, run), red)
		b.has("#cell .plan", "control: "+control+" (there the same check must come out the other way)\n")
		if got := eval[string](b, "document.querySelector('#cell .plan .control')?.hash ?? ''"); got != want {
			t.Errorf("the control %s leads to %q, want %q", control, got, want)
		}
	}
	b.quiet()
}

// TestWhatIsBesideThePage checks that the page names no files that are missing.
func TestWhatIsBesideThePage(t *testing.T) {
	run := small()
	run.Dir = fstest.MapFS{"cells/" + page.Red + "/plan.txt": {}, "cells/" + page.Red + "/history.jsonl": {}}
	b := newTab(t, 1280)
	file := written(t, run)
	b.open(file, red)
	const part = "section[aria-labelledby=part-record-and-logs]"
	b.has(part, "cells/"+page.Red+"/plan.txt, cells/"+page.Red+"/history.jsonl")
	if said := b.text(part); strings.Contains(said, "/logs") {
		t.Errorf("it names logs that are not there: %s", said)
	}
	b.open(file, green)
	b.has(part, "This cell has no record, or it is not in the report directory.")
	b.quiet()
}

// TestWordsForWhatIsExpected: what a check expects is not what a model predicts of a
// release, on a narrow screen neither.
func TestWordsForWhatIsExpected(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), red)
	columns := strings.Join(b.texts("#cell .attempts th"), ", ")
	if !strings.Contains(columns, "prediction") || strings.Contains(columns, "expected") {
		t.Errorf("the columns of the attempts are %s", columns)
	}
	if n := len(b.texts(`#cell .attempts td[data-column=expected]`)); n != 0 {
		t.Errorf("on a narrow screen, %d fields of attempts are called expected", n)
	}
	b.has("#cell [aria-labelledby=part-probe-attempts]", "that of a model of the release")
	b.quiet()
}

func TestFindingCells(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	rows := func() []string { return b.texts("#cells .rows a.id") }
	b.open(file, "")

	// Search, in what the checks say as well.
	b.press("/")
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), "tls-client"))
	b.at("#cells&q=tls-client")
	if got := rows(); len(got) != 1 || got[0] != page.Red {
		t.Errorf("found %q, want the red cell", got)
	}
	b.press(escape, "c")
	b.at("#cells")

	// Filters, and links to them.
	b.click(`#filters input[value="expected-fail"]`)
	b.at("#cells&outcome=expected-fail")
	b.do(chromedp.SendKeys(chromedp.CSS("#filters [name=kubelet]"), "v1.89.3"))
	b.at("#cells&outcome=expected-fail&kubelet=v1.89.3")
	if got := rows(); len(got) != 1 {
		t.Errorf("found %q, want one", got)
	}
	b.has("#cells-count", "1 of 11 cells")
	b.do(chromedp.NavigateBack())
	b.at("#cells&outcome=expected-fail")
	if got := rows(); len(got) != 2 {
		t.Errorf("back, found %q, want two", got)
	}
	b.click(`#filters [type=reset]`)
	b.at("#cells")
	for hash, want := range map[string]int{
		"#cells&outcome=fail,flaky": 2, "#cells&kep=KEP-2": 4, "#cells&apiserver=v1.89.3": 1, "#cells&watchdog=v1.8.0": 1,
		"#cells&reference=yes": 1, "#cells&outcome=not-applicable": 1, "#cells&outcome=not-applicable&reference=no": 0,
		"#cells&kubelet=v1.90.1": 4, "#cells&apiserver=any&kubelet=v1.90.1": 2, "#cells&apiserver=any&kubelet=any": 2,
		"#cells&requirement=KEP-1/skew/older": 2, "#cells&outcome=attention": 6, "#cells&q=no+such": 0, "#cells&q=v1.90": 6, "#cells&q=kep-1%20v1.89.3": 3, "#cells&q=kep-2%20reference": 1,
	} {
		b.open(file, hash)
		if got := rows(); len(got) != want {
			t.Errorf("%s shows %d cells, want %d: %q", hash, len(got), want, got)
		}
	}
	b.open(file, "#cells")
	b.shot("cells")
	b.quiet()
}

// TestCellsOfARequirement: the list shows how its checks came out, a cell that is opened
// from there shows which they are, and the way back leads to the same list.
func TestCellsOfARequirement(t *testing.T) {
	const good, bad = "KEP-1/upgrade/nothing-else", "KEP-1/upgrade/takes-effect"
	b := newTab(t, 1280)
	file := written(t, small())
	for choice, want := range map[string]string{
		"requirement=" + bad: "F new restarts-end: expected", "requirement=" + good: "P pass", "requirement=" + good + "&outcome=fail": "",
		"requirement=KEP-1/upgrade": "F new restarts-end: expected", "outcome=fail": "F new restarts-end: expected",
	} {
		b.open(file, "#cells&"+choice)
		said := strings.Join(b.texts("#cells .rows .item .badge, #cells .rows .item .why"), " ")
		if !strings.HasPrefix(said, want) || want == "P pass" && said != want || want == "" && said != "" {
			t.Errorf("the cells of %s say %q, want %q", choice, said, want)
		}
	}
	list := "#cells&requirement=" + good
	b.open(file, list)
	b.has("#cells-count", "each with the outcome of its checks of "+good)
	b.press("j", enter)
	b.at(red + "&requirement=" + good)
	if marked := b.texts("#cell tr.target a.id"); len(marked) != 1 || marked[0] != "one-pod" {
		t.Errorf("marked are the checks %q, want that of the requirement", marked)
	}
	b.press(escape)
	b.at(list)
	if focused := eval[string](b, "document.activeElement.hash"); focused != red+"&requirement="+good {
		t.Errorf("back in the list, the focus is on %q", focused)
	}
	b.press("c")
	b.at("#cells")
	if badge := strings.Join(b.texts(fmt.Sprintf(`#cells .rows .item:has([href=%q]) .badge`, red)), ""); badge != "F new" {
		t.Errorf("in the list of all, the cell is %q again, want a failure", badge)
	}

	// A link from outside the page.
	b.open(file, red+"&requirement="+good)
	b.click("#cell .around a")
	b.at(list)
	b.quiet()
}

func TestTheKeyboard(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), "#cells&kep=KEP-1")
	first := b.texts("#cells .rows a.id")
	b.press("j", "j", "k", "j", enter)
	b.at("#cell=" + first[1])
	b.press("j")
	b.at("#cell=" + first[2])
	b.press("k", "k")
	b.at("#cell=" + first[0])
	b.press(escape)
	b.at("#cells&kep=KEP-1")
	b.press("r")
	b.at("#requirements")
	if n := len(b.texts("#requirements .statement")); n != 4 {
		t.Errorf("%d requirements, want the 4 of which not every check passed", n)
	}
	b.press("?")
	b.until("document.getElementById('keys').open")
	b.shot("keys")
	b.press(escape)
	b.until("!document.getElementById('keys').open")
	b.press("o")
	b.at("")
	b.do(chromedp.Focus(chromedp.CSS(".deviation summary")))
	b.press(enter)
	b.until("document.querySelector('.deviation').open")
	b.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	b.press("j", enter)
	b.at(red)
	b.quiet()
}

func TestThemes(t *testing.T) {
	b := newTab(t, 1280)
	b.open(written(t, small()), red)
	background := "getComputedStyle(document.body).backgroundColor"
	b.theme("light")
	light := eval[string](b, background)
	b.theme("dark")
	dark := eval[string](b, background)
	if light == dark {
		t.Errorf("dark and light are both %s", dark)
	}
	b.shot("cell-dark")
	b.press("t")
	if got := eval[string](b, background); got != light {
		t.Errorf("t makes it %s, want light: %s", got, light)
	}
	b.do(chromedp.Reload())
	b.until("document.documentElement.dataset.theme === 'light'")
	b.quiet()
}

func TestOnPaper(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	for name, hash := range map[string]string{"overview": "", "cell": red} {
		b.open(file, hash)
		pdf := get(b, chromedp.PrintToPDF())
		if !strings.HasPrefix(string(pdf), "%PDF-") {
			t.Errorf("the %s prints as %.20q", name, pdf)
		}
		keep(t, name+".pdf", pdf)
	}
	b.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
	if left := b.texts("header.top, .copy, .issue, .bar"); len(left) != 0 {
		t.Errorf("paper shows what can only be clicked: %q", left)
	}
	b.quiet()
}

func TestWithoutScripts(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate("file://"+file))
	words := get(b, chromedp.TextContent(chromedp.CSS("main")))
	for _, want := range []string{"1 new", page.Red, page.Cause, page.Because, "satisfies it >= 5", "With JavaScript", "Cells", "An upgrade leaves other containers alone."} {
		if !strings.Contains(words, want) {
			t.Errorf("without scripts, the page does not show %q", want)
		}
	}
	b.shot("without-scripts")
	b.quiet()
}

// TestHostileTexts: what programs under test say does nothing, and shows.
func TestHostileTexts(t *testing.T) {
	b := newTab(t, 1280)
	file := written(t, small())
	hash := "#cell=kep-2/api/hostile/kubelet:v1.90.1"
	for _, place := range []string{"", hash, "#requirements", "#cells"} {
		b.open(file, place)
		if place == hash {
			b.click("#cell .objects .object summary")
			b.click("#cell .attempts button")
			b.click(".lanes .it.mark")
			b.has("#cell .detail", `window.owned=1</script>`)
			b.has("#cell .wire", `\u202edesrever\x00\x1b[2J`)
			b.shot("hostile")
		}
		if eval[bool](b, "'owned' in window") {
			t.Errorf("at %q, a text ran", place)
		}
		if n := eval[int](b, "document.querySelectorAll('[onerror], main script, main :is(b, img):not([class], .tile b):is([src=x])').length"); n != 0 {
			t.Errorf("at %q, a text became %d elements", place, n)
		}
		if eval[bool](b, `/[\u202e\u0000\u001b]/.test(document.body.innerText)`) {
			t.Errorf("at %q, characters are left that do not show as themselves", place)
		}
	}
	b.quiet()
}

// TestThePolicyHolds: even if a text became markup, the browser would not run it,
// nor load anything.
func TestThePolicyHolds(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	b := newTab(t, 1280)
	b.open(written(t, small()), "")
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`
		const script = document.createElement('script');
		script.textContent = 'window.owned = 1';
		const image = document.createElement('img');
		image.setAttribute('onerror', 'window.owned = 2');
		window.refused = [];
		document.addEventListener('securitypolicyviolation', (e) => window.refused.push(e.effectiveDirective));
		document.body.append(script, image);
		image.src = '%[1]s/x.png';
		fetch('%[1]s').catch(() => {});`, server.URL)))
	b.until("['script-src-elem', 'img-src', 'connect-src'].every((d) => window.refused.includes(d))")
	if eval[bool](b, "'owned' in window") {
		t.Error("a script ran that is not the page's")
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the page asked a server %d times", n)
	}
}

// TestNarrow: on a phone, nothing makes the page wider than the screen.
func TestNarrow(t *testing.T) {
	b := newTab(t, 390)
	file := written(t, small())
	for name, hash := range map[string]string{"overview": "", "cell": red, "hostile": "#cell=kep-2/api/hostile/kubelet:v1.90.1", "cells": "#cells", "requirements": "#requirements"} {
		b.open(file, hash)
		if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 390 {
			t.Errorf("the %s is %d wide", name, wide)
		}
		b.do(chromedp.Evaluate[chromedp.Void]("for (const d of document.querySelectorAll('details')) d.open = true"))
		if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 390 {
			t.Errorf("unfolded, the %s is %d wide", name, wide)
		}
		if odd := eval[string](b, `[...document.querySelectorAll('.badge')].filter((e) => e.checkVisibility())
			.filter((e) => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > innerWidth || e.offsetHeight > 40 || e.offsetWidth > 200).map((e) => e.innerText).join(', ')`); odd != "" {
			t.Errorf("badges of the %s overflow, wrap, or are stretched: %s", name, odd)
		}
		b.shot(name + "-390")
	}
	b.quiet()
}
