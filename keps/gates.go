package keps

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// programs are the components that a rig runs.
var programs = []string{record.APIServer, record.ControllerManager, record.Scheduler, trial.Kubelet}

// Gates are the gates of proposals that a sweep of a release can try, sorted, each once.
func Gates(r gated.Release, all []KEP) []string {
	return gatesWhere(r, all, func(Gate, gated.Gate) bool { return true })
}

// Unlocked are those of them that can be turned off.
func Unlocked(r gated.Release, all []KEP) []string {
	return gatesWhere(r, all, func(_ Gate, has gated.Gate) bool { return !has.Locked })
}

// OfPods are those of them that say something of pods on a node: a pod has a field that they guard, or they are of the kubelet.
func OfPods(r gated.Release, all []KEP) []string {
	return gatesWhere(r, all, func(g Gate, has gated.Gate) bool {
		return slices.Contains(g.Components, trial.Kubelet) || slices.ContainsFunc(has.Fields, func(f gated.Field) bool {
			return slices.ContainsFunc(f.Places, func(p gated.Place) bool { return p.Kind == "Pod" })
		})
	})
}

func gatesWhere(r gated.Release, all []KEP, wanted func(Gate, gated.Gate) bool) []string {
	names := make(map[string]bool)
	for _, k := range all {
		for _, g := range k.Gates {
			if has, _ := gateOf(r, g.Name); whyNot(r, g) == "" && wanted(g, has) {
				names[g.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Places are where gates of proposals change, as trial.Places has them: where their components are. If one has no components, it is
// nil, which is all.
func Places(r gated.Release, all []KEP) (names []string) {
	components := make(map[string]bool)
	for _, k := range all {
		for _, g := range k.Gates {
			if whyNot(r, g) != "" {
				continue
			}
			if len(g.Components) == 0 {
				return nil
			}
			for _, c := range runs(g) {
				components[c] = true
			}
		}
	}
	for _, place := range trial.Places() {
		emulates := place == trial.Emulation && components[record.APIServer]
		if place == trial.Everywhere || emulates || components[record.Program(place)] {
			names = append(names, place)
		}
	}
	return names
}

// whyNot says why a sweep can't try a gate. It is empty if it can.
func whyNot(r gated.Release, g Gate) string {
	_, is := gateOf(r, g.Name)
	switch {
	case len(g.Components) > 0 && len(runs(g)) == 0:
		return fmt.Sprintf("a rig does not run %s, which %s is of", strings.Join(g.Components, ", "), g.Name)
	case !is:
		return fmt.Sprintf("%s has no gate %s", r.Version, g.Name)
	default:
		return ""
	}
}

// gateOf is a gate as a release has it.
func gateOf(r gated.Release, name string) (g gated.Gate, is bool) {
	n := slices.IndexFunc(r.Gates, func(has gated.Gate) bool { return has.Name == name })
	if n < 0 {
		return g, false
	}
	return r.Gates[n], true
}

// runs are the components of a gate that a rig runs. If the proposal names none, there are none.
func runs(g Gate) []string {
	return slices.DeleteFunc(slices.Clone(g.Components), func(c string) bool { return !slices.Contains(programs, c) })
}

// concerns reports whether a change is about a gate: at a component of it. If the proposal names none, each is.
func concerns(g Gate, t trial.Transition) bool {
	return len(g.Components) == 0 || slices.ContainsFunc(runs(g), t.Has)
}
