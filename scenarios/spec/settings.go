package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
)

// Settings are what a component is given beside its gates.
type Settings = record.Settings

// flagName is what the name of a flag is made of.
var flagName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// settings are what a program of the control plane is given.
func (c ControlPlane) settings(program string) Settings {
	s := Settings{Flags: c.Flags[program], Config: c.Config[program]}
	if Emulates(program) {
		s.EmulatedVersion, s.MinCompatibilityVersion = c.EmulatedVersion, c.MinCompatibilityVersion
	}
	return s
}

// configurable are the programs of a control plane that can have settings.
var configurable = program.Names(program.Store, program.Server, program.Controller)

// checkSettings reports settings of programs that a control plane does not have.
func (r *Rig) checkSettings(c ControlPlane) {
	check := func(field string, programs []string) {
		for _, program := range programs {
			at := fmt.Sprintf("controlPlane.%s[%q]", field, program)
			if !slices.Contains(configurable, program) {
				r.Conflict(at, "%s is no program of a control plane: %s", strict.Quote(program), strict.DidYouMean(program, configurable))
			}
		}
	}
	check("flags", slices.Sorted(maps.Keys(c.Flags)))
	check("config", slices.Sorted(maps.Keys(c.Config)))
	for _, program := range configurable {
		r.CheckSettings("controlPlane", fmt.Sprintf("[%q]", program), program, c.settings(program))
	}
}

// CheckSettings reports settings that a component of a program can't have, because the rig does
// so itself, or because it has no such thing. They are the fields flags and config of a field, each
// perhaps with a key.
func (r *Rig) CheckSettings(field, key, of string, s Settings) {
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		at := fmt.Sprintf("%s.flags%s[%q]", field, key, name)
		why, own := program.OwnFlag(name)
		switch {
		case strings.HasPrefix(name, "-"):
			r.Conflict(at, "a flag is written without hyphens: %s", strict.Quote(strings.TrimLeft(name, "-")))
		case !flagName.MatchString(name):
			r.Conflict(at, "%s can't name a flag", strict.Quote(name))
		case own:
			r.Conflict(at, "%s can't be set: %s", name, why)
		}
	}
	if s.Emulates() && !Emulates(of) {
		r.Conflict(field+".emulatedVersion", "%s can't emulate another version: %s can", of, strings.Join(emulating, ", "))
	}
	if len(s.Config) == 0 {
		return
	}
	at := field + ".config" + key
	if !slices.Contains(program.Configured(), of) {
		r.Conflict(at, "%s has no configuration file that a rig writes: %s have one", of, strings.Join(program.Configured(), " and "))
		return
	}
	if own, why := program.OwnConfig(of, s.Config); own != "" {
		r.Conflict(at, "%s can't be set: %s", own, why)
	}
}

// Setter is an action that gives a component settings.
type Setter interface {
	// Sets returns the component and its settings.
	Sets() (component string, s Settings)
}

// EachSettings calls do with all settings that the scenario gives: those of a program, and the place of each of
// their parts, as Outside.Path has it.
func (s Scenario) EachSettings(do func(program string, s Settings, place func(part string) string)) {
	each := func(at, program string, s Settings) {
		do(program, s, func(part string) string { return at + "." + part })
	}
	c := s.Topology.ControlPlane
	for _, program := range configurable {
		do(program, Settings{Flags: c.Flags[program], Config: c.Config[program]}, func(part string) string {
			field, within, _ := strings.Cut(part, "[")
			return fmt.Sprintf("topology.controlPlane.%s[%q][%s", field, program, within)
		})
	}
	for _, m := range c.members() {
		each("topology."+m.at, m.program, m.Settings)
	}
	for i, n := range s.Topology.Nodes {
		each(fmt.Sprintf("topology.nodes[%d]", i), kubelet, n.Settings)
	}
	for i, step := range s.Steps {
		if setter, is := step.Action.(Setter); is && !step.Skipped {
			component, settings := setter.Sets()
			each(fmt.Sprintf("steps[%d].%s", i, step.Kind), Program(component), settings)
		}
	}
}
