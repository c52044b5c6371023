package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// Target is a program that cells need: a component, such as kubelet, as a
// release.
type Target struct {
	Component string
	Version   release.Version
}

// Targets returns every program that the cells run at some step, each once,
// sorted by component and version.
func Targets(cells []Cell) []Target {
	needed := make(map[Target]bool)
	add := func(components []Component) {
		for _, c := range components {
			kind, _, _ := strings.Cut(c.Name, "/")
			needed[Target{Component: kind, Version: c.Version}] = true
		}
	}
	for _, cell := range cells {
		add(initial(cell.Topology))
		for _, step := range cell.Steps {
			add(step.Components)
		}
	}
	targets := make([]Target, 0, len(needed))
	for target := range needed {
		targets = append(targets, target)
	}
	slices.SortFunc(targets, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), a.Version.Compare(b.Version))
	})
	return targets
}
