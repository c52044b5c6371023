package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// table is what harness/release/release.go says of supported releases.
type table struct {
	newest, previous release.Version
	older            []release.Version
}

// pair are the releases that scenarios call newest and previous.
func (t table) pair() release.Releases {
	return release.Releases{Newest: t.newest, Previous: t.previous}
}

// quoted is a release in the table's Go file.
var quoted = regexp.MustCompile(`"(v[^"]+)"`)

// parseTable reads the table of its Go file.
func parseTable(source string) (t table, err error) {
	var found [][]release.Version
	for _, row := range rows {
		lines := row.line.FindAllString(source, -1)
		if len(lines) != 1 {
			return t, fmt.Errorf("%d lines match %s, not one", len(lines), row.line)
		}
		var all []release.Version
		for _, word := range quoted.FindAllStringSubmatch(lines[0], -1) {
			v, err := release.Parse(word[1])
			if err != nil {
				return t, err
			}
			all = append(all, v)
		}
		found = append(found, all)
	}
	if len(found[0]) != 1 || len(found[1]) != 1 {
		return t, errors.New("it does not name one newest and one previous release")
	}
	return table{newest: found[0][0], previous: found[1][0], older: found[2]}, nil
}

// move makes a release the newest one. If previous is empty, a patch release
// leaves it as it is, and a release of another minor version makes it what was
// newest before. Older are then all other minor versions that were there.
func (t table) move(newest, previous release.Version) (table, error) {
	if previous == "" {
		previous = t.previous
		if newest.MajorMinor() != t.newest.MajorMinor() {
			previous = t.newest
		}
	}
	if newest.Minor() <= previous.Minor() {
		return table{}, fmt.Errorf("%s is not of a later minor version than %s, the previous one", newest, previous)
	}
	moved := table{newest: newest, previous: previous}
	for _, v := range append([]release.Version{t.newest, t.previous}, t.older...) {
		if v.Minor() < previous.Minor() {
			moved.older = append(moved.older, v)
		}
	}
	slices.SortFunc(moved.older, func(v, w release.Version) int { return w.Compare(v) })
	return moved, nil
}

// rows are the lines of the table in its Go file.
var rows = []struct {
	line *regexp.Regexp
	text func(table) string
}{
	{regexp.MustCompile(`(?m)^\tNewest   Version = .*$`), func(t table) string { return fmt.Sprintf("\tNewest   Version = %q", t.newest) }},
	{regexp.MustCompile(`(?m)^\tPrevious Version = .*$`), func(t table) string { return fmt.Sprintf("\tPrevious Version = %q", t.previous) }},
	{regexp.MustCompile(`(?m)^var supported = .*$`), func(t table) string {
		words := []string{"Newest", "Previous"}
		for _, v := range t.older {
			words = append(words, fmt.Sprintf("%q", v))
		}
		return fmt.Sprintf("var supported = []Version{%s}", strings.Join(words, ", "))
	}},
}

// edit writes the table into the Go file that has another one.
func (t table) edit(source string) (string, error) {
	for _, row := range rows {
		if n := len(row.line.FindAllString(source, -1)); n != 1 {
			return "", fmt.Errorf("%d lines match %s, not one", n, row.line)
		}
		source = row.line.ReplaceAllLiteralString(source, row.text(t))
	}
	return source, nil
}
