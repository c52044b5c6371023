package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gates are feature gates that are set, by name. A gate that is not among them
// has the default of its release.
type Gates map[string]bool

// With returns the gates with others set on top of them, and some unset. The
// gates themselves stay as they are.
func (g Gates) With(set Gates, unset ...string) Gates {
	after := make(Gates, len(g)+len(set))
	maps.Copy(after, g)
	for _, name := range unset {
		delete(after, name)
	}
	maps.Copy(after, set)
	return after
}

// Clone returns a copy.
func (g Gates) Clone() Gates { return maps.Clone(g) }

// Names returns the names of the gates, sorted.
func (g Gates) Names() []string { return slices.Sorted(maps.Keys(g)) }

// Setting is what a gate is set to: true, false or unset.
func (g Gates) Setting(name string) string {
	if value, set := g[name]; set {
		return fmt.Sprint(value)
	}
	return "unset"
}

// String lists the gates, sorted by name: A=true, B=false.
func (g Gates) String() string { return g.join(", ") }

// Flag is the value of the flag --feature-gates: A=true,B=false.
func (g Gates) Flag() string { return g.join(",") }

func (g Gates) join(separator string) string {
	items := g.Names()
	for i, name := range items {
		items[i] = name + "=" + g.Setting(name)
	}
	return strings.Join(items, separator)
}
