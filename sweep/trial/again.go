package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// Command is the beginning of a command that sweeps a release, or a checkout, of which a result has no directory.
func Command(v release.Version) string {
	if v.IsSource() {
		return "skewrig sweep --source DIR"
	}
	return "skewrig sweep " + string(v)
}

// Again is the command that sweeps the same. How many random plans follow is not in it: that depends on how long they take.
func (s Result) Again() string {
	command := fmt.Sprintf("%s --seed %d", Command(s.Version), s.Seed)
	add := func(flag string, values ...string) {
		if len(values) > 0 {
			command += " " + flag + " " + strings.Join(values, ",")
		}
	}
	if s.To != "" {
		add("--to", string(s.To))
	}
	add("--at", s.at()...)
	add("--gates", s.asked()...)
	add("--kinds", s.Kinds...)
	return command
}

// at are the places that change. If unset, all do.
func (s Result) at() (names []string) {
	if len(s.Transitions) == len(Transitions(nil, s.Version, s.To)) {
		return nil
	}
	for _, name := range Places() {
		for _, transition := range Transitions([]string{name}, s.Version, s.To) {
			if slices.ContainsFunc(s.Transitions, func(t Transition) bool { return t.String() == transition.String() }) {
				names = append(names, name)
			}
		}
	}
	return names
}

// asked are the gates that guard a field which was tried or could not be reached, and those that were asked for. Others are on
// because these need them.
func (s Result) asked() []string {
	return slices.DeleteFunc(slices.Clone(s.Gates), func(gate string) bool {
		return !slices.Contains(s.Bare, gate) && !slices.ContainsFunc(s.Tried, func(t Tally) bool { return t.Gate == gate }) &&
			!slices.ContainsFunc(s.Reached, func(r Coverage) bool { return slices.Contains(r.Gates, gate) })
	})
}
