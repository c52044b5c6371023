package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// subject returns what is different about what ran. The machine is not part of
// it, nor is the command: the same run may leave its report elsewhere.
func subject(from, to reports.Reproduce) []SubjectChange {
	before, after := forms(from), forms(to)
	names := maps.Clone(before)
	maps.Copy(names, after)
	changes := []SubjectChange{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		change := SubjectChange{name, without(before[name], after[name]), without(after[name], before[name])}
		if len(change.Before)+len(change.After) > 0 {
			changes = append(changes, change)
		}
	}
	return changes
}

// forms are the forms in which each component took part, and what ran them.
func forms(r reports.Reproduce) map[string][]string {
	all := map[string][]string{"skewrig": {r.Skewrig}, "go": {r.Go}, "seed": {fmt.Sprint(r.Seed)}}
	for _, c := range r.Components {
		all[c.Name] = append(all[c.Name], form(c))
	}
	return all
}

// form is a component in a line. What it was built from is added if that is not
// plain from the version: where the digest is not enough for a reader.
func form(c reports.Component) string {
	parts := []string{c.Version}
	if c.Source != "" && !strings.HasSuffix(c.Source, "@"+c.Version) {
		parts = append(parts, "from "+c.Source)
	}
	return strings.Join(append(parts, c.Digest), " ")
}
