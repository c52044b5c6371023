package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/render"
)

func write(t testing.TB, run Run) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, run); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var block = regexp.MustCompile(`<script type="application/octet-stream" id="data-([a-z]+(?:-\d+)?)">([A-Za-z0-9+/=]*)</script>`)

// unpack returns the data of a page by name.
func unpack(t *testing.T, page string) map[string][]byte {
	t.Helper()
	blocks := make(map[string][]byte)
	for _, found := range block.FindAllStringSubmatch(page, -1) {
		compressed, err := base64.StdEncoding.DecodeString(found[2])
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(compressed))
		if err != nil {
			t.Fatal(err)
		}
		if blocks[found[1]], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return blocks
}

func decode[T any](t *testing.T, data []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// screenOf is the first screen of a report, without its records.
func screenOf(report reports.Report) screen {
	return newScreen(newPageInput(Run{Report: report}).scene())
}

func TestTheSameRunMakesTheSamePage(t *testing.T) {
	t.Parallel()
	run := Run{Report: MadeReport(), Narration: MadeNarration}
	if first, second := write(t, run), write(t, run); first != second {
		t.Error("two pages of one run differ")
	}
}

func TestThePageHasTheWholeReport(t *testing.T) {
	t.Parallel()
	report := MadeMany(3 * chunk / 2)
	blocks := unpack(t, write(t, Run{Report: report}))
	cells := slices.Concat(decode[[]reports.Cell](t, blocks["cells-0"]), decode[[]reports.Cell](t, blocks["cells-1"]))
	if diff := cmp.Diff(report.Cells, cells); diff != "" {
		t.Errorf("the cells differ (-report +page):\n%s", diff)
	}
	x := decode[index](t, blocks["index"])
	for i, q := range report.Requirements {
		var ids []string
		for _, at := range x.Requirements[i].Cells {
			ids = append(ids, x.Cells[at].ID)
		}
		if !slices.Equal(ids, q.Cells) {
			t.Errorf("%s is served by %q, want %q", q.ID, ids, q.Cells)
		}
	}
}

func TestNarrationsAndProblems(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	at := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == Red })
	fails := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == Green })
	blocks := unpack(t, write(t, Run{
		Report: report,
		Narration: func(c reports.Cell, r reports.Run, limit int) (*narrate.Narration, error) {
			if c.ID == Green {
				return nil, errors.New("line 3 is cut off")
			}
			return MadeNarration(c, r, limit)
		},
	}))
	red := decode[happened](t, blocks[narrationBlock(at)])
	if want, _ := MadeNarration(report.Cells[at], reports.Run{}, maxNarration); cmp.Diff(want, red.Narration) != "" {
		t.Errorf("the narration differs (-made +in the page):\n%s", cmp.Diff(want, red.Narration))
	}
	if green := decode[happened](t, blocks[narrationBlock(fails)]); !strings.Contains(green.Problem, "line 3") {
		t.Errorf("of a narration that can't be made, the page says %q", green.Problem)
	}
}

func narrationBlock(i int) string { return fmt.Sprintf("narration-%d", i) }

// TestWhatIsNotBesideThePage: the page knows, and has no link to it.
func TestWhatIsNotBesideThePage(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	flaky := "runs/2/cells/" + Flaky
	dir := fstest.MapFS{
		"cells/" + Red + "/plan.txt": {}, "cells/" + Red + "/history.jsonl": {},
		flaky + "/plan.txt": {}, flaky + "/history.jsonl": {}, flaky + "/logs/etcd.log": {},
	}
	want := map[string][]string{Red: {"logs"}, Flaky: nil, Green: {"plan.txt", "history.jsonl", "logs"}}
	for _, c := range decode[index](t, unpack(t, write(t, Run{Report: report, Dir: dir}))["index"]).Cells {
		if names, asked := want[c.ID]; asked && !slices.Equal(c.Gone, names) {
			t.Errorf("%s lacks %q, want %q", c.ID, c.Gone, names)
		}
	}
	for _, c := range decode[index](t, unpack(t, write(t, Run{Report: report}))["index"]).Cells {
		if len(c.Gone) > 0 {
			t.Errorf("without a directory, %s lacks %q", c.ID, c.Gone)
		}
	}
}

// TestTheWorstRunIsNarrated: of a cell that ran three times, and failed once.
func TestTheWorstRunIsNarrated(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	report.Cells = slices.DeleteFunc(report.Cells, func(c reports.Cell) bool { return c.ID != Flaky })
	var asked []int
	blocks := unpack(t, write(t, Run{Report: report, Narration: func(_ reports.Cell, r reports.Run, _ int) (*narrate.Narration, error) {
		asked = append(asked, r.Number)
		return &narrate.Narration{}, nil
	}}))
	got := decode[happened](t, blocks[narrationBlock(0)])
	if !slices.Equal(asked, []int{2}) || got.Run != 2 || got.Dir != "runs/2/cells/"+Flaky {
		t.Errorf("asked for runs %d, narrated run %d of %s, want the second", asked, got.Run, got.Dir)
	}
}

func TestAPartialReportSaysSo(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	report.Partial = "the run was <b>broken</b> off"
	if page := write(t, Run{Report: report}); !strings.Contains(page, "<b>Partial:</b> the run was &lt;b&gt;broken&lt;/b&gt; off") {
		t.Error("the page does not say that the report is partial, and why")
	}
}

// TestAPageThatIsFull: the cells that need attention come first, and what does
// not fit is left out.
func TestAPageThatIsFull(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	bare := len(write(t, Run{Report: report, Narration: MadeNarration, MaxBytes: 1}))
	asked := make(map[string]bool)
	whole := Run{Report: report, Narration: MadeNarration}
	for _, room := range []int{0, 2_000, 4_000, 8_000} {
		whole.MaxBytes = bare + room
		page := write(t, whole)
		if len(page) > whole.MaxBytes {
			t.Errorf("a page of at most %d bytes has %d", whole.MaxBytes, len(page))
		}
		for name := range unpack(t, page) {
			if strings.HasPrefix(name, "narration-") {
				asked[name] = true
			}
		}
	}
	order := attentionFirst(report.Cells)
	first, last := report.Cells[order[0]], report.Cells[order[len(order)-1]]
	if first.Outcome != reports.Fail || last.Outcome != reports.NotApplicable {
		t.Errorf("the first cell is %s, the last %s", first.Outcome, last.Outcome)
	}
	whole.MaxBytes = bare + 4_000
	if blocks := unpack(t, write(t, whole)); len(blocks[narrationBlock(order[0])]) == 0 {
		t.Error("the failed cell has no narration, where there is room for one")
	}
	if len(asked) == 0 || len(asked) >= len(report.Cells) {
		t.Errorf("%d narrations fit, want some", len(asked))
	}
}

// TestALongNarrationIsShortened: one that does not fit is made again, and shorter. It
// is left out if there is no room for that either.
func TestALongNarrationIsShortened(t *testing.T) {
	t.Parallel()
	run := Run{Report: MadeReport(), Narration: MadeNarration}
	red := slices.IndexFunc(run.Report.Cells, func(c reports.Cell) bool { return c.ID == Red })
	whole := run.pack(red, maxNarration)
	var lengths []int
	for limit := 20_000; limit > 0; limit -= 50 {
		block, err := run.fitting(whole, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(block) > limit {
			t.Fatalf("%d bytes, where there is room for %d", len(block), limit)
		}
		if n := len(block); len(lengths) == 0 || n != lengths[len(lengths)-1] {
			lengths = append(lengths, n)
		}
	}
	if len(lengths) != 3 || lengths[0] != len(whole.block) || lengths[2] != 0 {
		t.Errorf("as there is less room, it has %d bytes, want the whole, less, and none", lengths)
	}
}

// TestTalliesCountWhatTheyLinkTo: cells of the reference are neither counted nor listed.
func TestTalliesCountWhatTheyLinkTo(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	for _, tally := range screenOf(report).Tallies {
		n := 0
		for _, c := range report.Cells {
			if c.Outcome == tally.Name && !c.OfReference() {
				n++
			}
		}
		if want := template.URL("#cells&outcome=" + string(tally.Name) + "&reference=no"); tally.Cells != n || tally.Link != want {
			t.Errorf("%d cells are %s at %s, want %d at %s", tally.Cells, tally.Name, tally.Link, n, want)
		}
	}
	report.Cells = slices.DeleteFunc(report.Cells, reports.Cell.OfReference)
	report.Summary = reports.Summarize(report.Cells)
	if tally := screenOf(report).Tallies[0]; strings.Contains(string(tally.Link), "reference") {
		t.Errorf("without a reference, the link is %s", tally.Link)
	}
}

func TestEachCellIsInTheMatrixOnce(t *testing.T) {
	t.Parallel()
	for _, report := range []reports.Report{MadeReport(), MadeMany(2000)} {
		seen := make(map[string]int)
		more := 0
		for _, m := range matrices(report.Cells, nil, nil) {
			for _, r := range m.Rows {
				if len(r.Squares) != len(m.Columns) {
					t.Errorf("%s has %d squares below %d columns", r.ID, len(r.Squares), len(m.Columns))
				}
				for _, s := range r.Squares {
					more += s.More
					for _, tile := range s.Tiles {
						seen[tile.Title]++
					}
				}
			}
		}
		if len(seen)+more != len(report.Cells) {
			t.Errorf("%d cells and %d more, want %d", len(seen), more, len(report.Cells))
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("%s is there %d times", id, n)
			}
		}
	}
}

// TestTheMatrixIsOfScenariosAndReleases: a label says what else tells cells apart, and
// not what the column says.
func TestTheMatrixIsOfScenariosAndReleases(t *testing.T) {
	t.Parallel()
	all := matrices(MadeReport().Cells, map[string]string{"KEP-1": "Made up"}, map[string]string{"kep-1/gate/toggled": "A gate is toggled"})
	var names []string
	for _, m := range all {
		names = append(names, m.KEP+" by "+m.Of)
	}
	if want := []string{"KEP-1 by kubelet", "KEP-2 by kubelet", "watchdog by watchdog"}; !slices.Equal(names, want) {
		t.Fatalf("the matrices are %q, want %q", names, want)
	}
	one := all[0]
	if want := []string{"v1.89.3", "v1.90.1"}; one.Title != "Made up" || !one.Open || !slices.Equal(one.Columns, want) {
		t.Errorf("%s, open %t, has columns %q, want %q", one.Title, one.Open, one.Columns, want)
	}
	var rows []string
	for _, r := range one.Rows {
		said := r.ID + " " + r.Title + ":"
		for _, s := range r.Squares {
			for _, tile := range s.Tiles {
				said += " " + tile.Letter + " " + tile.Label
			}
			said += ";"
		}
		rows = append(rows, said)
	}
	want := []string{
		"kep-1/gate/toggled A gate is toggled: D ; D ;",
		"kep-1/skew/older-kubelet : P apiserver v1.90.1; P ;",
		"kep-1/upgrade/kubelet : F apiserver v1.90.1;;",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if many := matrices(MadeMany(2000).Cells, nil, nil); len(many) != 5 || slices.ContainsFunc(many, func(m matrix) bool {
		return m.Open != slices.ContainsFunc(m.Tallies, func(t tally) bool { return !t.Name.Expected() })
	}) {
		t.Errorf("of %d large matrices, others are open than those with something new", len(many))
	}
}

// TestWhatIsNoReleaseIsExplained: what stands in the place of one is explained where
// it is, and below; and only there.
func TestWhatIsNoReleaseIsExplained(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	report.Cells[0].Axes = nil
	page := write(t, Run{Report: report})
	for word, meaning := range map[string]string{"fixed": "this scenario does not vary this component", "reference": "the newest kubelet with a Pods API server"} {
		titled := regexp.MustCompile(`<th scope="(?:row|col)"[^>]* title="[^"]*` + meaning + `[^"]*">` + word + `</th>`)
		if !titled.MatchString(page) || !regexp.MustCompile("<b>"+word+"</b>: [^<]*"+meaning).MatchString(page) {
			t.Errorf("the page does not explain %q", word)
		}
	}
	if found := explained(matrices(MadeMany(50).Cells, nil, nil)); found != nil {
		t.Errorf("where all are releases, the page explains %v", found)
	}
}

func TestWhatHoldsInEverySkewCellIsShown(t *testing.T) {
	t.Parallel()
	lacking := madeCell("kep-1/a/b/kubelet:v1.89.3", 1, madeCheck("c", "KEP-1/x", reports.ExpectedFail, "1", "2", ""))
	lacking.Axes = map[string]string{"kubelet": "v1.89.3"}
	holds := madeCell("kep-1/a/b/kubelet:v1.90.1", 1, madeCheck("c", "KEP-1/x", reports.Pass, "1", "1", ""))
	holds.Axes = map[string]string{"kubelet": "v1.90.1"}
	page := write(t, Run{Report: madeRun([]reports.Cell{lacking, holds}, []reports.Requirement{{ID: "KEP-1/x", KEP: "KEP-1", Statement: "It holds."}})})
	for _, want := range []string{"Statements proved in every supported skew cell", "<b>KEP-1</b> 0 of 1 statement that the ledger wants a check of. Of the statements that cells of a release are to prove: v1.89.3 0 of 1; v1.90.1 1 of 1<span", `. Open because of: <a href="#cell=kep-1/a/b/kubelet:v1.89.3">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestRequirementsAreJudgedByReleases(t *testing.T) {
	t.Parallel()
	for _, part := range ledgers(MadeReport(), nil, nil) {
		for _, s := range part.Statements {
			if s.ID != "KEP-2/list" {
				continue
			}
			var got []string
			for _, v := range s.Verdicts {
				got = append(got, v.Title+": "+string(v.Name))
			}
			if want := []string{"kubelet reference: not-applicable", "kubelet v1.89.3: flaky", "kubelet v1.90.1: unexpected-pass"}; !slices.Equal(got, want) {
				t.Errorf("verdicts %q, want %q", got, want)
			}
			return
		}
	}
	t.Error("the requirement is not in the page")
}

// TestACellSaysOfARequirementWhatItsChecksSay: and not what another check of it does.
func TestACellSaysOfARequirementWhatItsChecksSay(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	at := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == Red })
	says := func(id, letters, reason string) {
		x := decode[index](t, unpack(t, write(t, Run{Report: report}))["index"])
		q := x.Requirements[slices.IndexFunc(x.Requirements, func(q requirement) bool { return q.ID == id })]
		if q.Letters != letters || q.Reasons[at] != reason {
			t.Errorf("of %s, the cell says %s %q, want %s %q", id, q.Letters, q.Reasons[at], letters, reason)
		}
	}
	says("KEP-1/upgrade/takes-effect", "F", report.Cells[at].Reason)
	says("KEP-1/upgrade/nothing-else", "P", "")
	report.Cells[at].Checks[1].Outcome, report.Cells[at].Checks[1].Reason = reports.ExpectedFail, "as is known"
	says("KEP-1/upgrade/nothing-else", "D", "one-pod: as is known")
}

// TestOutcomesToChooseBy: a check of a red cell passed, so its requirement did there.
func TestOutcomesToChooseBy(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	report.Cells = slices.DeleteFunc(report.Cells, func(c reports.Cell) bool { return c.ID != Red })
	var names []reports.Outcome
	for _, o := range screenOf(report).Choices {
		names = append(names, o.Name)
	}
	if want := []reports.Outcome{reports.Fail, reports.Pass}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// TestStrayChecks: a red check that no requirement has is named above the requirements.
func TestStrayChecks(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	said := func() string {
		_, requirements, _ := strings.Cut(write(t, Run{Report: report}), `id="requirements-title"`)
		above, _, _ := strings.Cut(requirements, `<form`)
		return above
	}
	if above := said(); strings.Contains(above, "no requirement") {
		t.Errorf("where each check has a requirement, it says %s", above)
	}
	at := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == Red })
	checks := &report.Cells[at].Checks
	stray := func(id string, o reports.Outcome) { *checks = append(*checks, reports.Check{ID: id, Outcome: o}) }
	stray("stays<up>", reports.Fail)
	for _, o := range []reports.Outcome{reports.Pass, reports.ExpectedFail, reports.NotApplicable} {
		stray("fine", o)
	}
	above := said()
	for _, want := range []string{"1 check that failed belongs to no requirement:", "stays&lt;up&gt;", `href="#cell=` + Red + `&amp;check=stays%3Cup%3E"`} {
		if !strings.Contains(above, want) {
			t.Errorf("above the requirements, it does not say %s: %s", want, above)
		}
	}
	if strings.Contains(above, "judged") || strings.Contains(above, "fine") {
		t.Errorf("it says more than it should: %s", above)
	}
	for range maxStrays + 2 {
		stray("unclear", reports.Unknown)
	}
	if above = said(); !strings.Contains(above, "11 checks that could not be judged belong to no requirement:") || !strings.Contains(above, ", and 2 more.") {
		t.Errorf("of many, it says %s", above)
	}
}

// TestFixedReleases: a cell that no release was chosen for has some all the same.
func TestFixedReleases(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	for i := range report.Cells {
		report.Cells[i].Axes = nil
	}
	page := write(t, Run{Report: report})
	for _, want := range []string{
		`>fixed</th>`,
		`title="releases fixed by the scenario: new"`, `<span title="releases fixed by the scenario">fixed</span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if strings.Contains(page, "no release<") || strings.Contains(page, "of no release") {
		t.Error("the page says that cells are of no release")
	}
}

// TestALinkLeadsToNoMoreThanItsTileCovers: not to cells that have a release more.
func TestALinkLeadsToNoMoreThanItsTileCovers(t *testing.T) {
	t.Parallel()
	axes := []string{"apiserver", "kubelet", "watchdog"}
	for want, p := range map[template.URL]pair{
		"#cells&requirement=q&apiserver=v1.90.1&kubelet=v1.89.3":      {"apiserver", "kubelet", "v1.90.1", "v1.89.3"},
		"#cells&requirement=q&apiserver=any&kubelet=v1.89.3":          {"apiserver", "kubelet", "", "v1.89.3"},
		"#cells&requirement=q&watchdog=v1.8.0":                        {"", "watchdog", "", "v1.8.0"},
		"#cells&requirement=q&apiserver=any&kubelet=any&watchdog=any": {},
	} {
		if got := p.cellsLink(axes, "requirement", "q"); got != want {
			t.Errorf("of %s, the link is %s, want %s", p, got, want)
		}
	}
}

// TestReleasesOfRequirements: the label says which component a release is of, and a release
// that both have once.
func TestReleasesOfRequirements(t *testing.T) {
	t.Parallel()
	mixed := MadeReport().Cells
	labels := func(cells []reports.Cell) (all []string) {
		for _, c := range cells {
			all = append(all, pairOf(c, releaseAxes(cells)).label())
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if got, want := labels(mixed), []string{"apiserver v1.90.1; kubelet v1.89.3", "apiserver, kubelet v1.89.3", "apiserver, kubelet v1.90.1", "kubelet reference", "kubelet v1.89.3", "kubelet v1.90.1", "watchdog v1.2.3", "watchdog v1.8.0"}; !slices.Equal(got, want) {
		t.Errorf("the labels are %q, want %q", got, want)
	}
	other := reports.Cell{ID: "c", Axes: map[string]string{"etcd": "v3.6.1", "watchdog": "v1.2.3"}}
	if got, want := labels([]reports.Cell{other}), []string{"watchdog v1.2.3; etcd v3.6.1"}; !slices.Equal(got, want) {
		t.Errorf("of other components, the labels are %q, want %q", got, want)
	}
}

func TestEachOutcomeHasALetterAndAColor(t *testing.T) {
	t.Parallel()
	seen := make(map[string]reports.Outcome)
	for _, o := range legend() {
		if len(o.Letter) != 1 || seen[o.Letter] != "" {
			t.Errorf("the letter of %s is %q, as of %q", o.Name, o.Letter, seen[o.Letter])
		}
		seen[o.Letter] = o.Name
		if !strings.Contains(style, ".o-"+string(o.Name)) {
			t.Errorf("%s has no color", o.Name)
		}
	}
	if len(seen) != len(reports.Outcomes()) {
		t.Errorf("%d outcomes, want %d", len(seen), len(reports.Outcomes()))
	}
}

// TestHostileTextsMakeNoElements reads the page as a browser does.
func TestHostileTextsMakeNoElements(t *testing.T) {
	t.Parallel()
	page := write(t, Run{Report: MadeReport(), Narration: MadeNarration})
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	scripts, shows := 0, false
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			shows = shows || strings.Contains(n.Data, `<img src=x onerror="window.owned=1">'"&<b>\u202edesrever\x00\x1b[2J`)
		}
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.Data == "script" && attribute(n, "type") != "application/octet-stream":
			scripts++
		case n.Data == "img" || n.Data == "iframe" || n.Data == "object":
			t.Errorf("the page has an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(a.Val, "javascript:") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	if scripts != 2 {
		t.Errorf("%d scripts, want 2", scripts)
	}
	if !shows {
		t.Error("the hostile text does not show")
	}
	if strings.ContainsAny(page, "\x00\x1b\u202e") {
		t.Error("the page has characters that do not show as themselves")
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestThePolicyIsOfThisPage: its digests are those of what is in the page.
func TestThePolicyIsOfThisPage(t *testing.T) {
	t.Parallel()
	page := write(t, Run{Report: MadeReport()})
	for _, element := range regexp.MustCompile(`(?s)<(?:style|script|script type="module")>(.*?)</(?:style|script)>`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(html.UnescapeString(page), digest(element[1])) {
			t.Errorf("the policy forbids %.60q", element[1])
		}
	}
	for _, lax := range []string{"unsafe-inline", "unsafe-eval", "*", "http:", "https:"} {
		if strings.Contains(policy, lax) {
			t.Errorf("the policy allows %s: %s", lax, policy)
		}
	}
}

// TestScripts: they can be joined in their order, and none of them can make markup
// of a text.
func TestScripts(t *testing.T) {
	t.Parallel()
	imports := regexp.MustCompile(`(?m)^import .* from '\./([a-z]+)\.js';$`)
	for i, name := range modules {
		source := read(name + ".js")
		for _, found := range imports.FindAllStringSubmatch(source, -1) {
			if !slices.Contains(modules[:i], found[1]) {
				t.Errorf("%s imports %s, which does not come before it", name, found[1])
			}
		}
		if n := strings.Count(source, "import "); n != len(imports.FindAllString(source, -1)) {
			t.Errorf("%s has an import that can't be joined: one of several lines, or from elsewhere", name)
		}
	}
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|setHTML|\beval\(|new Function|https?://`)
	files, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, isScript := strings.CutSuffix(f.Name(), ".js")
		if isScript && name != "theme" && !slices.Contains(modules, name) {
			t.Errorf("%s is in no page", f.Name())
		}
		if path.Ext(f.Name()) == ".html" {
			continue
		}
		for _, found := range markup.FindAllString(strings.ReplaceAll(read(f.Name()), "http://www.w3.org/2000/svg", ""), -1) {
			t.Errorf("%s has %s", f.Name(), found)
		}
	}
}

// TestTheOverviewSaysWhatRan: when, which releases, and by which command.
func TestTheOverviewSaysWhatRan(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	report.Reproduce.Components = append(report.Reproduce.Components, report.Reproduce.Components[2]) // another binary of a release
	page := write(t, Run{Report: report})
	_, aside, _ := strings.Cut(page, `id="this-run"`)
	run, _, _ := strings.Cut(aside, "</section>")
	for _, want := range []string{
		"This page is one run:", "22 November 2026, 08:13 UTC", "<b>kube-apiserver</b> v1.90.1</li>", "<b>kubelet</b> v1.89.3, v1.90.1</li>", "<b>skewrig</b> v0.6.0</li>",
		"skewrig run &#39;kep-1/**&#39; --report-dir report-again</pre>",
	} {
		if !strings.Contains(run, want) {
			t.Errorf("it does not say %q of the run", want)
		}
	}
}

// TestCommands: the page calls the program by one name, and says once how to get it.
func TestCommands(t *testing.T) {
	t.Parallel()
	page := write(t, Run{Report: MadeReport()})
	if n := strings.Count(page, "go install "); n != 1 || strings.Contains(page, "bin/skewrig") {
		t.Errorf("the page says %d times how to install it, want once", n)
	}
}

// TestWhatTimeScalesAndListsSay: a cell says for what time runs faster in it, and one with
// something new where that would be recorded.
func TestWhatTimeScalesAndListsSay(t *testing.T) {
	t.Parallel()
	report := MadeReport()
	dir := fstest.MapFS{reports.RunDir(Red, 1) + "/" + reports.PlanData: {Data: []byte(`{"format": 1, "topology": {"timeScale": 5, "leaseNodes": {}}}`)}}
	page := write(t, Run{Report: report, Dir: dir, List: func(c reports.Cell) string { return "known/" + c.KEP + ".yaml" }})
	for _, c := range decode[index](t, unpack(t, page)["index"]).Cells {
		scaled, list := "", ""
		if c.ID == Red {
			scaled, list = "time runs 5 × as fast for the leases of simulated nodes", "known/KEP-1.yaml"
		}
		if c.Scaled != scaled || c.List != list {
			t.Errorf("%s has the time scale %q and the list %q, want %q and %q", c.ID, c.Scaled, c.List, scaled, list)
		}
	}
	if n := strings.Count(page, "If this is known, add it to the list of known deviations: known/KEP-1.yaml."); n != 1 {
		t.Errorf("the first screen names the list %d times, want once", n)
	}
	if strings.Contains(write(t, Run{Report: report}), "If this is known, add it to the list of known deviations: .") {
		t.Error("the first screen names a list that is not known")
	}
}

// TestABugTakesALine: what else is known of a bug that was reproduced is folded.
func TestABugTakesALine(t *testing.T) {
	t.Parallel()
	const bug = "regressions/kubernetes-1"
	var cells []reports.Cell
	for i := range maxDeviationTiles + 2 {
		cells = append(cells, madeCell(fmt.Sprintf("%s/restart-%d/kubelet:v1.89.3", bug, i), 1, madeCheck("stays-ready", bug, reports.ExpectedFail, "a == b", "1", "known")))
	}
	_, section, _ := strings.Cut(write(t, Run{Report: madeRun(cells, []reports.Requirement{{ID: bug, KEP: "regressions", Statement: "It stays."}})}), `<h2 id="reproduced">`)
	section, _, _ = strings.Cut(section, "</section>")
	line, folded, _ := strings.Cut(section, "</summary>")
	if !strings.Contains(line, "REPRODUCED") || !strings.Contains(line, "14 cells") || strings.Contains(line, "<a ") {
		t.Errorf("the line of the bug is %s", line)
	}
	if strings.Count(section, "<details") != 1 || strings.Count(folded, "<a ") != maxDeviationTiles || !strings.Contains(folded, "and 2 more") {
		t.Errorf("behind the line is %s", folded)
	}
}

func TestRanAt(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 23, 58, 0, 0, time.UTC)
	ran := func(seconds float64) reports.Cell { return reports.Cell{Started: at, DurationSeconds: seconds} }
	for want, cells := range map[string][]reports.Cell{
		"":                                     {{}},
		"22 November 2026, 23:58 UTC":          {{}, ran(50)},
		"22 November 2026, 23:58 to 23:59 UTC": {ran(1), ran(70)},
		"22 November 2026, 23:58 to 23 November 2026, 00:08 UTC": {{Runs: []reports.Run{
			{Number: 1, Started: at}, {Number: 2, Started: at.Add(5 * time.Minute), DurationSeconds: 300}, {Number: 3},
		}}},
	} {
		if got := ranAt(cells); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAPageOfManyCellsIsShortEnough(t *testing.T) {
	t.Parallel()
	page := write(t, Run{Report: MadeMany(2000), Narration: MadeNarration})
	if len(page) > MaxBytes {
		t.Errorf("%d bytes", len(page))
	}
	stories := 0
	for name := range unpack(t, page) {
		if strings.HasPrefix(name, "narration-") {
			stories++
		}
	}
	if stories < 20 {
		t.Errorf("it has room for %d stories, want those of the 20 cells that failed", stories)
	}
}

func BenchmarkPageOf2000Cells(b *testing.B) {
	run := Run{Report: MadeMany(2000), Narration: MadeNarration}
	for b.Loop() {
		b.ReportMetric(float64(len(write(b, run)))/1e6, "MB")
	}
}

func BenchmarkJSONOf2000Cells(b *testing.B) {
	report := MadeMany(2000)
	for b.Loop() {
		if err := render.JSON(io.Discard, report); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAddressesOfTheRig: they are no links, as nothing is there any more.
func TestAddressesOfTheRig(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"https://127.225.0.7:8443/healthz": false, "http://localhost:1/": false, "http://[::1]:1/": false,
		"https://example.com/127.0.0.1": true, "https://localhost.example/": true,
	} {
		if got := strings.Contains(string(linked("at "+text)), "<a "); got != want {
			t.Errorf("%s is a link: %t", text, got)
		}
	}
}
