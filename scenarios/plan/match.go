package plan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/reports/cellid"
)

// maxClose is how many ids an error names that may have been meant.
const maxClose = 3

// Match returns the cells that any of the patterns chooses, in their own order;
// all of them if there are no patterns. A pattern is a glob over cell ids, or the
// beginning of some (see cellid.Choose). One that matches nothing is an error, which
// names ids that may have been meant, or the areas that there are: a run of nothing must
// not look like a run without failures.
func Match(cells []Cell, patterns []string) ([]Cell, error) {
	if len(patterns) == 0 {
		return cells, nil
	}
	all := make([]string, len(cells))
	for i, c := range cells {
		all[i] = c.ID
	}
	var problems []error
	chosen := make(map[string]bool)
	for _, text := range patterns {
		ids, err := cellid.Choose(all, text)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if len(ids) == 0 {
			problems = append(problems, fmt.Errorf("pattern %q matches no cell%s", text, suggest(cells, all, text)))
		}
		for _, id := range ids {
			chosen[id] = true
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return !chosen[c.ID] }), nil
}

// WithPartners returns cells and those of all others with which they are compared.
func WithPartners(cells, all []Cell) []Cell {
	there := make(map[string]bool)
	for _, c := range cells {
		there[c.ID] = true
	}
	whole := slices.Clone(cells)
	for _, c := range cells {
		i := slices.IndexFunc(all, func(other Cell) bool { return other.ID == c.With })
		if c.With != "" && !there[c.With] && i >= 0 {
			there[c.With] = true
			whole = append(whole, all[i])
		}
	}
	return whole
}

// suggest ends an error with what may have been meant, and with the areas that there are
// if the pattern begins with none of them.
func suggest(cells []Cell, ids []string, pattern string) string {
	if len(cells) == 0 {
		return ": there are none"
	}
	var said []string
	near, isArea := closest(cells, ids, strings.ToLower(pattern))
	if len(near) > 0 {
		said = append(said, "close to it are "+strings.Join(near[:min(len(near), maxClose)], ", "))
	}
	if !isArea {
		said = append(said, "the areas are "+strings.Join(areas(ids), ", "))
	}
	return ": " + strings.Join(said, "; ")
}

// closest are what a pattern may have been meant for, and whether it begins with an area:
// of the cells below the longest beginning of the pattern that has any, or of all. A
// number stands for the areas or groups that it is part of.
func closest(cells []Cell, ids []string, pattern string) (near []string, isArea bool) {
	for begin := pattern; begin != ""; begin = begin[:max(0, strings.LastIndexByte(begin, '/'))] {
		within, err := cellid.Choose(ids, begin)
		switch {
		case err != nil || len(within) == 0:
			continue
		case begin == pattern: // but for its case
			return []string{pattern}, true
		}
		below := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return !slices.Contains(within, c.ID) })
		names := slices.DeleteFunc(candidates(below), func(name string) bool { return !strings.HasPrefix(name, begin) })
		if near = spelling.Closest(pattern, names); len(near) == 0 {
			near = nearest(within, pattern)
		}
		return near, true
	}
	if isNumber.MatchString(pattern) {
		for _, id := range ids {
			if at := strings.Index(id, pattern); at >= 0 {
				end := at + strings.IndexByte(id[at:]+"/", '/')
				near = append(near, id[:end])
			}
		}
		slices.Sort(near)
		return slices.Compact(near), false
	}
	if near = spelling.Closest(pattern, candidates(cells)); len(near) == 0 {
		near = containing(candidates(cells), pattern)
	}
	return near, false
}

// containing are the names that have a word in them, the shortest first. A word of one or two letters is in too many.
func containing(names []string, pattern string) []string {
	word := strings.Trim(pattern, "*/")
	if len(word) < 3 {
		return nil
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.Contains(strings.ToLower(name), word) })
	slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) })
	return names
}

// isNumber matches the number of a KEP or an issue.
var isNumber = regexp.MustCompile(`^[0-9]{4,}$`)

// areas are what ids begin with, each once.
func areas(ids []string) (all []string) {
	for _, id := range ids {
		area, _, _ := strings.Cut(id, "/")
		all = append(all, area)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// candidates are the ids that a pattern may have been meant to be: those of
// cells, patterns for all cells of a scenario, and areas and groups.
func candidates(cells []Cell) []string {
	var all []string
	for _, c := range cells {
		area, _, _ := strings.Cut(c.ID, "/")
		group, _ := cellid.Split(c.ID)
		all = append(all, c.ID, area, group)
		if c.ID != c.Scenario {
			all = append(all, c.Scenario+"/**")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nearest orders ids by how much of their beginning they share with a pattern.
func nearest(ids []string, pattern string) []string {
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return shared(b, pattern) - shared(a, pattern) })
	return ids
}

func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
