package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/reports/cellid"
)

// maxClose is how many ids an error names that may have been meant.
const maxClose = 3

// Match returns the cells that any of the patterns matches, in their own order;
// all of them if there are no patterns. A pattern is a glob over cell ids (see
// package cellid). One that matches nothing is an error, which names ids that
// may have been meant: a run of nothing must not look like a run without
// failures.
func Match(cells []Cell, patterns []string) ([]Cell, error) {
	if len(patterns) == 0 {
		return cells, nil
	}
	var problems []error
	chosen := make(map[string]bool)
	for _, text := range patterns {
		pattern, err := cellid.Compile(text)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		ids := matching(cells, pattern)
		if len(ids) == 0 {
			problems = append(problems, fmt.Errorf("pattern %q matches no cell%s", text, suggest(cells, text)))
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

func matching(cells []Cell, pattern cellid.Pattern) []string {
	var ids []string
	for _, c := range cells {
		if pattern.Match(c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// suggest ends an error with what may have been meant.
func suggest(cells []Cell, pattern string) string {
	if len(cells) == 0 {
		return ": there are none"
	}
	below := strings.TrimSuffix(pattern, "/") + "/**"
	if p, err := cellid.Compile(below); err == nil && len(matching(cells, p)) > 0 {
		return fmt.Sprintf(": did you mean %q?", below)
	}
	near := spelling.Closest(pattern, candidates(cells))
	if len(near) == 0 {
		near = nearest(cells, pattern)
	}
	return ": close to it are " + strings.Join(near[:min(len(near), maxClose)], ", ")
}

// candidates are the ids that a pattern may have been meant to be: those of
// cells, and patterns for all cells of a scenario.
func candidates(cells []Cell) []string {
	var all []string
	for _, c := range cells {
		all = append(all, c.ID)
		if c.ID != c.Scenario {
			all = append(all, c.Scenario+"/**")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nearest orders the ids by how much of their beginning they share with a
// pattern.
func nearest(cells []Cell, pattern string) []string {
	ids := make([]string, len(cells))
	for i, c := range cells {
		ids[i] = c.ID
	}
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
