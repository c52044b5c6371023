package page

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/reports/render"
)

// TestDeviationsComeByWeight: checks of one finding are one group, whatever their reasons,
// and what has no finding comes last, those of most cells first.
func TestDeviationsComeByWeight(t *testing.T) {
	t.Parallel()
	check := func(id, finding, reason string) reports.Check {
		return reports.Check{ID: id, Outcome: reports.ExpectedFail, Finding: finding, Reason: reason}
	}
	cells := []reports.Cell{
		{ID: "a/b/c", Checks: []reports.Check{check("w", "", "rare"), check("x", "", "brief"), check("y", "slow", "one"), check("z", "slow", "two"), check("v", "lost", "it")}},
		{ID: "a/b/d", Checks: []reports.Check{check("x", "", "brief"), {ID: "y", Outcome: reports.Pass, Finding: "slow"}}},
	}
	findings := []finding.Finding{
		{Finding: reports.Finding{ID: "slow", Class: reports.KnownBug, Headline: "Slow", Issue: "https://example.com/1"}},
		{Finding: reports.Finding{ID: "lost", Class: reports.Defect, Headline: "Lost"}},
	}
	var got []string
	for _, g := range recorded(cells, findings) {
		for _, d := range g.All {
			got = append(got, fmt.Sprintf("%s, %d unreported: %s%s, %d", g.Heading, g.Unreported, d.Headline, d.Reason, d.Cells()))
		}
	}
	want := []string{"Defects of releases, 1 unreported: Lostit, 1", "Known bugs, 0 unreported: Slowone, 1", "Without a class, 0 unreported: brief, 2", "Without a class, 0 unreported: rare, 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deviations (-want +got):\n%s", diff)
	}
	cells = MadeMany(2000).Cells
	sum := 0
	for _, d := range recorded(cells, nil)[0].All {
		if len(d.Tiles) != maxDeviationTiles {
			t.Errorf("a deviation of %d cells shows %d", d.Cells(), len(d.Tiles))
		}
		sum += d.Cells()
	}
	if sum != 200 {
		t.Errorf("they are of %d cells, want 200", sum)
	}
}

// TestTheHeadingSaysWhatIsKnown, with no tick, if nothing is new. It counts what the page shows.
func TestTheHeadingSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	kep := func(id string, outcome reports.Outcome) reports.Check {
		return reports.Check{ID: id, Outcome: outcome, Finding: id, Requirement: "KEP-1/" + id}
	}
	findings := []reports.Finding{
		{ID: "lost", Class: reports.Defect}, {ID: "both", Class: reports.Contradiction}, {ID: "behind", Class: reports.Outrun},
		{ID: "slow", Class: reports.KnownBug, Issue: "https://example.com/1"},
	}
	requirements := []reports.Requirement{{ID: "KEP-1/lost"}, {ID: "KEP-1/both"}, {ID: "KEP-1/behind"}}
	known := reports.Cell{ID: "a/b/known", Outcome: reports.ExpectedFail, Checks: []reports.Check{
		kep("lost", reports.ExpectedFail), kep("both", reports.Ambiguous), kep("behind", reports.ExpectedFail), kep("slow", reports.ExpectedFail),
	}}
	fresh := reports.Cell{ID: "a/b/new", Outcome: reports.Fail, Checks: []reports.Check{{ID: "x", Outcome: reports.Fail}}}
	green := reports.Cell{ID: "a/b/green", Outcome: reports.Pass}
	const tick, sign = `<span class="mark" aria-hidden="true">✓`, `<span class="mark" aria-hidden="true">≠`
	for name, tc := range map[string]struct {
		cells []reports.Cell
		want  []string
		tick  bool
	}{
		"known": {[]reports.Cell{known, green}, []string{sign, ">Nothing new. 4 known deviations: 1 defect not reported, 2 errors of a KEP&#39;s text not reported, 1 reported bug</h1>", "2 cells:", "1 deviates as recorded"}, false},
		"new":   {[]reports.Cell{known, fresh}, []string{`>1 new</a>, 1 deviates as recorded (1 not reported)</h1>`}, false},
		"green": {[]reports.Cell{green}, []string{">Nothing new, everything conforms</h1>"}, true},
	} {
		html := write(t, Run{Report: reports.Report{Cells: tc.cells, Summary: reports.Summarize(tc.cells), Findings: findings, Requirements: requirements}})
		if strings.Contains(html, tick) != tc.tick {
			t.Errorf("%s: that there is a tick is %t", name, !tc.tick)
		}
		for _, want := range tc.want {
			if !strings.Contains(html, want) {
				_, heading, _ := strings.Cut(html, "<h1")
				t.Errorf("%s: the page has no %s: <h1%.200s", name, want, heading)
			}
		}
	}
}

// TestWhatIsReportedIsCopiedAsAComment on its issue, which the button names.
func TestWhatIsReportedIsCopiedAsAComment(t *testing.T) {
	t.Parallel()
	for issue, want := range map[string]string{
		"": "Copy as issue", "https://github.com/kubernetes/kubernetes/issues/113938": "Copy as comment on kubernetes#113938", "https://example.com/7": "Copy as comment",
	} {
		report := MadeReport()
		known := Recorded
		known.Issue = issue
		report.Findings = []reports.Finding{known}
		if html := write(t, Run{Report: report}); !strings.Contains(html, `data-issue="gate-is-read-late">`+want+"</button>") {
			t.Errorf("the page has no button %q", want)
		}
	}
}

// TestKindsOfKnownDeviations are counted apart by class, text and whether they are reported.
func TestKindsOfKnownDeviations(t *testing.T) {
	t.Parallel()
	of := func(class reports.Class, issue, requirement string) deviation {
		return deviation{Finding: finding.Finding{Finding: reports.Finding{ID: "x", Class: class, Issue: issue}, Statement: finding.Statement{Requirement: requirement}}}
	}
	for want, d := range map[string]deviation{
		"2 defects reported":                of(reports.Defect, "https://example.com/1", ""),
		"2 errors of a text not reported":   of(reports.Outrun, "", "docs/x"),
		"2 known bugs not reported":         of(reports.KnownBug, "", ""),
		"2 without a class not reported":    of("", "", ""),
		"2 of a list of the run's own":      {},
		"2 errors of a KEP's text reported": of(reports.Contradiction, "https://example.com/1", "KEP-1/x"),
	} {
		if got := d.kind().count(2); got != want {
			t.Errorf("the kind is counted as %q, want %q", got, want)
		}
	}
}

func TestTheHeadingSaysHowManyAreNotReported(t *testing.T) {
	t.Parallel()
	r := reports.Report{
		Summary:  reports.Summary{Cells: 3, Outcomes: map[reports.Outcome]int{reports.ExpectedFail: 2, reports.Fail: 1}},
		Cells:    []reports.Cell{{ID: "a/b/new", Outcome: reports.Fail}},
		Findings: []reports.Finding{{ID: "lost", Class: reports.Defect}, {ID: "slow", Class: reports.KnownBug, Issue: "https://example.com/1"}},
	}
	for _, of := range r.Findings {
		r.Cells = append(r.Cells, reports.Cell{ID: "a/b/" + of.ID, Outcome: reports.ExpectedFail, Checks: []reports.Check{{ID: "x", Outcome: reports.ExpectedFail, Finding: of.ID}}})
	}
	if html := write(t, Run{Report: r}); !strings.Contains(html, "2 deviate as recorded (1 not reported)</h1>") {
		_, heading, _ := strings.Cut(html, "<h1")
		t.Errorf("the heading is <h1%.200s", heading)
	}
}

// TestDeviationsAreAboveTheMatrix: tagged if they are not reported, with who can mend them.
func TestDeviationsAreAboveTheMatrix(t *testing.T) {
	t.Parallel()
	above, _, _ := strings.Cut(write(t, Run{Report: MadeReport()}), `id="matrix"`)
	for _, want := range []string{
		`<b>Defects of releases</b> <span class="dim">1 deviation, 1 not reported</span>`, `id="finding-gate-is-read-late"`, Recorded.Headline,
		`<span class="tag unreported">not reported</span><span class="tag">SIG Node</span><span class="tag">2 cells</span>`,
		`pkg/kubelet/prober/prober.go:201 of kubernetes v1.90.1</a>`, `data-issue="gate-is-read-late"`, `<summary>Reproduce without skewrig</summary><p class="dim">This script was not run for this report.`, "cluster() { kind create cluster; }\ncluster; kubectl get pods</pre>", `href="#finding=gate-is-read-late"`,
	} {
		if !strings.Contains(above, want) {
			t.Errorf("above the matrix, the page does not have %s", want)
		}
	}
}

// TestDraftsAreThoseOfTheCommand: for what is recorded and for what is new.
func TestDraftsAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	blocks := unpack(t, write(t, Run{Report: report}))
	drafts := decode[map[string]string](t, blocks["issues"])
	all := finding.All(evidence.Run{Report: report}, nil)
	for _, f := range all {
		var b bytes.Buffer
		if err := render.Issue(&b, report, f); err != nil {
			t.Fatal(err)
		}
		if drafts[f.ID] != b.String() {
			t.Errorf("the draft of %s is %q, want %q", f.ID, drafts[f.ID], b.String())
		}
	}
	if len(all) != 3 || len(drafts) != len(all)+2 {
		t.Errorf("%d drafts of %d findings, want those of the failure, of the flaky check and of what is recorded, and of the two cells of the former", len(drafts), len(all))
	}
	for _, c := range decode[index](t, blocks["index"]).Cells {
		if id := c.Drafts["restarts-end"]; (c.ID == Red) != (id != "") || id != "" && !strings.Contains(drafts[id], "restarts-end") {
			t.Errorf("the draft of %s is %q", c.ID, id)
		}
	}
}

// TestTitles: those of texts from the sources of their statements, those of scenarios from
// the plans.
func TestTitles(t *testing.T) {
	t.Parallel()
	sources := map[string][]string{
		"KEP-1":    {"KEP-1: Probes, faster, Goals", "KEP-1: Probes, faster, Design, API", "KEP-1: Probes, faster, Design, Skew"},
		"KEP-2":    {"KEP-2: Alone, Goals"},
		"KEP-3":    {"https://example.com/3", "https://example.com/3"},
		"watchdog": {"dependency-watchdog, prober, Origin", "dependency-watchdog, prober, Prober"},
	}
	var all []reports.Requirement
	for kep, of := range sources {
		for i, source := range of {
			all = append(all, reports.Requirement{ID: fmt.Sprint(kep, i), KEP: kep, Source: source})
		}
	}
	want := map[string]string{"KEP-1": "Probes, faster", "KEP-2": "Alone", "watchdog": "dependency-watchdog, prober"}
	if diff := cmp.Diff(want, kepTitles(all)); diff != "" {
		t.Errorf("titles of texts (-want +got):\n%s", diff)
	}
	dir := fstest.MapFS{"cells/" + Red + "/plan.json": {Data: []byte(`{"format": 1, "title": "A <kubelet> is upgraded"}`)}}
	page := write(t, Run{Report: MadeReport(), Dir: dir})
	if n := strings.Count(page, "A &lt;kubelet&gt; is upgraded"); n != 3 {
		t.Errorf("the title is in the page %d times, want with what is new, in the matrix and in the list", n)
	}
	cells := decode[index](t, unpack(t, page)["index"]).Cells
	if at := slices.IndexFunc(cells, func(c indexed) bool { return c.ID == Red }); cells[at].Title != "A <kubelet> is upgraded" {
		t.Error("the scripts don't know the title")
	}
}

// TestTheFirstScreenSaysWhatWasReproduced, with the address of the bug.
func TestTheFirstScreenSaysWhatWasReproduced(t *testing.T) {
	t.Parallel()
	const bug = "regressions/kubernetes-1"
	check := madeCheck("stays-ready", bug, reports.ExpectedFail, "for 5s: a == b", `" False True"`, "known")
	check.Finding = "bug"
	stated := reports.Requirement{ID: bug, KEP: "regressions", Statement: "It stays.", Source: "Known bugs, https://github.com/kubernetes/kubernetes/issues/1"}
	report := madeRun([]reports.Cell{madeCell(bug+"/restart/kubelet:v1.89.3", 1, check)}, []reports.Requirement{stated})
	report = report.Explained([]reports.Finding{{ID: "bug", Class: reports.KnownBug, Headline: "It goes", Seen: "the pod was not ready ({observed})"}})
	page := write(t, Run{Report: report})
	for _, want := range []string{"<b>REPRODUCED kubernetes#1: the pod was not ready (False True) (known, so exit 0)</b>", `href="https://github.com/kubernetes/kubernetes/issues/1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	_, section, _ := strings.Cut(page, `<h2 id="reproduced">`)
	if section, _, _ = strings.Cut(section, "</section>"); !strings.Contains(section, `<span class="id">regressions/`) {
		t.Errorf("it does not name the cell:\n%s", section)
	}
}

// TestTheFirstScreenSaysTheWholeCause: what led to it stands below it, also for who has no
// scripts.
func TestTheFirstScreenSaysTheWholeCause(t *testing.T) {
	t.Parallel()
	page := write(t, Run{Report: MadeReport(), Narration: MadeNarration})
	if !strings.Contains(page, "<li>"+Because+"</li>") {
		t.Errorf("the page does not say %q", Because)
	}
}

// TestWhatIsNewIsCompared: with the same check that is recorded for another cell, and with
// where it passes; the draft names its own cell.
func TestWhatIsNewIsCompared(t *testing.T) {
	t.Parallel()
	const fresh = "kep-1/gate/toggled/apiserver:v1.90.1/kubelet:v1.88.0"
	report := MadeReport()
	good := madeCell("kep-1/gate/toggled/apiserver:v1.90.1/kubelet:v1.87.0", 1, madeCheck("gate-is-off", "KEP-1/gate/off", reports.Pass, "at once: plaintext == true", "true", ""))
	cells := append(report.Cells, good, madeCell(fresh, 1, madeCheck("gate-is-off", "KEP-1/gate/off", reports.Fail, "at once: plaintext == true", "false", "")))
	report = madeRun(cells, report.Requirements).Explained(report.Findings)
	page := write(t, Run{Report: report})
	for _, want := range []string{`<h2 id="attention">New</h2>`, `<h2 id="unjudged">Not judged</h2>`, "Requirement, in our words:", "If this is the recorded deviation “" + Recorded.Headline + "”", `href="#finding=gate-is-read-late"`, "The same check passes with kubelet v1.87.0", "1 known deviation, which 2 cells show"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	blocks := unpack(t, page)
	drafts := decode[map[string]string](t, blocks["issues"])
	for _, c := range decode[index](t, blocks["index"]).Cells {
		if c.ID != fresh {
			continue
		}
		draft := drafts[c.Drafts["gate-is-off"]]
		for _, want := range []string{c.Again.Command, Recorded.At[0], "go install github.com/skewrig/skewrig/cmd/skewrig@v0.6.0"} {
			if !strings.Contains(draft, want) {
				t.Errorf("the draft has no %q:\n%s", want, draft)
			}
		}
		if n := strings.Count(draft, "--report-dir"); n != 1 {
			t.Errorf("the draft has %d report directories", n)
		}
	}
}

// TestACheckIsBesideItsTwin: on the first screen, in the data and in the draft.
func TestACheckIsBesideItsTwin(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	twin := madeCheck("restarts-end-elsewhere", "KEP-1/upgrade/takes-effect", reports.Pass, "within 5s: elsewhere.size() == 7", "7 of it", "")
	for i := range report.Cells {
		if report.Cells[i].ID == Red {
			report.Cells[i].Checks = append(report.Cells[i].Checks, twin)
		}
	}
	page := write(t, Run{Report: report})
	for _, want := range []string{"this check <code>restarts-end</code>", "that check, which passes <code>restarts-end-elsewhere</code>", `<div class="said">within 5s: elsewhere.size() == 7</div>`, `<div class="said">7 of it</div>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the first screen has no %q", want)
		}
	}
	blocks := unpack(t, page)
	for _, c := range decode[index](t, blocks["index"]).Cells {
		if c.ID != Red {
			continue
		}
		var ids []string
		for _, one := range c.Compared["restarts-end"].Twins {
			ids = append(ids, one.ID)
		}
		if diff := cmp.Diff([]string{"restarts-end", twin.ID}, ids); diff != "" {
			t.Errorf("the data have (-want +got):\n%s", diff)
		}
		if draft := decode[map[string]string](t, blocks["issues"])[c.Drafts["restarts-end"]]; !strings.Contains(draft, "| this check, `restarts-end` | ") || !strings.Contains(draft, "| that check, which passes, `"+twin.ID+"` | within 5s: elsewhere.size() == 7 | 7 of it |") {
			t.Errorf("the draft does not have both:\n%s", draft)
		}
	}
}

// TestAnAmbiguousCheckIsBesideTheOtherReading: with what that rests on.
func TestAnAmbiguousCheckIsBesideTheOtherReading(t *testing.T) {
	t.Parallel()
	obeys := madeCheck("obeys", "KEP-1/obeys", reports.Ambiguous, "at once: a == 1", "2", "")
	fallsBack := madeCheck("falls-back", "KEP-1/falls-back", reports.Pass, "at once: a == 2", "2", "")
	requirements := []reports.Requirement{madeRequirement("KEP-1/obeys", "It obeys."), madeRequirement("KEP-1/falls-back", "It falls back.")}
	requirements[0].Contradicts = []string{"KEP-1/falls-back"}
	report := madeRun([]reports.Cell{madeCell("kep-1/a/b/kubelet:v1.90.1", 1, obeys, fallsBack)}, requirements)
	cells := decode[index](t, unpack(t, write(t, Run{Report: report}))["index"]).Cells
	want := map[string]comparison{"obeys": {Twins: []shownCheck{{"this check", "obeys", "at once: a == 1", "2"}, {"of the other reading, which passes", "falls-back", "at once: a == 2", "2"}}}}
	if diff := cmp.Diff(want, cells[0].Compared); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestThePageOffersAnEntry for the list of known deviations, that can be copied into it: it
// excuses the checks that failed, and nothing else. Without a list, there is none.
func TestThePageOffersAnEntry(t *testing.T) {
	t.Parallel()
	run := Run{Report: MadeReport(), Narration: MadeNarration, List: func(reports.Cell) string { return "mine.yaml" }}
	at := slices.IndexFunc(run.Report.Cells, func(c reports.Cell) bool { return c.ID == Red })
	html := write(t, run)
	x := decode[index](t, unpack(t, html)["index"])
	entry := x.Cells[at].Entries["restarts-end"]
	if !strings.Contains(html, `aria-label="Entry">- cells: `+Red) {
		t.Error("the first screen does not have the entry")
	}
	list, err := known.Parse("mine.yaml", []byte("apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\ndeviations:\n"+entry))
	if err != nil {
		t.Fatalf("%v:\n%s", err, entry)
	}
	if d := list.Deviations[0]; d.Reason != Cause || d.Link != "https://example.com/KEP-1" {
		t.Errorf("the entry is %+v", d)
	}
	applied, problems := known.Apply(list, []reports.Cell{run.Report.Cells[at]}, nil)
	if applied[0].Checks[0].Outcome != reports.ExpectedFail || applied[0].Checks[1].Outcome != reports.Pass || len(problems) > 0 {
		t.Errorf("with the entry, the checks are %+v (%v)", applied[0].Checks, problems)
	}
	run.List = nil
	if x := decode[index](t, unpack(t, write(t, run))["index"]); len(x.Cells[at].Entries) > 0 {
		t.Errorf("without a list, there are the entries %v", x.Cells[at].Entries)
	}
}
