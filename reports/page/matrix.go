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

// matrix is cells by the releases that they are about: a line for each release of
// one component, a column for each of another.
type matrix struct {
	// Line and Column name the components. Each may be empty: cells of one release,
	// or of those that their scenarios fix.
	Line, Column string
	Columns      []string
	Areas        []area
}

// area is the lines of a KEP.
type area struct {
	KEP   string
	Lines []line
}

type line struct {
	Release string
	Squares []square
}

// heading is what stands where a matrix has releases, and isn't one.
type heading struct{ Word, Meaning string }

var headings = map[string]heading{
	"":          {"any", "the scenario chooses no release of this component"},
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
			used[column] = used[column] || m.Column != ""
		}
		for _, a := range m.Areas {
			for _, l := range a.Lines {
				used[l.Release] = used[l.Release] || m.Line != ""
			}
		}
	}
	for _, release := range slices.Sorted(maps.Keys(headings)) {
		if used[release] {
			found = append(found, headings[release])
		}
	}
	return found
}

// square is the cells of a pair of releases.
type square struct {
	Tiles []tile
	// More is how many there are beyond the tiles, and Link leads to all of them.
	More int
	Link template.URL
}

// tile is a cell, or a group of cells, as one letter.
type tile struct {
	outcome
	// Title is what the letter stands for, in words.
	Title string
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

// String names the components with their releases.
func (p pair) String() string {
	var parts []string
	for _, part := range [][2]string{{p.lineAxis, p.line}, {p.columnAxis, p.column}} {
		if part[1] != "" {
			parts = append(parts, part[0]+" "+part[1])
		}
	}
	return cmp.Or(strings.Join(parts, ", "), fixedReleases)
}

// fixedReleases is said of cells that no release was chosen for: their scenarios name
// those of each component.
const fixedReleases = "releases fixed by the scenario"

// label is what stands beside a tile. Of two releases it need not name the components
// if all pairs of the page are of the same, which the page names above them.
func (p pair) label(alike bool) string {
	switch {
	case p.line == "" && p.column == "":
		return "fixed"
	case p.line == "" || p.column == "":
		return p.String()
	case alike:
		return p.line + " × " + p.column
	}
	return p.lineAxis + " " + p.line + " × " + p.columnAxis + " " + p.column
}

// pairsOf are the components that cells have pairs of releases of.
func pairsOf(cells []reports.Cell) (all []string) {
	axes := releaseAxes(cells)
	for _, c := range cells {
		p := pairOf(c, axes)
		kind := p.lineAxis + " × " + p.columnAxis
		if p.line != "" && p.column != "" && !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
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

// matrices puts every cell into a square.
func matrices(cells []reports.Cell) (all []matrix) {
	axes := releaseAxes(cells)
	groups := reports.Grouped(cells, func(c reports.Cell) [2]string {
		p := pairOf(c, axes)
		return [2]string{p.lineAxis, p.columnAxis}
	})
	// Those with lines as well as columns come first.
	slices.SortStableFunc(groups, func(a, b []reports.Cell) int {
		return cmp.Compare(pairOf(b[0], axes).lineAxis, pairOf(a[0], axes).lineAxis)
	})
	for _, of := range groups {
		all = append(all, newMatrix(of, axes))
	}
	return all
}

// newMatrix is the matrix of cells whose pairs are of the same components.
func newMatrix(cells []reports.Cell, axes []string) matrix {
	of := pairOf(cells[0], axes)
	m := matrix{Line: of.lineAxis, Column: of.columnAxis}
	columns := make(map[string]bool)
	for _, c := range cells {
		columns[pairOf(c, axes).column] = true
	}
	m.Columns = byRelease(columns)
	for _, ofKEP := range reports.Grouped(cells, func(c reports.Cell) string { return c.KEP }) {
		a := area{KEP: ofKEP[0].KEP}
		lines, squares := make(map[string]bool), make(map[pair][]reports.Cell)
		for _, c := range ofKEP {
			p := pairOf(c, axes)
			lines[p.line] = true
			squares[p] = append(squares[p], c)
		}
		for _, l := range byRelease(lines) {
			row := line{Release: l}
			for _, column := range m.Columns {
				p := pair{of.lineAxis, of.columnAxis, l, column}
				row.Squares = append(row.Squares, newSquare(squares[p], p.cellsLink(axes, "kep", a.KEP)))
			}
			a.Lines = append(a.Lines, row)
		}
		m.Areas = append(m.Areas, a)
	}
	slices.SortFunc(m.Areas, func(a, b area) int { return cmp.Compare(a.KEP, b.KEP) })
	return m
}

func newSquare(cells []reports.Cell, link template.URL) square {
	s := square{Link: link}
	shownCells := cells
	if len(cells) > maxTiles {
		shownCells = nil
		for _, i := range attentionFirst(cells)[:maxTiles] {
			shownCells = append(shownCells, cells[i])
		}
		s.More = len(cells) - maxTiles
	}
	for _, c := range shownCells {
		s.Tiles = append(s.Tiles, cellTile(c))
	}
	return s
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
