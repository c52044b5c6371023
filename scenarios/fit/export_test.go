package fit

import (
	"slices"

	"github.com/skewrig/skewrig/scenarios/action"
)

// KnownAbility reports whether this package knows which clusters have an ability.
func KnownAbility(a action.Ability) bool {
	return a == action.NeedsNothing || a == action.NeedsObjects || others[a] != ""
}

// KnownVariable reports whether this package knows where what a variable has is recorded.
func KnownVariable(name string) bool {
	_, known := rigOnly[name]
	return known || name == "containers" || slices.Contains(recorded, name) || slices.Contains(ofSteps, name)
}
