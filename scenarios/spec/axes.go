package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
)

// ResolveVersion returns the release that a version of the language stands for:
// the newest one if there is none, otherwise as Releases.Resolve does.
func ResolveVersion(releases release.Releases, version release.Version) (release.Version, error) {
	if version == "" {
		newest, _ := releases.Pair()
		return newest, nil
	}
	return releases.Resolve(string(version))
}

const (
	// maxCombinations bounds the cells of a scenario.
	maxCombinations = 256
	// maxPart bounds the length of each part of an id, in bytes.
	maxPart = 100
)

var (
	axisName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)
	// axisValue holds what a segment of a cell's id may hold.
	axisValue = regexp.MustCompile(`^[a-zA-Z0-9_.,:+=@~-]+$`)
)

// checkAxes reports what is wrong with the axes.
func (v *validator) checkAxes() {
	for _, name := range slices.Sorted(maps.Keys(v.scenario.Axes)) {
		at := fmt.Sprintf("axes[%q]", name)
		if !axisName.MatchString(name) || len(name) > maxPart {
			v.Note(at, "%s can't name an axis: use letters, digits, - and _, beginning with a letter", strict.Quote(name))
		}
		values := v.scenario.Axes[name]
		v.Refuse(at, len(values) == 0, "the axis has no values")
		for i, value := range values {
			v.Refuse(fmt.Sprintf("%s[%d]", at, i), !axisValue.MatchString(value) || len(value) > maxPart,
				"%s can't be part of a cell's id: use letters, digits and any of - _ . , : + = @ ~", strict.Quote(value))
		}
	}
	if n := countCombinations(v.scenario.Axes); n > maxCombinations {
		v.Note("axes", "too many cells: the axes must give at most %d; use fewer values, or "+several, maxCombinations)
	}
}

func countCombinations(axes map[string][]string) int {
	n := 1
	for _, values := range axes {
		n *= max(len(values), 1)
		if n > maxCombinations {
			break
		}
	}
	return n
}

// combine returns every combination of the axes' values: axes in the order of
// their names, the last one changing fastest, values in the order in which they
// are written. What stands for a release is resolved, and what is the same then
// is there once. An axis without a value has the empty one. Of more combinations
// than a scenario may have, there is only the first.
func combine(releases release.Releases, axes map[string][]string) []map[string]string {
	tooMany := countCombinations(axes) > maxCombinations
	combinations := []map[string]string{{}}
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		var longer []map[string]string
		values := resolveValues(releases, axes[name])
		if tooMany {
			values = values[:1]
		}
		for _, c := range combinations {
			for _, value := range values {
				with := maps.Clone(c)
				with[name] = value
				longer = append(longer, with)
			}
		}
		combinations = longer
	}
	return combinations
}

func resolveValues(releases release.Releases, values []string) []string {
	var resolved []string
	for _, value := range values {
		if len(value) > maxPart {
			value = "" // it can't be one
		}
		if v, err := releases.Resolve(value); err == nil {
			value = string(v)
		}
		if !slices.Contains(resolved, value) {
			resolved = append(resolved, value)
		}
	}
	if len(resolved) == 0 {
		return []string{""}
	}
	return resolved
}
