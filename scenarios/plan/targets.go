package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Target is a program that cells need: a component, such as kubelet, as a
// release.
type Target struct {
	Component string
	Version   release.Version
	// OwnClock is true for a kubelet whose clock can be set.
	OwnClock bool
	// Unmodified is true for the kubelet of a node with real containers.
	Unmodified bool
	// Place is where the release is asked for first, as file:line:column. Empty
	// for a component that no file names a release of.
	Place string
}

// IsClient reports whether steps start the program, which is no component of a rig.
func (t Target) IsClient() bool {
	return t.Component == spec.TypedClient || t.Component == spec.Kubectl
}

// Targets returns every program that the cells run at some step, each once,
// sorted by component and version.
func Targets(cells []Cell) []Target {
	needed := make(map[Target]string) // to the place
	add := func(cell Cell, components []record.Component) {
		for _, c := range components {
			program := spec.Program(c.Name)
			if program == "" || c.Version == "" {
				continue
			}
			target := newTarget(cell, c)
			needed[target] = cmp.Or(needed[target], cell.Places[c.Version])
		}
	}
	for _, cell := range cells {
		if cell.Unfit != "" || Untestable(cell) != "" {
			continue
		}
		add(cell, cell.Runs())
		for _, step := range cell.Steps {
			for _, p := range step.Action.Facts().Starts {
				target := Target{Component: p.Name, Version: p.Version}
				needed[target] = cmp.Or(needed[target], cell.Places[p.Version])
			}
		}
		for _, i := range cell.Images {
			if i.HealthProbe != "" {
				target := Target{Component: spec.HealthProbe, Version: i.HealthProbe}
				needed[target] = cmp.Or(needed[target], cell.Places[i.HealthProbe])
			}
		}
	}
	targets := make([]Target, 0, len(needed))
	for target, place := range needed {
		target.Place = place
		targets = append(targets, target)
	}
	slices.SortFunc(targets, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), a.Version.Compare(b.Version), cmp.Compare(strconv.FormatBool(a.OwnClock), strconv.FormatBool(b.OwnClock)), cmp.Compare(strconv.FormatBool(a.Unmodified), strconv.FormatBool(b.Unmodified)))
	})
	return targets
}

// newTarget is the program that a component of a cell runs.
func newTarget(cell Cell, c record.Component) Target {
	node := nodeOf(cell.Topology, c.Name)
	return Target{Component: spec.Program(c.Name), Version: c.Version, OwnClock: node.OwnClock, Unmodified: node.Runtime != ""}
}

// FlagSet is a component with the flags that a cell gives it.
type FlagSet struct {
	Target
	Flags map[string]string
	// File is that of the scenario, and Places are where it gives the flags.
	File   string
	Places map[string]string
}

// Place is where the file gives the flag that a component names when it refuses it, or the file.
func (t FlagSet) Place(said string) string {
	longest := ""
	for name, place := range t.Places {
		if strings.Contains(said, "-"+name) && place != "" && len(name) > len(longest) {
			longest = name
		}
	}
	return cmp.Or(t.Places[longest], t.File)
}

// FlagSets returns each set of flags that the cells give a component at some step, once.
func FlagSets(cells []Cell) (all []FlagSet) {
	for _, cell := range cells {
		for _, c := range cell.Runs() {
			set := FlagSet{
				Target: newTarget(cell, c),
				Flags:  c.Flags, File: cell.File, Places: make(map[string]string),
			}
			for name := range c.Flags {
				set.Places[name] = cell.FlagPlaces[set.Component+" "+name]
			}
			known := slices.ContainsFunc(all, func(t FlagSet) bool { return t.Target == set.Target && maps.Equal(t.Flags, set.Flags) })
			if len(c.Flags) > 0 && !known {
				all = append(all, set)
			}
		}
	}
	return all
}

// Runs are the components of the cell as they are at first, and then once each step is done.
func (c Cell) Runs() []record.Component {
	all := initial(c.Topology)
	for _, step := range c.Steps {
		all = append(all, step.Components...)
	}
	return all
}

// Components are the names of what runs at some step of the cell, each once.
func (c Cell) Components() (names []string) {
	for _, component := range c.Runs() {
		if !slices.Contains(names, component.Name) {
			names = append(names, component.Name)
		}
	}
	return names
}

// places are where a scenario asks for each release, as file:line:column: the
// first place of each.
func places(f *spec.File, s spec.Scenario) map[release.Version]string {
	places := make(map[release.Version]string)
	add := func(version release.Version, field string) {
		v, err := spec.ResolveVersion(f.Releases, version)
		if at := f.Position(field); err == nil && places[v] == "" && at.Line > 0 {
			places[v] = fmt.Sprintf("%s:%d:%d", f.Path, at.Line, at.Column)
		}
	}
	add(s.Topology.ControlPlane.Version, "topology.controlPlane.version")
	s.Topology.ControlPlane.EachVersion(func(field string, v release.Version) { add(v, "topology."+field) })
	for i, n := range s.Topology.Nodes {
		add(n.Version, fmt.Sprintf("topology.nodes[%d].version", i))
	}
	for i, image := range s.Images {
		add(image.HealthProbe, fmt.Sprintf("images[%d].healthProbe", i))
	}
	if g := s.Topology.Garden; g != nil {
		add(g.Watchdog, "topology.garden.watchdog")
	}
	for i, step := range s.Steps {
		if asker, is := step.Action.(action.Asker); is {
			asked := asker.Asks()
			for _, field := range slices.Sorted(maps.Keys(asked)) {
				add(asked[field], fmt.Sprintf("steps[%d].%s%s", i, step.Kind, field))
			}
		}
	}
	return places
}

// flagPlaces are where a scenario gives flags, as file:line:column: the first place of each.
func flagPlaces(f *spec.File, s spec.Scenario) map[string]string {
	places := make(map[string]string)
	s.EachSettings(func(program string, settings spec.Settings, place func(string) string) {
		for name := range settings.Flags {
			if at := f.Position(place(fmt.Sprintf("flags[%q]", name))); places[program+" "+name] == "" && at.Line > 0 {
				places[program+" "+name] = fmt.Sprintf("%s:%d:%d", f.Path, at.Line, at.Column)
			}
		}
	})
	return places
}
