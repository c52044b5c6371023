package page

import (
	"cmp"
	"html/template"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// matrix is the cells of a KEP: a row for each scenario, a column for each release.
type matrix struct {
	KEP, Title string
	// Of names the components that the columns are releases of. If unset, no cell has a
	// release of any.
	Of      string
	Columns []string
	Rows    []row
	Tallies []tally
	// Open is true if the reader is to see the rows at once.
	Open bool
}

// row is the cells of a scenario.
type row struct {
	ID, Title string
	// Link leads to the cell that needs attention most.
	Link    template.URL
	Squares []square
}

// heading is what stands where a matrix has releases, and isn't one.
type heading struct{ Word, Meaning string }

var headings = map[string]heading{
	"":          {"fixed", "this scenario does not vary this component"},
	"reference": {"reference", "the newest kubelet with a Pods API server that follows KEP-4188, to compare kubelets with: no release, and counted apart"},
}

// headingOf is how a release, or what stands in its place, is headed.
func headingOf(release string) heading {
	if h, is := headings[release]; is {
		return h
	}
	return heading{Word: render.Visible(release)}
}

// explained are the headings of matrices that need it, each once.
func explained(all []matrix) (found []heading) {
	used := make(map[string]bool)
	for _, m := range all {
		for _, column := range m.Columns {
			used[column] = true
		}
	}
	for _, release := range slices.Sorted(maps.Keys(headings)) {
		if used[release] {
			found = append(found, headings[release])
		}
	}
	return found
}

// square is the cells of a scenario on a release.
type square struct {
	Release string
	Tiles   []tile
	// More is how many there are beyond the tiles, and Link leads to all of them.
	More int
	Link template.URL
}

// tile is a cell, or a group of cells, as one letter.
type tile struct {
	outcome
	// Title is what the letter stands for, in words.
	Title string
	// Label is what tells it from the tiles beside it. If unset, there is nothing to tell.
	Label string
	Link  template.URL
}

// maxTiles is how many cells a square shows one by one. If there are more, those
// that need attention are among them.
const maxTiles = 24

var release = regexp.MustCompile(`^v\d+\.\d+`)

// releaseAxes are the axes that have a release as some value, sorted; those of
// Kubernetes' control plane and nodes first.
func releaseAxes(cells []reports.Cell) (axes []string) {
	found := make(map[string]bool)
	for _, c := range cells {
		for axis, value := range c.Axes {
			if release.MatchString(value) {
				found[axis] = true
			}
		}
	}
	for _, first := range []string{"apiserver", "kubelet"} {
		if found[first] {
			axes = append(axes, first)
			delete(found, first)
		}
	}
	return append(axes, slices.Sorted(maps.Keys(found))...)
}

// pair is what a cell is about: the axes that make lines and columns, and its
// releases on them.
type pair struct{ lineAxis, columnAxis, line, column string }

// String names the components with their releases; a release that both have, once.
func (p pair) String() string {
	if p.line != "" && p.line == p.column {
		return p.lineAxis + ", " + p.columnAxis + " " + p.line
	}
	var parts []string
	for _, part := range [][2]string{{p.lineAxis, p.line}, {p.columnAxis, p.column}} {
		if part[1] != "" {
			parts = append(parts, part[0]+" "+part[1])
		}
	}
	return cmp.Or(strings.Join(parts, "; "), fixedReleases)
}

// fixedReleases is said of cells that no release was chosen for: their scenarios name
// those of each component.
const fixedReleases = "releases fixed by the scenario"

// label is what stands beside a tile.
func (p pair) label() string {
	if p.line == "" && p.column == "" {
		return "fixed"
	}
	return p.String()
}

// pairOf returns a cell's pair. Kubernetes' control plane makes lines and its
// nodes columns, also where a cell has only one of them, so that they share a
// matrix. Any other component makes columns.
func pairOf(c reports.Cell, axes []string) pair {
	if c.Axes["apiserver"] != "" || c.Axes["kubelet"] != "" {
		return pair{"apiserver", "kubelet", c.Axes["apiserver"], c.Axes["kubelet"]}
	}
	var p pair
	for _, axis := range axes {
		switch value := c.Axes[axis]; {
		case value == "":
		case p.columnAxis == "":
			p.columnAxis, p.column = axis, value
		case p.lineAxis == "":
			p.lineAxis, p.line = axis, value
		}
	}
	return p
}

// columnOf is the axis that a cell's column is of, and its value there: what runs on
// nodes, where it has one.
func columnOf(c reports.Cell, axes []string) (axis, value string) {
	p := pairOf(c, axes)
	return p.columnAxis, p.column
}

// fewRows is how many rows of matrices are open, if no cell needs attention.
const fewRows = 30

// matrices puts every cell into a square. Titles are those of scenarios, by their ids.
func matrices(cells []reports.Cell, keps, titles map[string]string) (all []matrix) {
	axes := releaseAxes(cells)
	rows := 0
	for _, of := range reports.Grouped(cells, func(c reports.Cell) string { return c.KEP }) {
		m := newMatrix(of, axes, titles)
		m.KEP, m.Title = of[0].KEP, keps[of[0].KEP]
		rows += len(m.Rows)
		all = append(all, m)
	}
	for i := range all {
		all[i].Open = all[i].Open || rows <= fewRows
	}
	slices.SortFunc(all, func(a, b matrix) int { return cmp.Compare(a.KEP, b.KEP) })
	return all
}

// newMatrix is the matrix of a KEP's cells.
func newMatrix(cells []reports.Cell, axes []string, titles map[string]string) matrix {
	m := matrix{Tallies: talliesOf(cells)}
	columns, components := make(map[string]bool), make(map[string]bool)
	for _, c := range cells {
		axis, release := columnOf(c, axes)
		columns[release], components[axis] = true, true
		m.Open = m.Open || !c.Outcome.Expected()
	}
	delete(components, "")
	m.Columns, m.Of = byRelease(columns), strings.Join(slices.Sorted(maps.Keys(components)), " or ")
	for _, of := range reports.Grouped(cells, func(c reports.Cell) string { return cmp.Or(c.Scenario, c.ID) }) {
		r := row{ID: cmp.Or(of[0].Scenario, of[0].ID), Title: titles[of[0].Scenario], Link: cellLink(of[attentionFirst(of)[0]].ID)}
		for _, column := range m.Columns {
			there := slices.DeleteFunc(slices.Clone(of), func(c reports.Cell) bool {
				_, release := columnOf(c, axes)
				return release != column
			})
			r.Squares = append(r.Squares, newSquare(there, column, axes, filterLink("q", r.ID)))
		}
		m.Rows = append(m.Rows, r)
	}
	return m
}

func newSquare(cells []reports.Cell, release string, axes []string, link template.URL) square {
	s := square{Release: release, Link: link, More: max(0, len(cells)-maxTiles)}
	shownCells := cells
	if s.More > 0 {
		shownCells = nil
		for _, i := range attentionFirst(cells)[:maxTiles] {
			shownCells = append(shownCells, cells[i])
		}
	}
	for _, c := range shownCells {
		t := cellTile(c)
		t.Label = labelOf(c, axes)
		s.Tiles = append(s.Tiles, t)
	}
	return s
}

// labelOf is what its row and its column don't say of a cell: its other axes, without
// components of the same release.
func labelOf(c reports.Cell, axes []string) string {
	column, release := columnOf(c, axes)
	var parts []string
	for _, axis := range slices.Sorted(maps.Keys(c.Axes)) {
		if value := c.Axes[axis]; axis != column && value != release {
			parts = append(parts, axis+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// byRelease returns the keys from the oldest release to the newest, after those
// that are no releases.
func byRelease[V any](values map[string]V) []string {
	return slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(semver.Compare(a, b), cmp.Compare(a, b))
	})
}

func cellLink(id string) template.URL { return template.URL("#cell=" + escape(id)) }

// notChosen is what a link says of a component that the cells have no release of.
const notChosen = "any"

// cellsLink leads to the cells of a pair of which something has a value, and not to
// those that have a release more than the pair.
func (p pair) cellsLink(axes []string, name, value string) template.URL {
	of := map[string]string{p.lineAxis: p.line, p.columnAxis: p.column}
	pairs := []string{name, value}
	for _, axis := range axes {
		if release, has := of[axis]; has || p.columnAxis == "" {
			pairs = append(pairs, axis, cmp.Or(release, notChosen))
		}
	}
	return filterLink(pairs...)
}

// filterLink leads to the cells of which all of some names have the values that
// follow them. Empty values are left out.
func filterLink(pairs ...string) template.URL {
	var b strings.Builder
	b.WriteString("#cells")
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != "" && pairs[i+1] != "" {
			b.WriteString("&" + escape(pairs[i]) + "=" + escape(pairs[i+1]))
		}
	}
	return template.URL(b.String())
}

// escape escapes a value for the part of an address behind its #, and leaves what
// ids are made of readable.
func escape(s string) string {
	return readable.Replace(url.QueryEscape(s))
}

var readable = strings.NewReplacer("+", "%20", "%2F", "/", "%3A", ":", "%2C", ",", "%40", "@")
