package render

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
)

// regressions is the area of the cells that reproduce known bugs.
const regressions = reports.Regressions

// TrackRecord writes, as Markdown, which known regressions a run detected on which
// releases: red since and until which one, what fixed it, the expected and the observed
// color, and the command that reproduces it. A cell must be red if a known deviation
// says so.
func TrackRecord(w io.Writer, r reports.Report) error {
	var m markdown
	sources := evidence.Sources{Taken: []string{r.Reproduce.Command}, Flags: r.Reproduce.PairFlags()}
	m.printf("# Track record\n\nKnown regressions of Kubernetes, and the releases on which scenarios detect them.\n")
	cells := make(map[string]reports.Cell)
	for _, c := range r.Cells {
		cells[c.ID] = c
	}
	bugs := reports.Only(r.Requirements, func(q reports.Requirement) bool { return q.KEP == regressions })
	var rows [][]string
	for _, q := range bugs {
		for _, scenario := range reports.Grouped(cellsOf(q, cells), func(c reports.Cell) string { return c.Scenario }) {
			rows = append(rows, sides(scenario, r.Findings)...)
		}
	}
	m.printf("\n")
	m.table(rows, "regression", "red since", "red until", "fixed by")
	for _, q := range bugs {
		m.bug(q, cells, sources)
	}
	m.printf("\nAll known regressions: %s\n", inCode(sources.Command(regressions+"/**")))
	return m.writeTo(w, "the track record")
}

// cellsOf returns the cells that say something of a regression.
func cellsOf(q reports.Requirement, cells map[string]reports.Cell) (of []reports.Cell) {
	return reports.Each(q.Cells, func(id string) reports.Cell { return cells[id] })
}

func (m *markdown) bug(q reports.Requirement, cells map[string]reports.Cell, sources evidence.Sources) {
	m.printf("\n## %s\n\n%s\n%s\n\n", code(q.ID), text(q.Statement), text(q.Source))
	m.table(reports.Each(cellsOf(q, cells), func(c reports.Cell) []string { return bugRow(c, sources) }), "releases", "expected", "observed", "detected by", "command")
}

func bugRow(c reports.Cell, sources evidence.Sources) []string {
	releases := reports.Each(slices.Sorted(maps.Keys(c.Axes)), func(axis string) string { return axis + " " + c.Axes[axis] })
	must, is, finders := color(c)
	return []string{text(strings.Join(releases, ", ")), must, is, code(strings.Join(finders, ", ")), inCode(sources.Command(c.ID))}
}

// sides is a row that says of a scenario since and until which release it is red, and
// what fixed it. A scenario that is never red is a control, and has none.
func sides(cells []reports.Cell, findings []reports.Finding) [][]string {
	axis := varying(cells)
	slices.SortStableFunc(cells, func(a, b reports.Cell) int {
		return release.Version(a.Axes[axis]).Compare(release.Version(b.Axes[axis]))
	})
	isRed := func(c reports.Cell) bool { _, is, _ := color(c); return is == red }
	first := slices.IndexFunc(cells, isRed)
	if first < 0 {
		return nil
	}
	last := first
	for i := first; i < len(cells); i++ {
		if isRed(cells[i]) {
			last = i
		}
	}
	f := findingOf(cells[first], findings)
	at := func(i int) string { return varied[axis] + " " + cells[i].Axes[axis] }
	return [][]string{{
		code(strings.TrimPrefix(cells[0].Scenario, regressions+"/")),
		linkedText(since(at(first), cells[:first], axis, f.Since)),
		text(until(at(last), between(cells[first:last], axis), cells[last+1:], axis)),
		linkedText(cmp.Or(f.FixedBy, "nothing yet that we know of")),
	}}
}

// since says from which release on a scenario is red: first is the first that is, before are the cells of older
// ones, and known is what is known of it.
func since(first string, before []reports.Cell, axis, known string) string {
	judged, unjudged := beside(before, axis, true)
	switch {
	case judged != "" && known != "":
		return first + ", green on " + judged + unjudged + "; " + known
	case judged != "":
		return first + ", green on " + judged + unjudged
	case known != "":
		return known
	case unjudged != "":
		return first + " or earlier: the oldest that was judged" + unjudged
	}
	return first + " or earlier: the oldest that ran"
}

// until says up to which release a scenario is red: last is the last that is, gap are older ones that are
// green, and after are the cells of newer ones.
func until(last, gap string, after []reports.Cell, axis string) string {
	if gap != "" {
		last += " (but green on " + gap + ")"
	}
	switch judged, unjudged := beside(after, axis, false); {
	case judged != "":
		return last + ", green on " + judged + unjudged
	case unjudged != "":
		return "still red on " + last + ", the newest that was judged" + unjudged
	}
	return "still red on " + last + ", the newest that ran"
}

// between are the releases of cells that are green.
func between(cells []reports.Cell, axis string) string {
	var releases []string
	for _, c := range cells {
		if _, is, _ := color(c); is == green {
			releases = append(releases, c.Axes[axis])
		}
	}
	return strings.Join(slices.Compact(releases), ", ")
}

// beside is the release of the last or the first of some cells that was judged, and what
// is said of those nearer, which were not.
func beside(cells []reports.Cell, axis string, last bool) (judged, unjudged string) {
	cells = slices.Clone(cells)
	if last {
		slices.Reverse(cells)
	}
	var others []string
	for _, c := range cells {
		if c.Outcome.Judged() {
			judged = c.Axes[axis]
			break
		}
		others = append(others, c.Axes[axis])
	}
	if len(others) > 0 {
		slices.Sort(others)
		unjudged = "; not judged on " + strings.Join(slices.Compact(others), ", ")
	}
	return judged, unjudged
}

// varied is what has the release that an axis of a scenario names.
var varied = map[string]string{
	"kubelet": "kubelet", "release": "release", "apiserver": "kube-apiserver", "manager": "kube-controller-manager", "scheduler": "kube-scheduler",
}

// varying is the axis with most releases. The kubelet's comes first.
func varying(cells []reports.Cell) (axis string) {
	most := 0
	for _, name := range []string{"kubelet", "release", "apiserver", "manager", "scheduler"} {
		values := make(map[string]bool)
		for _, c := range cells {
			if v := c.Axes[name]; v != "" {
				values[v] = true
			}
		}
		if len(values) > most {
			axis, most = name, len(values)
		}
	}
	return axis
}

// findingOf is what is known of the first check of a cell that explains itself.
func findingOf(c reports.Cell, findings []reports.Finding) reports.Finding {
	for _, check := range c.Checks {
		if f := reports.FindingOf(findings, check.Finding); f.ID != "" {
			return f
		}
	}
	return reports.Finding{}
}

// The colors of a cell that was judged.
const red, green = "red", "green"

// color returns the expected and the observed color of a cell, and the checks
// that detected the bug.
func color(c reports.Cell) (must, is string, finders []string) {
	must, is = green, green
	for _, check := range c.Checks {
		if check.Outcome == reports.ExpectedFail || check.Outcome == reports.UnexpectedPass {
			must = red
		}
		if check.Outcome == reports.Fail || check.Outcome == reports.ExpectedFail {
			is = red
			finders = append(finders, check.ID)
		}
	}
	if !c.Outcome.Judged() {
		is = c.Outcome.Word()
	}
	return must, is, finders
}
